package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// Keys of argocd-cm that are about rendering.
const (
	keySchemes      = "helm.valuesFileSchemes"
	keyBuildOptions = "kustomize.buildOptions"
	keyPath         = "kustomize.path."
	keyVersion      = "kustomize.version." // the older name
)

// Settings are what argocd-cm says about rendering. They are never changed in place.
type Settings struct {
	// Schemes are those that URLs of value files may have; nil: https and http.
	Schemes []string `json:",omitempty"`
	// BuildOptions are options of "kustomize build", by the version of Kustomize that a source asks for; "" is for all others.
	BuildOptions map[string]string `json:",omitempty"`
	// KustomizeVersions are the names that are registered for versions of Kustomize. All of them mean the built-in one.
	KustomizeVersions []string `json:",omitempty"`
}

// ReadSettings reads the data of argocd-cm.
func ReadSettings(config map[string]string) Settings {
	var s Settings
	if text, ok := config[keySchemes]; ok {
		s.Schemes = []string{}
		for scheme := range strings.SplitSeq(text, ",") {
			if scheme = strings.ToLower(strings.TrimSpace(scheme)); scheme != "" {
				s.Schemes = append(s.Schemes, scheme)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if version, ok := strings.CutPrefix(key, keyBuildOptions); ok && (version == "" || version[0] == '.') {
			if s.BuildOptions == nil {
				s.BuildOptions = map[string]string{}
			}
			s.BuildOptions[strings.TrimPrefix(version, ".")] = config[key]
		}
		for _, prefix := range []string{keyPath, keyVersion} {
			if version, ok := strings.CutPrefix(key, prefix); ok && version != "" && !slices.Contains(s.KustomizeVersions, version) {
				s.KustomizeVersions = append(s.KustomizeVersions, version)
			}
		}
	}
	return s
}

// ValueFileURL reports whether a value file is named by a URL that may be used.
func (s Settings) ValueFileURL(name string) bool {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok || rest == "" {
		return false
	}
	schemes := s.Schemes
	if schemes == nil {
		schemes = []string{"https", "http"}
	}
	return slices.Contains(schemes, strings.ToLower(scheme))
}

// BuildOptionsOf returns the options of "kustomize build" for a source.
func (s Settings) BuildOptionsOf(k *v1alpha1.KustomizeSource) string {
	if k != nil && k.Version != "" {
		if options, ok := s.BuildOptions[k.Version]; ok {
			return options
		}
	}
	return s.BuildOptions[""]
}
