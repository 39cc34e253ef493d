package api

import "time"

// TreeAnswer is the objects of an application and what they own.
type TreeAnswer struct {
	Items []*TreeNode `json:"items" doc:"The objects of the application, with what they own below them"`
	// Warnings name what could not be listed.
	Warnings []string `json:"warnings,omitempty" doc:"What could not be listed"`
}

// TreeNode is an object in the tree of an application. It holds nothing of what is in ConfigMaps and Secrets.
type TreeNode struct {
	Group     string    `json:"group,omitempty" doc:"API group; empty for core kinds" example:"apps"`
	Version   string    `json:"version,omitempty" doc:"API version, without the group" example:"v1"`
	Kind      string    `json:"kind" doc:"Kind" example:"Deployment"`
	Namespace string    `json:"namespace,omitempty" doc:"Namespace" example:"shop"`
	Name      string    `json:"name" doc:"Name" example:"web"`
	UID       string    `json:"uid,omitempty" doc:"UID; left out where the object is not there, or not read"`
	CreatedAt time.Time `json:"createdAt,omitzero" doc:"When it was created"`
	// Sync, Hook, Wave and RequiresPruning are of the application's own objects only.
	Sync            string   `json:"sync,omitempty" doc:"Synced or OutOfSync; of the application's own objects only" example:"Synced"`
	Hook            []string `json:"hook,omitempty" doc:"Phases that it is a hook of; of the application's own objects only" example:"[\"PreSync\"]"`
	Wave            int64    `json:"wave,omitempty" doc:"Sync wave; of the application's own objects only" example:"2"`
	RequiresPruning bool     `json:"requiresPruning,omitempty" doc:"It is there, and not wanted any more; of the application's own objects only"`
	Health          string   `json:"health,omitempty" doc:"Health" example:"Healthy"`
	Message         string   `json:"message,omitempty" doc:"Why it is not healthy"`
	Images          []string `json:"images,omitempty" doc:"Images of its containers; of pods and workloads" example:"[\"registry.example.com/web:1.2\"]"`
	// Revision is what Kubernetes counts rollouts by.
	Revision  int64         `json:"revision,omitempty" doc:"Number of the rollout; of workloads that count theirs" example:"3"`
	Replicas  *TreeReplicas `json:"replicas,omitempty" doc:"How many pods; of workloads"`
	Pod       *TreePod      `json:"pod,omitempty" doc:"How it runs; of pods"`
	Routes    []string      `json:"routes,omitempty" doc:"Nodes of this tree that it sends traffic to, as group/kind/namespace/name" example:"[\"/Service/shop/web\"]"`
	Addresses []string      `json:"addresses,omitempty" doc:"Addresses and host names that it is reached at, such as those of its load balancer" example:"[\"192.0.2.10\"]"`
	URLs      []string      `json:"urls,omitempty" doc:"Where people reach it" example:"[\"https://shop.example.com/\"]"`
	// Children are what it owns.
	Children []*TreeNode `json:"children,omitempty" doc:"What it owns"`
}

// ID names a node within its tree: group/kind/namespace/name.
func (n *TreeNode) ID() string { return n.Group + "/" + n.Kind + "/" + n.Namespace + "/" + n.Name }

// TreeReplicas is how many pods a workload wants, and how many are ready.
type TreeReplicas struct {
	Desired int64 `json:"desired" doc:"How many are wanted" example:"3"`
	Ready   int64 `json:"ready" doc:"How many are ready" example:"3"`
}

// TreePod is how a pod runs.
type TreePod struct {
	Node  string `json:"node,omitempty" doc:"Node that it runs on" example:"worker-1"`
	Phase string `json:"phase,omitempty" doc:"Phase" example:"Running"`
	// Reason says more than Phase where there is more to say.
	Reason     string `json:"reason,omitempty" doc:"What it does or waits for, in one word; left out where phase says it" example:"CrashLoopBackOff"`
	Ready      int    `json:"ready" doc:"How many of its containers are ready" example:"1"`
	Containers int    `json:"containers" doc:"How many containers it has; of init containers those that stay" example:"2"`
	Restarts   int64  `json:"restarts,omitempty" doc:"How often its containers were started again" example:"4"`
	IP         string `json:"ip,omitempty" doc:"IP address" example:"10.1.2.3"`
}

// Kinds of events of a live tree, as the stream names them.
const (
	// TreeEventTree is the first: its data is a TreeState. One that comes later takes the place of all before it.
	TreeEventTree = "tree"
	// TreeEventPatch says what is another since: its data is a TreePatch.
	TreeEventPatch = "patch"
)

// FlatNode is a node of a live tree: parents come before what they own.
type FlatNode struct {
	ID string `json:"id" doc:"group/kind/namespace/name" example:"apps/ReplicaSet/shop/web-6d5f"`
	// Parent is what owns it; empty for the application's own objects.
	Parent string `json:"parent,omitempty" doc:"Id of the node that owns it; left out for the application's own objects" example:"apps/Deployment/shop/web"`
	TreeNode
}

// TreeState is a whole live tree.
type TreeState struct {
	Nodes []*FlatNode `json:"nodes" doc:"All nodes; of a very large tree the first, and patches with the rest follow"`
	// Warnings name what could not be listed.
	Warnings []string `json:"warnings,omitempty" doc:"What could not be listed"`
}

// TreePatch is what is another in a live tree.
type TreePatch struct {
	Set    []*FlatNode `json:"set,omitempty" doc:"Nodes that are new, or are another: they take the place of those with their ids"`
	Remove []string    `json:"remove,omitempty" doc:"Ids of nodes that are gone"`
}
