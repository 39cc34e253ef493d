package v1alpha1

import "k8s.io/apimachinery/pkg/util/intstr"

// ApplicationSource is one place to read desired state from, and how to turn what is there into objects. At most one of
// Helm, Kustomize, Directory and Plugin is set; with none, the tool is found out from the files (see SourceType).
type ApplicationSource struct {
	// RepoURL is the Git, Helm or OCI repository. Required. It must not hold credentials.
	RepoURL string `json:"repoURL"`
	// Path is the directory inside the repository, relative to its root. Default: the root. Not used with Chart.
	Path string `json:"path,omitempty"`
	// TargetRevision is a branch, tag, commit or, for tags and charts, a semver range. Default: HEAD for Git, the newest
	// stable version for a chart.
	TargetRevision string `json:"targetRevision,omitempty"`
	// Helm holds options for rendering a chart.
	Helm *HelmSource `json:"helm,omitempty"`
	// Kustomize holds options for building a kustomization.
	Kustomize *KustomizeSource `json:"kustomize,omitempty"`
	// Directory holds options for reading plain manifests and Jsonnet.
	Directory *DirectorySource `json:"directory,omitempty"`
	// Plugin holds options for a config management plugin.
	Plugin *PluginSource `json:"plugin,omitempty"`
	// Chart is the chart's name when RepoURL is a Helm repository. Excludes Path.
	Chart string `json:"chart,omitempty"`
	// Ref is a name other sources of the same application use as $name/ to reach files of this repository. A source
	// with a Ref but neither Path nor Chart yields no objects of its own.
	Ref string `json:"ref,omitempty"`
	// Name lets people and programs address this source among several. Unique within an application.
	Name string `json:"name,omitempty"`
	// TagPrefix limits a semver TargetRevision to tags that start with it, and is cut off before versions are compared;
	// for repositories that tag several components. Default: no prefix.
	TagPrefix string `json:"tagPrefix,omitempty"`
}

// IsHelm reports whether the source is a chart taken from a Helm repository, as opposed to a path in Git.
func (s *ApplicationSource) IsHelm() bool { return s.Chart != "" }

// IsRef reports whether the source only lends its files to others and yields no objects.
func (s *ApplicationSource) IsRef() bool { return s.Ref != "" && s.Path == "" && s.Chart == "" }

// ExplicitType returns the type given by the tool block that is set, or "" when none is. With several blocks set, which
// validation rejects, the first in the order Kustomize, Helm, Directory, Plugin is returned.
func (s *ApplicationSource) ExplicitType() SourceType {
	switch {
	case s.Kustomize != nil:
		return SourceTypeKustomize
	case s.Helm != nil:
		return SourceTypeHelm
	case s.Directory != nil:
		return SourceTypeDirectory
	case s.Plugin != nil:
		return SourceTypePlugin
	}
	return ""
}

// HelmSource holds options for rendering a chart. Values are taken from, weakest first: the chart, ValueFiles in order,
// Values or ValuesObject, Parameters, Parameters with ForceString, FileParameters.
type HelmSource struct {
	// ValueFiles are values files: paths relative to the chart, $ref/ paths into another source, or URLs. Globs,
	// including **, are expanded. Later files win.
	ValueFiles []string `json:"valueFiles,omitempty"`
	// Parameters are single values set by path, as with helm --set.
	Parameters []HelmParameter `json:"parameters,omitempty"`
	// ReleaseName is the release's name. Default: the application's name.
	ReleaseName string `json:"releaseName,omitempty"`
	// Values is a values document as YAML text. Ignored when ValuesObject is set.
	Values string `json:"values,omitempty"`
	// FileParameters are single values read from files, as with helm --set-file.
	FileParameters []HelmFileParameter `json:"fileParameters,omitempty"`
	// Version is the Helm version to render with; only "v3" has a meaning today, and it is the default.
	Version string `json:"version,omitempty"`
	// PassCredentials sends the repository's credentials to other hosts the repository's index points at. Default false.
	PassCredentials bool `json:"passCredentials,omitempty"`
	// IgnoreMissingValueFiles skips ValueFiles that do not exist instead of failing. Default false.
	IgnoreMissingValueFiles bool `json:"ignoreMissingValueFiles,omitempty"`
	// SkipCRDs leaves out the chart's crds directory. Default false.
	SkipCRDs bool `json:"skipCrds,omitempty"`
	// ValuesObject is a values document as an object. Takes the place of Values.
	//
	// +kubebuilder:validation:Type=object
	ValuesObject *RawJSON `json:"valuesObject,omitempty"`
	// Namespace is what templates see as the release's namespace. Default: the destination's namespace.
	Namespace string `json:"namespace,omitempty"`
	// KubeVersion is the Kubernetes version templates see. Default: the destination cluster's.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// APIVersions are the API versions templates see, each [group/]version/kind. Default: the destination cluster's.
	APIVersions []string `json:"apiVersions,omitempty"`
	// SkipTests leaves out test hooks. Default false.
	SkipTests bool `json:"skipTests,omitempty"`
	// SkipSchemaValidation does not check values against the chart's JSON schema. Default false.
	SkipSchemaValidation bool `json:"skipSchemaValidation,omitempty"`
}

