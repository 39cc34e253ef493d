package api

// RepositoryRefsRequest asks what a repository can be deployed at, as the agent sees it with its credentials.
type RepositoryRefsRequest struct {
	RepoURL     string `json:"repoURL" doc:"Address of the repository"`
	ArgoProject string `json:"argoProject,omitempty" doc:"Argo project whose rules and credentials apply; default: default"`
	// Type is what the repository is, where no registered repository of the agent says so.
	Type   string `json:"type,omitempty" enum:"git,helm,oci" doc:"Type of the repository, if the agent has no setting for it"`
	Search string `json:"search,omitempty" doc:"Only names that contain this"`
}

// RepositoryRefs is what a repository can be deployed at: branches and tags of Git, charts of a Helm repository.
type RepositoryRefs struct {
	// Default is the branch that HEAD names.
	Default  string            `json:"default,omitempty" doc:"Branch of HEAD; empty if there is none" example:"main"`
	Branches []RepositoryRef   `json:"branches" doc:"Branches, the default first"`
	Tags     []RepositoryRef   `json:"tags" doc:"Tags, the highest version first"`
	Charts   []RepositoryChart `json:"charts,omitempty" doc:"Charts of a Helm repository"`
	// Truncated says that there are more than are listed.
	Truncated bool `json:"truncated,omitempty" doc:"The list is incomplete: use search"`
}

// RepositoryRef is a branch or a tag.
type RepositoryRef struct {
	Name   string `json:"name" doc:"Name for spec.source.targetRevision" example:"main"`
	Commit string `json:"commit" doc:"Commit"`
}

// RepositoryChart is a chart of a Helm repository.
type RepositoryChart struct {
	Name        string   `json:"name" doc:"Name" example:"redis"`
	Description string   `json:"description,omitempty" doc:"Description"`
	Versions    []string `json:"versions" doc:"Its versions, the highest first"`
}

// RepositoryPathsRequest asks what one directory of a repository has.
type RepositoryPathsRequest struct {
	RepoURL     string `json:"repoURL" doc:"Address of the repository"`
	Revision    string `json:"revision,omitempty" doc:"Branch, tag, commit or range of versions; default: the default branch"`
	Path        string `json:"path,omitempty" doc:"Directory; default: the root"`
	Plugin      string `json:"plugin,omitempty" doc:"Config management plugin whose parameters are asked for"`
	ArgoProject string `json:"argoProject,omitempty" doc:"Argo project whose rules and credentials apply; default: default"`
}

// RepositoryPaths is what one directory of a repository has, and what an application would make of it.
type RepositoryPaths struct {
	Revision string           `json:"revision" doc:"Commit"`
	Path     string           `json:"path" doc:"Directory, empty for the root"`
	Items    []RepositoryPath `json:"items" doc:"Entries, directories first"`
	// Tool is what renders the directory itself.
	Tool string `json:"tool" enum:"helm,kustomize,jsonnet,directory,plugin," doc:"Tool that renders the directory; empty if there is nothing to render"`
	// ValueFiles are relative to the chart, as spec.source.helm.valueFiles takes them.
	ValueFiles []string       `json:"valueFiles,omitempty" doc:"Values files of a chart, relative to it"`
	Details    *SourceDetails `json:"details,omitempty" doc:"Details from the files, if there is something to render"`
	Plugins    []string       `json:"plugins,omitempty" doc:"Config management plugins of the agent"`
	Truncated  bool           `json:"truncated,omitempty" doc:"The list is incomplete"`
	Warnings   []string       `json:"warnings,omitempty" doc:"Files that could not be read"`
}

// RepositoryPath is a file or a directory of a repository.
type RepositoryPath struct {
	Path string `json:"path" doc:"Path from the root" example:"apps/web"`
	Type string `json:"type" enum:"directory,file" doc:"Type of the entry"`
	Tool string `json:"tool" enum:"helm,kustomize,jsonnet,directory,plugin," doc:"Tool that renders a directory; empty if there is nothing to render"`
}

// SourceDetails is what the files of a directory say of what they make. It has names, and no value of a values file.
type SourceDetails struct {
	Helm      *ChartDetails     `json:"helm,omitempty" doc:"Details of a chart"`
	Kustomize *KustomizeDetails `json:"kustomize,omitempty" doc:"Details of a kustomization"`
	Manifests int               `json:"manifests,omitempty" doc:"Number of manifest files in a plain directory"`
	// Parameters are those that a config management plugin announces, as Argo CD describes them.
	Parameters []PluginParameter `json:"parameters,omitempty" doc:"Parameters that the plugin announces"`
}

// PluginParameter is a parameter that a config management plugin announces.
type PluginParameter struct {
	Name     string `json:"name" doc:"Name for spec.source.plugin.parameters" example:"image.tag"`
	Title    string `json:"title,omitempty" doc:"Name for people"`
	Tooltip  string `json:"tooltip,omitempty" doc:"Description"`
	Required bool   `json:"required,omitempty" doc:"It must be set"`
	ItemType string `json:"itemType,omitempty" doc:"Type of the values: string, number or boolean"`
	// CollectionType says which of the defaults counts.
	CollectionType string            `json:"collectionType,omitempty" doc:"string, array or map"`
	String         string            `json:"string,omitempty" doc:"Default, as text"`
	Array          []string          `json:"array,omitempty" doc:"Default, as list"`
	Map            map[string]string `json:"map,omitempty" doc:"Default, as map"`
}

// ChartDetails is what a chart's metadata contains.
type ChartDetails struct {
	Name        string `json:"name" doc:"Name of the chart"`
	Version     string `json:"version" doc:"Version of the chart"`
	AppVersion  string `json:"appVersion,omitempty" doc:"Version of the deployed software"`
	Description string `json:"description,omitempty" doc:"Description"`
	// Parameters are the names in values.yaml, as spec.source.helm.parameters takes them.
	Parameters []ChartParameter `json:"parameters,omitempty" doc:"Names in values.yaml, without their values"`
}

// ChartParameter is a name in the values of a chart.
type ChartParameter struct {
	Name string `json:"name" doc:"Path in the values" example:"image.tag"`
	Type string `json:"type" enum:"string,number,boolean,list,map,null" doc:"Type of the default"`
}

// KustomizeDetails is what a kustomization says.
type KustomizeDetails struct {
	NamePrefix string           `json:"namePrefix,omitempty" doc:"Prefix of all names"`
	NameSuffix string           `json:"nameSuffix,omitempty" doc:"Suffix of all names"`
	Namespace  string           `json:"namespace,omitempty" doc:"Namespace of all objects"`
	Images     []KustomizeImage `json:"images,omitempty" doc:"Images that it replaces"`
	Resources  []string         `json:"resources,omitempty" doc:"Resources"`
	Components []string         `json:"components,omitempty" doc:"Components"`
}

// KustomizeImage is an image that a kustomization replaces.
type KustomizeImage struct {
	Name    string `json:"name" doc:"Image in the resources"`
	NewName string `json:"newName,omitempty" doc:"New name"`
	NewTag  string `json:"newTag,omitempty" doc:"New tag"`
	Digest  string `json:"digest,omitempty" doc:"New digest"`
}
