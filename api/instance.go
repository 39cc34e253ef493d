package api

import "time"

// KindInstances is the kind of items that say which pods an Application has: one for each Application that has some, with
// its namespace and name.
const KindInstances = "instances"

// Instance is a pod of an Application.
type Instance struct {
	Namespace string    `json:"namespace" doc:"Namespace of the pod" example:"shop"`
	Pod       string    `json:"pod" doc:"Name of the pod" example:"checkout-7d9f-x2x"`
	Ready     bool      `json:"ready" doc:"It is ready"`
	Phase     string    `json:"phase,omitempty" doc:"Pending, Running, Succeeded, Failed or Unknown" example:"Running"`
	Images    []string  `json:"images,omitempty" doc:"Images of its containers"`
	Node      string    `json:"node,omitempty" doc:"Node that it runs on"`
	StartedAt time.Time `json:"startedAt,omitzero" doc:"When it was started"`
	// Owner is the object of the Application that it belongs to, "Deployment/checkout".
	Owner string `json:"owner,omitempty" doc:"Object of the application that it belongs to" example:"Deployment/checkout"`
}

// Instances are the pods of an Application, as its agent sees them now.
type Instances struct {
	Application string `json:"application" doc:"<agent>/<namespace>/<name>" example:"account.prod/argocd/checkout"`
	Scope       Scope  `json:"scope" doc:"Where the application belongs"`
	Service     string `json:"service,omitempty" doc:"Id of its service" example:"org.acme.checkout"`
	Environment string `json:"environment,omitempty" doc:"Id of its environment" example:"org.acme.production"`
	Ready       int64  `json:"ready" doc:"How many are ready"`
	Total       int64  `json:"total" doc:"How many there are, also those that are not listed"`
	// Instances are at most 1,000; Total counts all.
	Instances []Instance `json:"instances" doc:"The pods, at most 1,000"`
	UpdatedAt time.Time  `json:"updatedAt,omitzero" doc:"When the server learned of it last"`
	// StaleSince is set when the agent does not report them any more, or is away.
	StaleSince time.Time `json:"staleSince,omitzero" doc:"Since when nothing new is known of them: the agent no longer reports them, or is away"`
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