// HelmParameter is one value set by its path in the values document.
type HelmParameter struct {
	// Name is the path, with Helm's dots, brackets and escapes.
	Name string `json:"name,omitempty"`
	// Value is the value. It may use build environment variables such as $ARGOCD_APP_NAME.
	Value string `json:"value,omitempty"`
	// ForceString keeps numbers and booleans as text, as with helm --set-string. Default false.
	ForceString bool `json:"forceString,omitempty"`
}

// HelmFileParameter is one value, read from a file.
type HelmFileParameter struct {
	// Name is the path in the values document.
	Name string `json:"name,omitempty"`
	// Path is the file, relative to the chart or as $ref/ path into another source.
	Path string `json:"path,omitempty"`
}

// KustomizeSource holds changes made to a kustomization before it is built.
type KustomizeSource struct {
	// NamePrefix is put before every object's name.
	NamePrefix string `json:"namePrefix,omitempty"`
	// NameSuffix is put after every object's name.
	NameSuffix string `json:"nameSuffix,omitempty"`
	// Images replace images: [name=]newName[:tag][@digest].
	Images []string `json:"images,omitempty"`
	// CommonLabels are put on every object and, unless LabelWithoutSelector, into selectors.
	CommonLabels map[string]string `json:"commonLabels,omitempty"`
	// Version names which of the configured Kustomize versions builds. Default: the built-in one.
	Version string `json:"version,omitempty"`
	// CommonAnnotations are put on every object.
	CommonAnnotations map[string]string `json:"commonAnnotations,omitempty"`
	// ForceCommonLabels lets CommonLabels replace labels the kustomization sets. Default false: that is an error.
	ForceCommonLabels bool `json:"forceCommonLabels,omitempty"`
	// ForceCommonAnnotations lets CommonAnnotations replace annotations the kustomization sets. Default false.
	ForceCommonAnnotations bool `json:"forceCommonAnnotations,omitempty"`
	// Namespace is set on every namespaced object. Default: left as is.
	Namespace string `json:"namespace,omitempty"`
	// CommonAnnotationsEnvsubst fills build environment variables into the values of CommonAnnotations. Default false.
	CommonAnnotationsEnvsubst bool `json:"commonAnnotationsEnvsubst,omitempty"`
	// Replicas set replica counts by workload name.
	Replicas []KustomizeReplica `json:"replicas,omitempty"`
	// Patches are added to the kustomization's patches.
	Patches []KustomizePatch `json:"patches,omitempty"`
	// Components are directories of components to add, relative to the source's path.
	Components []string `json:"components,omitempty"`
	// IgnoreMissingComponents skips Components that do not exist instead of failing. Default false.
	IgnoreMissingComponents bool `json:"ignoreMissingComponents,omitempty"`
	// LabelWithoutSelector keeps CommonLabels out of selectors and, unless LabelIncludeTemplates, of pod templates.
	// Default false.
	LabelWithoutSelector bool `json:"labelWithoutSelector,omitempty"`
	// KubeVersion is the Kubernetes version charts inflated by Kustomize see. Default: the destination cluster's.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// APIVersions are the API versions charts inflated by Kustomize see. Default: the destination cluster's.
	APIVersions []string `json:"apiVersions,omitempty"`
	// LabelIncludeTemplates puts CommonLabels into pod templates too when LabelWithoutSelector is set. Default false.
	LabelIncludeTemplates bool `json:"labelIncludeTemplates,omitempty"`
}

