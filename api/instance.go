package api

import "time"

// KindInstances is the kind of items that say which pods an Application has: one for each Application that has some, with
// its namespace and name.
const KindInstances = "instances"

// Instance is a pod of an Application.
type Instance struct {
	Namespace string    `json:"namespace" doc:"Namespace of the pod" example:"shop"`
	Pod       string    `json:"pod" doc:"Name of the pod" example:"checkout-7d9f-x2x"`
	Ready     bool      `json:"ready" doc:"The pod is ready"`
	Phase     string    `json:"phase,omitempty" doc:"Pending, Running, Succeeded, Failed or Unknown" example:"Running"`
	Images    []string  `json:"images,omitempty" doc:"Images of its containers"`
	Node      string    `json:"node,omitempty" doc:"Node"`
	StartedAt time.Time `json:"startedAt,omitzero" doc:"Time of its start"`
	// Owner is the object of the Application that it belongs to, "Deployment/checkout".
	Owner string `json:"owner,omitempty" doc:"Object of the application that owns the pod" example:"Deployment/checkout"`
}

// Instances are the pods of an Application, as its agent sees them now.
type Instances struct {
	Application string `json:"application" doc:"<agent>/<namespace>/<name>" example:"account.prod/argocd/checkout"`
	Scope       Scope  `json:"scope" doc:"Scope of the application"`
	Service     string `json:"service,omitempty" doc:"Id of its service" example:"org.acme.checkout"`
	Environment string `json:"environment,omitempty" doc:"Id of its environment" example:"org.acme.production"`
	Ready       int64  `json:"ready" doc:"Number of ready pods"`
	Total       int64  `json:"total" doc:"Number of pods, including those that are not listed"`
	// Instances are at most 1,000; Total counts all.
	Instances []Instance `json:"instances" doc:"The pods, at most 1,000"`
	UpdatedAt time.Time  `json:"updatedAt,omitzero" doc:"Time of the last report to the server"`
	// StaleSince is set when the agent does not report them any more, or is away.
	StaleSince time.Time `json:"staleSince,omitzero" doc:"Time of the last information: the agent no longer reports them, or is away"`
}

// InstanceFilter says of which Applications instances are wanted.
type InstanceFilter struct {
	ItemFilter
	// Service and Environment are ids; "" for all.
	Service     string
	Environment string
	// Application is an id; "" for all.
	Application string
	// Unready keeps those of which not all pods are ready.
	Unready bool
}
