package api

import "time"

// TreeAnswer is the objects of an application and what they own.
type TreeAnswer struct {
	Items []*TreeNode `json:"items" doc:"The objects of the application, with the objects that they own below them"`
	// Warnings name what could not be listed.
	Warnings []string `json:"warnings,omitempty" doc:"Kinds that could not be listed"`
}

// TreeNode is an object in the tree of an application. It holds nothing of what is in ConfigMaps and Secrets.
type TreeNode struct {
	Group     string    `json:"group,omitempty" doc:"API group; empty for core kinds" example:"apps"`
	Version   string    `json:"version,omitempty" doc:"API version, without the group" example:"v1"`
	Kind      string    `json:"kind" doc:"Kind" example:"Deployment"`
	Namespace string    `json:"namespace,omitempty" doc:"Namespace" example:"shop"`
	Name      string    `json:"name" doc:"Name" example:"web"`
	UID       string    `json:"uid,omitempty" doc:"UID; missing if the object does not exist or was not read"`
	CreatedAt time.Time `json:"createdAt,omitzero" doc:"Time of creation"`
	// Sync, Hook, Wave and RequiresPruning are of the application's own objects only.
	Sync            string   `json:"sync,omitempty" doc:"Synced or OutOfSync; only for the application's own objects" example:"Synced"`
	Hook            []string `json:"hook,omitempty" doc:"Phases of a hook; only for the application's own objects" example:"[\"PreSync\"]"`
	Wave            int64    `json:"wave,omitempty" doc:"Sync wave; only for the application's own objects" example:"2"`
	RequiresPruning bool     `json:"requiresPruning,omitempty" doc:"The object exists and is no longer desired; only for the application's own objects"`
	Health          string   `json:"health,omitempty" doc:"Health" example:"Healthy"`
	Message         string   `json:"message,omitempty" doc:"Reason why it is not healthy"`
	Images          []string `json:"images,omitempty" doc:"Images of its containers; for pods and workloads" example:"[\"registry.example.com/web:1.2\"]"`
	// Revision is what Kubernetes counts rollouts by.
	Revision  int64         `json:"revision,omitempty" doc:"Number of the rollout; for workloads that have one" example:"3"`
	Replicas  *TreeReplicas `json:"replicas,omitempty" doc:"Number of pods; for workloads"`
	Pod       *TreePod      `json:"pod,omitempty" doc:"State of the pod; for pods"`
	Routes    []string      `json:"routes,omitempty" doc:"Nodes of this tree that get its traffic, as group/kind/namespace/name" example:"[\"/Service/shop/web\"]"`
	Addresses []string      `json:"addresses,omitempty" doc:"Its addresses and host names, such as those of its load balancer" example:"[\"192.0.2.10\"]"`
	URLs      []string      `json:"urls,omitempty" doc:"URLs for users" example:"[\"https://shop.example.com/\"]"`
	// Children are what it owns.
	Children []*TreeNode `json:"children,omitempty" doc:"Objects that it owns"`
}

// ID names a node within its tree: group/kind/namespace/name.
func (n *TreeNode) ID() string { return n.Group + "/" + n.Kind + "/" + n.Namespace + "/" + n.Name }

// TreeReplicas is how many pods a workload wants, and how many are ready.
type TreeReplicas struct {
	Desired int64 `json:"desired" doc:"Desired number" example:"3"`
	Ready   int64 `json:"ready" doc:"Number of ready pods" example:"3"`
}

// TreePod is how a pod runs.
type TreePod struct {
	Node  string `json:"node,omitempty" doc:"Node" example:"worker-1"`
	Phase string `json:"phase,omitempty" doc:"Phase" example:"Running"`
	// Reason says more than Phase where there is more to say.
	Reason     string `json:"reason,omitempty" doc:"Reason for the state, in one word; missing if phase has it" example:"CrashLoopBackOff"`
	Ready      int    `json:"ready" doc:"Number of ready containers" example:"1"`
	Containers int    `json:"containers" doc:"Number of containers, including init containers that keep running" example:"2"`
	Restarts   int64  `json:"restarts,omitempty" doc:"Number of container restarts" example:"4"`
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
	Parent string `json:"parent,omitempty" doc:"Id of the owner node; missing for the application's own objects" example:"apps/Deployment/shop/web"`
	TreeNode
}

// TreeState is a whole live tree.
type TreeState struct {
	Nodes []*FlatNode `json:"nodes" doc:"All nodes; for a very large tree the first ones, and patches with the rest follow"`
	// Warnings name what could not be listed.
	Warnings []string `json:"warnings,omitempty" doc:"Kinds that could not be listed"`
}

// TreePatch is what is another in a live tree.
type TreePatch struct {
	Set    []*FlatNode `json:"set,omitempty" doc:"New or changed nodes, which replace those with the same ids"`
	Remove []string    `json:"remove,omitempty" doc:"Ids of removed nodes"`
}