// KustomizeReplica sets the replica count of workloads.
type KustomizeReplica struct {
	// Name is the workload's name before prefix and suffix.
	Name string `json:"name"`
	// Count is the number of replicas, at least 0, as a number or as text with build environment variables.
	Count intstr.IntOrString `json:"count"`
}

// KustomizePatch is one patch, inline or from a file.
type KustomizePatch struct {
	// Path is a file with the patch, relative to the source's path. Excludes Patch.
	Path string `json:"path,omitempty"`
	// Patch is the patch itself: a strategic merge document or a JSON patch. Excludes Path.
	Patch string `json:"patch,omitempty"`
	// Target says which objects a patch is for. Default: the object a strategic merge patch itself names.
	Target *KustomizeSelector `json:"target,omitempty"`
	// Options are Kustomize's own switches, such as allowNameChange and allowKindChange.
	Options map[string]bool `json:"options,omitempty"`
}

// KustomizeSelector picks objects; every field set must match. Names are regular expressions anchored at both ends.
type KustomizeSelector struct {
	// Group is the API group.
	Group string `json:"group,omitempty"`
	// Version is the API version without its group.
	Version string `json:"version,omitempty"`
	// Kind is the kind.
	Kind string `json:"kind,omitempty"`
	// Name is the object's name.
	Name string `json:"name,omitempty"`
	// Namespace is the object's namespace.
	Namespace string `json:"namespace,omitempty"`
	// AnnotationSelector is a selector over annotations, written like a label selector.
	AnnotationSelector string `json:"annotationSelector,omitempty"`
	// LabelSelector is a selector over labels.
	LabelSelector string `json:"labelSelector,omitempty"`
}

// DirectorySource holds options for reading plain YAML, JSON and Jsonnet files.
type DirectorySource struct {
	// Recurse reads sub-directories too. Default false.
	Recurse bool `json:"recurse,omitempty"`
	// Jsonnet holds options for .jsonnet files.
	//
	// +optional
	Jsonnet JsonnetSource `json:"jsonnet,omitzero"`
	// Exclude is a glob of files to leave out; {a,b} gives several. Wins over Include.
	Exclude string `json:"exclude,omitempty"`
	// Include is a glob of files to read; {a,b} gives several. Default: all.
	Include string `json:"include,omitempty"`
	// DisableExtensionFilter reads files whatever their extension. Default false: .yaml, .yml, .json and .jsonnet only.
	DisableExtensionFilter bool `json:"disableExtensionFilter,omitempty"`
}

// JsonnetSource holds options for evaluating Jsonnet.
type JsonnetSource struct {
	// ExtVars are external variables.
	ExtVars []JsonnetVar `json:"extVars,omitempty"`
	// TLAs are top-level arguments.
	TLAs []JsonnetVar `json:"tlas,omitempty"`
	// Libs are additional library directories, relative to the repository's root.
	Libs []string `json:"libs,omitempty"`
}

// JsonnetVar is one variable given to Jsonnet.
type JsonnetVar struct {
	// Name is the variable's name.
	Name string `json:"name"`
	// Value is its value. It may use build environment variables.
	Value string `json:"value"`
	// Code takes Value as Jsonnet code instead of text. Default false.
	Code bool `json:"code,omitempty"`
}

// PluginSource holds options for a config management plugin.
type PluginSource struct {
	// Name is the plugin, with -version where the plugin has one. Default: the plugin that says it knows the files.
	Name string `json:"name,omitempty"`
	// Env are environment variables for the plugin; it sees each name with ARGOCD_ENV_ in front.
	Env []EnvEntry `json:"env,omitempty"`
	// Parameters are the plugin's parameters, over those it announces itself.
	Parameters []PluginParameter `json:"parameters,omitempty"`
}

// EnvEntry is one environment variable.
type EnvEntry struct {
	// Name is the variable's name.
	Name string `json:"name"`
	// Value is its value.
	Value string `json:"value"`
}

// PluginParameter is one parameter of a plugin. String, Map and Array may be set together; absent and empty differ and
// are both kept.
type PluginParameter struct {
	// Name is the parameter's name.
	Name string `json:"name,omitempty"`
	// String is its value as text; nil where not set.
	String *string `json:"string,omitempty"`
	// Map is its value as a map; nil where not set.
	//
	// +optional
	Map map[string]string `json:"map,omitzero"`
	// Array is its value as a list; nil where not set.
	//
	// +optional
	Array []string `json:"array,omitzero"`
}
