package api

import (
	"encoding/json"
	"strings"
	"time"
)

// Kinds of items: what an agent's cluster holds and the server keeps a copy of, without secrets.
const (
	KindApplication    = "application"
	KindApplicationSet = "applicationset"
	KindArgoProject    = "argoproject"
	KindRepository     = "repository"
	KindRepoCreds      = "repocreds"
	KindCluster        = "cluster"
	KindCertificate    = "certificate"
	KindGPGKey         = "gpgkey"
)

// Item is the server's copy of something in an agent's cluster. The cluster is right where they differ.
type Item struct {
	// Agent is the agent's id.
	Agent     string `json:"agent" doc:"Id of the agent" example:"account.prod"`
	AgentUID  string `json:"-"`
	Kind      string `json:"kind" doc:"Kind of the item" example:"repository"`
	Namespace string `json:"namespace" doc:"Namespace in the agent's cluster" example:"argocd"`
	Name      string `json:"name" doc:"Name in the agent's cluster" example:"shop"`
	// Scope follows from the mapping of the item's Argo project, else from the agent.
	Scope       Scope             `json:"scope" doc:"Scope: the project to which its Argo project is mapped, otherwise the agent's scope"`
	ArgoProject string            `json:"argoProject,omitempty" doc:"Argo project" example:"default"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Labels of the resource"`
	// Resource is the whole of it, without secrets, fields unknown to this version included.
	Resource json.RawMessage `json:"resource,omitempty" doc:"The resource as the cluster holds it, without secrets"`
	// Hash is of the resource, for the agent's inventory.
	Hash      string    `json:"hash,omitempty" doc:"Hash of the resource"`
	UpdatedAt time.Time `json:"updatedAt,omitzero" doc:"Time of the last report to the server"`
	// StaleSince is set when the agent stopped reporting it in a way that could be a mistake.
	StaleSince time.Time `json:"staleSince,omitzero" doc:"Time since when the agent no longer reports it"`
	Age
}

// Age says how old the server's copy of something is that an agent reports. All of it is missing from a copy that is live.
type Age struct {
	Stale bool `json:"stale,omitempty" doc:"The copy may be out of date: the agent is away, or it no longer reports this"`
	// AsOf is the time of the last word: the agent's last heartbeat, or since when it no longer reports this.
	AsOf      time.Time `json:"asOf,omitzero" doc:"Time of a stale copy: the agent's last heartbeat, or the time since when the agent no longer reports this"`
	AgentAway bool      `json:"agentAway,omitempty" doc:"The agent is away: the server has received no heartbeat for 25 s, or the agent was revoked"`
}

// ID is what rights and the audit name the item by: "<agent>/<namespace>/<name>".
func (i *Item) ID() string { return ItemID(i.Agent, i.Namespace, i.Name) }

// ItemID is the identifier of an item: "<agent>/<namespace>/<name>".
func ItemID(agent, namespace, name string) string { return agent + "/" + namespace + "/" + name }

// ParseItemID takes the identifier of an item apart.
func ParseItemID(id string) (agent, namespace, name string, err error) {
	agent, rest, ok := strings.Cut(id, "/")
	namespace, name, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", "", Errorf(CodeInvalid, `read id %.200q: write "<agent>/<namespace>/<name>"`, id)
	}
	if _, _, err := ParseID(agent); err != nil {
		return "", "", "", Errorf(CodeInvalid, "%s", err)
	}
	return agent, namespace, name, nil
}

// ItemFilter says which items of one kind are wanted.
type ItemFilter struct {
	ListOptions
	// Agent is an id; "" for all.
	Agent string
	// ArgoProject is a name; "" for all.
	ArgoProject string
	// Stale keeps only items whose copy may be out of date.
	Stale bool
}
