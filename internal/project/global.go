package project

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Global is one entry of globalProjects in argocd-cm: a project that others inherit from.
type Global struct {
	Project  string
	selector labels.Selector
}

// Selects reports whether a project inherits from this one. None inherits from itself.
func (g Global) Selects(name string, of map[string]string) bool {
	return name != g.Project && g.selector.Matches(labels.Set(of))
}

// Bounds of globalProjects.
const (
	maxGlobalBytes = 64 << 10
	maxGlobals     = 100
)

// ParseGlobals reads globalProjects of argocd-cm. What cannot be read is an error as a whole: a rule that denies must
// not get lost.
func ParseGlobals(text string) ([]Global, error) {
	if len(text) > maxGlobalBytes {
		return nil, fmt.Errorf("globalProjects in argocd-cm is longer than %d bytes: shorten it", maxGlobalBytes)
	}
	var list []struct {
		ProjectName   string               `json:"projectName"`
		LabelSelector metav1.LabelSelector `json:"labelSelector"`
	}
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil {
		err = strict.Decode(raw, &list, strict.Unknown)
	}
	if err != nil {
		return nil, fmt.Errorf("globalProjects in argocd-cm cannot be read: write a list of projectName and labelSelector: %w", err)
	}
	if len(list) > maxGlobals {
		return nil, fmt.Errorf("globalProjects in argocd-cm has more than %d entries: join them", maxGlobals)
	}
	out := make([]Global, 0, len(list))
	for i, in := range list {
		if in.ProjectName == "" {
			return nil, fmt.Errorf("entry %d of globalProjects in argocd-cm has no projectName: name the project to inherit from", i+1)
		}
		selector, err := metav1.LabelSelectorAsSelector(&in.LabelSelector)
		if err != nil {
			return nil, fmt.Errorf("entry %d of globalProjects in argocd-cm: correct labelSelector: %w", i+1, err)
		}
		out = append(out, Global{Project: in.ProjectName, selector: selector})
	}
	return out, nil
}

// inherit returns the specification of a project with what it inherits added: kinds, repositories, destinations and
// service accounts. Sync windows are inherited too, but keep the name of their project.
//
// A project that permits all namespaced kinds, because it lists none, permits those alone that it inherits.
func inherit(own *v1alpha1.AppProjectSpec, from []*v1alpha1.AppProject) v1alpha1.AppProjectSpec {
	out := *own
	for _, p := range from {
		g := &p.Spec
		out.SourceRepos = slices.Concat(out.SourceRepos, g.SourceRepos)
		out.Destinations = slices.Concat(out.Destinations, g.Destinations)
		out.ClusterResourceWhitelist = slices.Concat(out.ClusterResourceWhitelist, g.ClusterResourceWhitelist)
		out.ClusterResourceBlacklist = slices.Concat(out.ClusterResourceBlacklist, g.ClusterResourceBlacklist)
		out.NamespaceResourceBlacklist = slices.Concat(out.NamespaceResourceBlacklist, g.NamespaceResourceBlacklist)
		out.DestinationServiceAccounts = slices.Concat(out.DestinationServiceAccounts, g.DestinationServiceAccounts)
		if len(g.NamespaceResourceWhitelist) > 0 { // an empty list of the project's own stays one: it permits nothing
			out.NamespaceResourceWhitelist = slices.Concat(out.NamespaceResourceWhitelist, g.NamespaceResourceWhitelist)
		}
	}
	return out
}
