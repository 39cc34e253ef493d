package api

import (
	"encoding/json"
	"time"
)

// Types of events. A noun, a dot, and what happened to it.
const (
	// EventReset informs a reader that events between its last and the next were lost: read again what is shown.
	EventReset = "reset"
	// EventChanged and EventDeleted follow the type of the object: "application.changed".
	EventChanged = "changed"
	EventDeleted = "deleted"
	// EventAway and EventBack follow "agent": what is known of its applications is old from then on, or new again. Every
	// user who sees the agent, or one of its applications, sees them.
	EventAway = "away"
	EventBack = "back"
)

// Event says that something changed. It carries enough to patch a list, never secrets.
type Event struct {
	// ID orders events; give the last one as Last-Event-ID to read on.
	ID   string    `json:"id" doc:"Position in the stream, for Last-Event-ID"`
	Type string    `json:"type" doc:"Type of the event" example:"application.changed"`
	At   time.Time `json:"at" doc:"Time"`
	// Object is what it happened to; its scope decides which users may see the event.
	Object Ref               `json:"object" doc:"Object of the event"`
	Labels map[string]string `json:"labels,omitempty" doc:"Labels of the object, on which permissions can depend"`
	// Data is what a list says of the object; missing where it was deleted or is too large.
	Data json.RawMessage `json:"data,omitempty" doc:"The object as in a list"`
	// Traceparent is the trace in which it happened (W3C Trace Context); missing where there is none.
	Traceparent string `json:"traceparent,omitempty" doc:"Trace of the event" example:"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`
}

// Overview counts what the reader may see.
type Overview struct {
	Agents       map[string]int64 `json:"agents" doc:"Agents by state"`
	Applications int64            `json:"applications" doc:"All applications"`
	Sync         map[string]int64 `json:"sync" doc:"Applications by sync status"`
	Health       map[string]int64 `json:"health" doc:"Applications by health"`
	Clusters     int64            `json:"clusters" doc:"Clusters"`
	Repositories int64            `json:"repositories" doc:"Repositories"`
}

// ServerInfo is what a server reports about itself.
type ServerInfo struct {
	Version   string `json:"version" doc:"Version of the server"`
	PublicURL string `json:"publicURL" doc:"Public URL of the server" example:"https://slipway.example.org"`
	// Hosts says whether the server can run agents beside itself.
	Hosts bool `json:"hosts" doc:"The server can run agents for clusters that its operator offers"`
	// Demo says that the applications are those of `slipway up`, so that pages can offer a tour of them.
	Demo bool `json:"demo,omitempty" doc:"The server runs the demo of slipway up, and the pages offer a tour"`
	// Badges says that applications have badges.
	Badges bool `json:"badges,omitempty" doc:"Applications have badges, which need no session"`
	// Banner is the notice of the settings; nil for none.
	Banner *Banner `json:"banner,omitempty" doc:"Notice at the top of every page"`
}
