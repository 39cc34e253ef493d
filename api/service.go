package api

import "time"

// Labels and annotations of Applications that say what they run.
const (
	// LabelService on an Application names the service that it runs: a name, looked for from the scope of the Application
	// upwards, or an id.
	LabelService = "slipway.io/service"
	// LabelEnvironment on an Application names the environment that it belongs to, in the same way.
	LabelEnvironment = "slipway.io/environment"
	// AnnotationVersionImage on an Application names the image whose tag is the version of what runs: its repository, or the
	// last part of it. Without it, that is the first of the application's images.
	AnnotationVersionImage = "slipway.io/version-image"
)

// Service is something that runs in one or more environments, by one or more Applications in each.
type Service struct {
	Meta
}

// How an Application came to its service or environment.
const (
	// LinkedByLabel: a label of the Application names it.
	LinkedByLabel = "label"
	// LinkedByHand: a user linked it.
	LinkedByHand = "hand"
	// LinkedByCluster: the environment has the cluster that the Application deploys to.
	LinkedByCluster = "cluster"
)

// ApplicationLink says which service and environment a user linked an Application to. It stays when the Application
// is deleted, and counts again when one of that name is there. A label of the Application counts before it.
type ApplicationLink struct {
	Service     string    `json:"service,omitempty" maxLength:"210" doc:"Id of the service; empty for none" example:"org.acme.checkout"`
	Environment string    `json:"environment,omitempty" maxLength:"210" doc:"Id of the environment; empty for that of the cluster, or none" example:"org.acme.production"`
	Version     int64     `json:"version,omitempty" doc:"Version to change; the server refuses an update of an older version with 409"`
	CreatedAt   time.Time `json:"createdAt,omitzero" readOnly:"true" doc:"Time of creation"`
	UpdatedAt   time.Time `json:"updatedAt,omitzero" readOnly:"true" doc:"Time of the last change"`
}

// ApplicationLinked is the service and environment of an Application, and the source of each.
type ApplicationLinked struct {
	// Link is the manual link; nil for nothing.
	Link *ApplicationLink `json:"link,omitempty" doc:"Manual link"`
	// Service and Environment are ids of what counts; "" for none.
	Service     string `json:"service,omitempty" doc:"Id of the effective service" example:"org.acme.checkout"`
	ServiceBy   string `json:"serviceBy,omitempty" enum:"label,hand" doc:"Source of the service: a label of the Application, or a manual link"`
	Environment string `json:"environment,omitempty" doc:"Id of the effective environment" example:"org.acme.production"`
	// EnvironmentBy is one of the LinkedBy constants.
	EnvironmentBy string `json:"environmentBy,omitempty" enum:"label,hand,cluster" doc:"Source of the environment: a label of the Application, a manual link, or its cluster"`
	// Unknown are names on labels that are none of a service or environment in reach.
	Unknown []string `json:"unknown,omitempty" doc:"Labels that name no existing service or environment"`
}

// Deployed is a version of something that runs, in the words of what it comes from. Any of them may be empty.
type Deployed struct {
	// Image is the repository of the image whose tag counts, Tag that tag (or the digest, where it has no tag).
	Image string `json:"image,omitempty" doc:"Image whose tag is the version" example:"registry.example.org/checkout"`
	Tag   string `json:"tag,omitempty" doc:"Tag of that image" example:"1.4.2"`
	Chart string `json:"chart,omitempty" doc:"Version of the chart" example:"3.1.0"`
	// Commit is that of the first source from Git which was deployed last.
	Commit string `json:"commit,omitempty" doc:"Last deployed commit" example:"4d1f0c2a"`
	// Version is the one of them that people know it by: the tag, else the chart's version, else the commit.
	Version string `json:"version,omitempty" doc:"Version for display: the tag of the image, otherwise the version of the chart, otherwise the commit" example:"1.4.2"`
	// Since is when that version was healthy first; zero where it never was.
	Since time.Time `json:"since,omitzero" doc:"Time at which this version was first healthy"`
}

// ServiceRow is a service with where it runs.
type ServiceRow struct {
	Service     string `json:"service" doc:"Id of the service" example:"org.acme.checkout"`
	Name        string `json:"name" doc:"Name of the service" example:"checkout"`
	DisplayName string `json:"displayName,omitempty" doc:"Display name"`
	Scope       Scope  `json:"scope" doc:"Scope of the service"`
	// Cells are those of the environments that it runs in, by id; what is in none is in the last, whose environment is "".
	Cells []ServiceCell `json:"cells" doc:"One for each of its environments"`
	// Drift are the environments that are behind others of this service.
	Drift []ServiceDrift `json:"drift,omitempty" doc:"Environments that are behind another one"`
}

// ServiceCell is what of a service runs in an environment.
type ServiceCell struct {
	Environment string `json:"environment" doc:"Id of the environment; empty for applications without one" example:"org.acme.production"`
	Type        string `json:"type,omitempty" enum:"Production,PreProduction" doc:"Type of the environment"`
	Region      string `json:"region,omitempty" doc:"Region of the environment"`
	// Deployed is the version of all its applications; of several versions the one that is behind.
	Deployed
	// Mixed says that its applications do not all run the same version.
	Mixed  bool   `json:"mixed,omitempty" doc:"The applications run several versions; version is the oldest"`
	Health string `json:"health" doc:"The worst health of its applications" example:"Healthy"`
	Sync   string `json:"sync" doc:"OutOfSync if one of its applications is" example:"Synced"`
	// Ready and Total count pods.
	Ready        int64                `json:"ready" doc:"Pods that are ready"`
	Total        int64                `json:"total" doc:"Pods"`
	Applications []ServiceApplication `json:"applications" doc:"The applications that run it here"`
}

// ServiceApplication is an Application in a cell of the matrix.
type ServiceApplication struct {
	ID string `json:"id" doc:"<agent>/<namespace>/<name>" example:"account.prod/argocd/checkout"`
	Deployed
	Sync       string    `json:"sync" doc:"Synced, OutOfSync, Unknown"`
	Health     string    `json:"health" doc:"Healthy, Progressing, Degraded, Suspended, Missing, Unknown"`
	Ready      int64     `json:"ready" doc:"Pods that are ready"`
	Total      int64     `json:"total" doc:"Pods"`
	StaleSince time.Time `json:"staleSince,omitzero" doc:"Time of the last information: its agent no longer reports it, or is away"`
}

// How two versions were compared.
const (
	// ComparedByVersion: both are semantic versions.
	ComparedByVersion = "version"
	// ComparedByTime: the one that was healthy later is the newer one.
	ComparedByTime = "time"
)

// ServiceDrift says that an environment does not run what is newest of a service.
type ServiceDrift struct {
	Environment string `json:"environment" doc:"Environment that is behind" example:"org.acme.production"`
	Version     string `json:"version" doc:"Running version" example:"1.4.1"`
	Behind      string `json:"behind" doc:"Environment that runs the newest version" example:"org.acme.staging"`
	Newest      string `json:"newest" doc:"The newest version" example:"1.4.2"`
	By          string `json:"by" enum:"version,time" doc:"Criterion: semantic versions, or the time at which they were first healthy"`
}

// ServiceFilter says which part of the matrix of services and environments is wanted.
type ServiceFilter struct {
	ListOptions
	// Service and Environment are ids; "" for all.
	Service     string
	Environment string
	// Type is one of the types of environments; "" for both.
	Type string
	// Region of the environment; "" for all.
	Region string
	// Agent is an id; "" for all.
	Agent string
	// Drift keeps services of which an environment is behind.
	Drift bool
}
