package diff

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Keys of the ConfigMap argocd-cm that say which kinds an installation leaves alone.
const (
	KeyExclusions = "resource.exclusions"
	KeyInclusions = "resource.inclusions"
)

// maxExclusions bounds the entries of each of these settings.
const maxExclusions = 1000

// Exclusions are the kinds that an installation leaves alone: nothing of them is created, compared, deleted or watched. They are
// immutable; nil excludes the kinds that Argo CD always excludes, and no others.
type Exclusions struct {
	excluded, included []kindsOf
	id                 string
}

// kindsOf are the kinds of one entry. A list without patterns takes in everything.
type kindsOf struct {
	groups, clusters []glob
	kinds            []string
}

// excludedBlock is the YAML of one entry.
type excludedBlock struct {
	APIGroups []string `json:"apiGroups"`
	Kinds     []string `json:"kinds"`
	Clusters  []string `json:"clusters"`
}

// ParseExclusions reads the data of argocd-cm. An error names the key and the fault in it. An agent must not work with settings
// that it cannot read: it would create and delete what they exclude.
func ParseExclusions(data map[string]string) (*Exclusions, error) {
	out := &Exclusions{}
	var err error
	if out.excluded, err = readExclusions(KeyExclusions, data); err != nil {
		return nil, err
	}
	if out.included, err = readExclusions(KeyInclusions, data); err != nil {
		return nil, err
	}
	if text := data[KeyExclusions] + "\x00" + data[KeyInclusions]; text != "\x00" {
		out.id = strconv.FormatUint(xxhash.Sum64String(text), 36)
	}
	return out, nil
}

func readExclusions(key string, data map[string]string) ([]kindsOf, error) {
	var blocks []excludedBlock
	if err := yaml.UnmarshalStrict([]byte(data[key]), &blocks); err != nil {
		return nil, fmt.Errorf("argocd-cm key %s: %s: write a list of apiGroups, kinds and clusters", key, object.Middle(err.Error(), maxGlob))
	}
	if len(blocks) > maxExclusions {
		return nil, fmt.Errorf("argocd-cm key %s has %d entries; at most %d are allowed", key, len(blocks), maxExclusions)
	}
	out := make([]kindsOf, len(blocks))
	for i, b := range blocks {
		var err error
		if out[i].groups, err = compileGlobs(b.APIGroups); err != nil {
			return nil, fmt.Errorf("argocd-cm key %s[%d].apiGroups: %w", key, i, err)
		}
		if out[i].clusters, err = compileGlobs(b.Clusters); err != nil {
			return nil, fmt.Errorf("argocd-cm key %s[%d].clusters: %w", key, i, err)
		}
		out[i].kinds = b.Kinds
	}
	return out, nil
}

func compileGlobs(patterns []string) ([]glob, error) {
	out := make([]glob, len(patterns))
	for i, p := range patterns {
		var err error
		if out[i], err = compileGlob(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ID identifies the settings: equal ones have equal ids. It is "" where there are none.
func (e *Exclusions) ID() string {
	if e == nil {
		return ""
	}
	return e.id
}

// Excludes reports whether a kind is left alone on a cluster, of which server is the address. What is excluded stays so where it
// is included as well; where inclusions apply to a cluster, every other kind is excluded there.
func (e *Exclusions) Excludes(kind object.Kind, server string) bool {
	if alwaysExcluded(kind) {
		return true
	}
	if e == nil {
		return false
	}
	limited := false
	for i := range e.excluded {
		if e.excluded[i].has(kind) && matchesAny(e.excluded[i].clusters, server) {
			return true
		}
	}
	for i := range e.included {
		if !matchesAny(e.included[i].clusters, server) {
			continue
		}
		if e.included[i].has(kind) {
			return false
		}
		limited = true
	}
	return limited
}

// alwaysExcluded reports whether Argo CD excludes a kind whatever its settings are: these objects come and go all the time, and no
// source brings them.
func alwaysExcluded(kind object.Kind) bool {
	switch kind.Group {
	case "events.k8s.io", "metrics.k8s.io":
		return true
	case "":
		return kind.Kind == "Event"
	case "coordination.k8s.io":
		return kind.Kind == "Lease"
	}
	return false
}

func (k *kindsOf) has(kind object.Kind) bool {
	if !matchesAny(k.groups, kind.Group) {
		return false
	}
	return len(k.kinds) == 0 || slices.ContainsFunc(k.kinds, func(name string) bool { return name == "*" || name == kind.Kind })
}

func matchesAny(patterns []glob, text string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p glob) bool { return p.match(text) })
}
