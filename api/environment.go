package api

// Types of environments.
const (
	EnvironmentProduction    = "Production"
	EnvironmentPreProduction = "PreProduction"
)

// Environment is a place where services run: one or more clusters, or what Applications say belongs to it.
type Environment struct {
	Meta
	Type   string `json:"type,omitempty" enum:"Production,PreProduction" doc:"Production or PreProduction (default)" example:"Production"`
	Region string `json:"region,omitempty" maxLength:"63" doc:"Region" example:"eu-north"`
	// Clusters are those whose Applications belong to it, unless they say otherwise. A cluster is in one environment of a
	// scope at most; the environment that is nearest to an Application's own scope counts.
	Clusters []EnvironmentCluster `json:"clusters,omitempty" maxItems:"1000" doc:"Clusters whose applications belong to it, unless a label or a link sets another environment"`
}

// EnvironmentCluster is a cluster that an agent deploys to.
type EnvironmentCluster struct {
	// Agent is an id. Its scope is the environment's or one around it.
	Agent string `json:"agent" maxLength:"210" doc:"Id of the agent" example:"account.prod"`
	// Cluster is the name or the address of one of its clusters; "in-cluster" is the agent's own.
	Cluster string `json:"cluster" maxLength:"500" doc:"Name or address of one of its clusters; in-cluster is its own" example:"in-cluster"`
}

// InCluster is how the cluster of an agent itself is called.
const InCluster = "in-cluster"

// InClusterServer is the address of the cluster of an agent itself.
const InClusterServer = "https://kubernetes.default.svc"
