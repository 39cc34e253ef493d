package api

import (
	"encoding/json"
	"time"
)

// Application is what a list says of an Argo CD Application in an agent's cluster.
type Application struct {
	ID          string            `json:"id" doc:"<agent>/<namespace>/<name>" example:"account.prod/argocd/shop"`
	Agent       string            `json:"agent" doc:"Id of the agent" example:"account.prod"`
	Namespace   string            `json:"namespace" doc:"Namespace of the Application" example:"argocd"`
	Name        string            `json:"name" doc:"Name of the Application" example:"shop"`
	Scope       Scope             `json:"scope" doc:"Scope of the application" example:"project.acme.shop"`
	ArgoProject string            `json:"argoProject" doc:"Argo project" example:"default"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Labels of the Application"`
	Sync        string            `json:"sync" doc:"Synced, OutOfSync, Unknown" example:"Synced"`
	Health      string            `json:"health" doc:"Healthy, Progressing, Degraded, Suspended, Missing, Unknown" example:"Healthy"`
	// Phase is that of the last or running operation; "" where there was none.
	Phase       string     `json:"phase,omitempty" doc:"Running, Succeeded, Failed, Error, Terminating" example:"Succeeded"`
	Message     string     `json:"message,omitempty" doc:"Message of the last operation"`
	Revision    string     `json:"revision,omitempty" doc:"Compared revision"`
	RepoURL     string     `json:"repoURL,omitempty" doc:"Repository of the first source"`
	Path        string     `json:"path,omitempty" doc:"Path or chart of the first source"`
	Destination string     `json:"destination,omitempty" doc:"Cluster and namespace that it deploys to"`
	AutoSync    bool       `json:"autoSync,omitempty" doc:"Auto-sync is on"`
	Conditions  []string   `json:"conditions,omitempty" doc:"Types of its conditions"`
	FinishedAt  *time.Time `json:"finishedAt,omitempty" doc:"Time at which the last operation ended"`
	UpdatedAt   time.Time  `json:"updatedAt,omitzero" doc:"Time of the last report to the server"`
	StaleSince  time.Time  `json:"staleSince,omitzero" doc:"Time since when the agent no longer reports it"`
	Age
	// Service and Environment are ids; "" for none.
	Service     string `json:"service,omitempty" doc:"Id of the service that it runs" example:"org.acme.checkout"`
	Environment string `json:"environment,omitempty" doc:"Id of the environment that it belongs to" example:"org.acme.production"`
	// Held says that a sync waits for a person, a window or a date.
	Held bool `json:"held,omitempty" doc:"Its sync is held; the conditions state the reason"`
	// DriftSince is when the server learned first that it is out of sync; zero while it is not.
	DriftSince time.Time `json:"driftSince,omitzero" doc:"Time since when it is out of sync, as far as the server knows"`
	Version    string    `json:"version,omitempty" doc:"Version that runs: tag of the image, version of the chart, or commit" example:"1.4.2"`
}

// ApplicationDetail is an Application with the whole resource.
type ApplicationDetail struct {
	Application
	// Resource is as the cluster holds it, unknown fields included; its metadata.resourceVersion is the version of it.
	Resource json.RawMessage `json:"resource" doc:"The resource as the cluster holds it"`
	// Unsupported are the commands that the agent does not carry out, such as beside an Argo CD.
	Unsupported []AgentLack `json:"unsupported,omitempty" doc:"Commands that the agent of the application does not support, and the alternatives; the server refuses them"`
}

// ApplicationFilter says which applications are wanted.
type ApplicationFilter struct {
	ItemFilter
	Sync   []string
	Health []string
	// Namespace of the Application; "" for all.
	Namespace string
	// RepoURL is that of a source; "" for all.
	RepoURL string
	// Destination cluster, by name or server; "" for all.
	Destination string
	// Service and Environment are ids; "" for all.
	Service     string
	Environment string
}

// ObjectWrite is a resource to make or to change. It is written as it is, unknown fields included.
type ObjectWrite struct {
	Resource json.RawMessage `json:"resource" doc:"The complete resource; with metadata.resourceVersion, the server refuses it with 409 if the resource in the cluster has changed"`
	// Base is the resource as it was read: what is in it and not in Resource is removed. Without it nothing is removed,
	// unless Resource has the resourceVersion that the server's copy has: that is the base then.
	Base json.RawMessage `json:"base,omitempty" doc:"The resource as read before the change: fields in base that are missing in resource are removed; fields in neither stay"`
	// Upsert makes a POST replace what is there.
	Upsert bool   `json:"upsert,omitempty" doc:"Update it if it exists"`
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Reason, for the audit log" example:"new shop"`
}

// Target names an application in a bulk operation.
type Target struct {
	Agent     string `json:"agent" maxLength:"210" doc:"Id of the agent" example:"account.prod"`
	Namespace string `json:"namespace" maxLength:"63" doc:"Namespace of the Application" example:"argocd"`
	Name      string `json:"name" maxLength:"253" doc:"Name of the Application" example:"shop"`
}

// BulkOutcome is what came of one target of a bulk operation.
type BulkOutcome struct {
	Target Target `json:"target" doc:"The application"`
	// Command is the id of the command; "" where it was refused.
	Command string `json:"command,omitempty" doc:"Id of the command"`
	Status  string `json:"status" doc:"Status of the command, or refused" example:"done"`
	Message string `json:"message,omitempty" doc:"Result, or the reason for the refusal"`
}

// BulkResult is what came of a bulk operation.
type BulkResult struct {
	Outcomes []BulkOutcome `json:"outcomes" doc:"One for each target, in order"`
}
