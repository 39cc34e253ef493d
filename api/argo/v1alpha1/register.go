package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Names of the API group, its version, and the kinds and REST resources in it.
const (
	Group   = "argoproj.io"
	Version = "v1alpha1"

	KindApplication    = "Application"
	KindAppProject     = "AppProject"
	KindApplicationSet = "ApplicationSet"

	ResourceApplications    = "applications"
	ResourceAppProjects     = "appprojects"
	ResourceApplicationSets = "applicationsets"
)

// GroupVersion returns argoproj.io/v1alpha1.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: Version}
}

// Resource returns the fully qualified REST resource of a plural name such as ResourceApplications.
func Resource(plural string) schema.GroupVersionResource {
	return GroupVersion().WithResource(plural)
}

// AddToScheme registers the kinds of this package and their lists, so that typed clients can encode and decode them.
// It always returns nil; the error is there to fit runtime.SchemeBuilder.
func AddToScheme(scheme *runtime.Scheme) error {
	gv := GroupVersion()
	scheme.AddKnownTypes(gv,
		&Application{}, &ApplicationList{},
		&AppProject{}, &AppProjectList{},
		&ApplicationSet{}, &ApplicationSetList{},
	)
	metav1.AddToGroupVersion(scheme, gv)
	return nil
}
