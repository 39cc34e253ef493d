package agentapi

import "time"

// MaxInstances is how many pods an Instances names at most.
const MaxInstances = 1000

// Instances is the Body of an Item of the kind instances: the pods of the Application that has the item's namespace and
// name. An Application without pods has no such item.
type Instances struct {
	// Ready and Total count all pods, also those that are not named.
	Ready int `json:"ready"`
	Total int `json:"total"`
	// Instances are by namespace and name, at most MaxInstances.
	Instances []Instance `json:"instances"`
}

// Instance is a pod.
type Instance struct {
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Ready     bool      `json:"ready"`
	Phase     string    `json:"phase,omitempty"`
	Images    []string  `json:"images,omitempty"`
	Node      string    `json:"node,omitempty"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	// Owner is the object of the Application that it belongs to: "Deployment/web".
	Owner string `json:"owner,omitempty"`
}
