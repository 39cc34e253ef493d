package diff

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// lastApplied is the annotation in which kubectl keeps what it applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// CompareOptions says what a comparison leaves out. The zero value leaves out nothing that matters.
type CompareOptions struct {
	// IgnorePaths are JSON pointers to ignored fields.
	IgnorePaths []string
	// IgnoreAggregatedRoles leaves out the rules of a role that another controller fills from other roles.
	IgnoreAggregatedRoles bool
	// Manager is the field manager that applies the objects; what it owned and does not want any more is to be removed.
	// Empty means to go by kubectl's last-applied annotation.
	Manager string
	// KeepMutations keeps what admission webhooks changed, for CompareDryRun; else only what Manager owns can differ.
	KeepMutations bool
}

// Normalize returns a copy of obj in the one spelling that can be compared: without what only the API server writes,
// without empty and null fields that mean the same as absent ones, quantities in canonical form, a Secret's stringData
// folded into its data. A nil object stays nil.
func Normalize(obj map[string]any, opts CompareOptions) map[string]any {
	if obj == nil {
		return nil
	}
	group, _ := object.SplitAPIVersion(object.Text(obj, "apiVersion"))
	n := normalizer{kind: object.Text(obj, "kind"), builtIn: servedByKubernetes(group)}
	if n.builtIn && group == "" && (n.kind == "Secret" || n.kind == "ConfigMap") {
		obj = shallow(obj)
		foldSecret(obj, n.kind)
	}
	out := n.fields(obj, "")
	delete(out, "status")
	cleanMeta(out)
	switch {
	case n.kind == "Endpoints" && group == "":
		sortEndpoints(out)
	case n.kind == "ClusterRole" && opts.IgnoreAggregatedRoles && out["aggregationRule"] != nil:
		delete(out, "rules")
	}
	return out
}

type normalizer struct {
	kind    string
	builtIn bool
}

func (n normalizer) fields(m map[string]any, parent string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if v == nil {
			continue
		}
		// A custom resource keeps an empty list as it is sent; the kinds of Kubernetes drop it.
		if list, ok := v.([]any); ok && len(list) == 0 && n.builtIn {
			continue
		}
		if n.builtIn && n.quantities(parent, k) {
			out[k] = canonicalQuantities(v)
			continue
		}
		out[k] = n.value(v, k)
	}
	return out
}

func (n normalizer) value(v any, field string) any {
	switch v := v.(type) {
	case map[string]any:
		return n.fields(v, field)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = n.value(item, field)
		}
		return out
	}
	return v
}

// quantities reports whether a field holds a quantity or a map of them.
func (n normalizer) quantities(parent, field string) bool {
	switch field {
	case "requests", "limits":
		return parent == "resources"
	case "sizeLimit", "divisor":
		return true
	case "hard":
		return n.kind == "ResourceQuota"
	case "capacity":
		return n.kind == "PersistentVolume"
	case "min", "max", "default", "defaultRequest":
		return n.kind == "LimitRange"
	case "averageValue", "value":
		return n.kind == "HorizontalPodAutoscaler" && parent != "labels" && parent != "annotations"
	}
	return false
}

func canonicalQuantities(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return canonicalQuantity(v)
	}
	out := make(map[string]any, len(m))
	for k, q := range m {
		if q != nil {
			out[k] = canonicalQuantity(q)
		}
	}
	return out
}

// maxQuantity bounds the text of a quantity, in bytes: longer ones are kept as they are.
const maxQuantity = 64

// canonicalQuantity keeps what is no quantity as it is: the API server will say so.
func canonicalQuantity(v any) any {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if text == "" || len(text) > maxQuantity {
		return v
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return v
	}
	return q.String()
}

// cleanMeta drops what identifies the stored object and not what is wanted, at every level where metadata occurs.
func cleanMeta(obj map[string]any) {
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, field := range [...]string{
		"managedFields", "resourceVersion", "uid", "selfLink", "generation", "creationTimestamp", "namespace",
	} {
		delete(meta, field)
	}
	if a, ok := meta["annotations"].(map[string]any); ok {
		delete(a, lastApplied)
	}
	for _, field := range [...]string{"annotations", "labels"} {
		if m, ok := meta[field].(map[string]any); ok && len(m) == 0 {
			delete(meta, field)
		}
	}
}

// FoldSecret turns the stringData of a Secret into data, in place, as the API server does on a write: a manager that
// applies stringData owns fields that cannot be read, and a change of what they became is not seen. Other objects stay as they
// are, and so does a Secret without stringData.
func FoldSecret(obj map[string]any) {
	if isSecret(obj) && obj["stringData"] != nil {
		foldSecret(obj, "Secret")
	}
}

// foldSecret turns stringData into data, as the API server does, and null values into empty ones. What is not text is
// kept: it is invalid, and so differs from everything that is stored.
func foldSecret(obj map[string]any, kind string) {
	data, ok := obj["data"].(map[string]any)
	if !ok && obj["data"] != nil {
		return
	}
	folded := make(map[string]any, len(data))
	for k, v := range data {
		if v == nil {
			v = ""
		}
		folded[k] = v
	}
	if plain, ok := obj["stringData"].(map[string]any); ok && kind == "Secret" {
		for k, v := range plain {
			switch s := v.(type) {
			case string:
				folded[k] = base64.StdEncoding.EncodeToString([]byte(s))
			case nil:
				folded[k] = ""
			default:
				folded[k] = v
			}
		}
		delete(obj, "stringData")
	}
	if delete(obj, "data"); len(folded) > 0 {
		obj["data"] = folded
	}
}

// sortEndpoints orders what has no order in an Endpoints object.
func sortEndpoints(obj map[string]any) {
	subsets, _ := obj["subsets"].([]any)
	for _, s := range subsets {
		subset, _ := s.(map[string]any)
		for _, field := range [...]string{"addresses", "notReadyAddresses", "ports"} {
			list, _ := subset[field].([]any)
			for _, item := range list {
				if port, ok := item.(map[string]any); ok && field == "ports" && port["protocol"] == nil {
					port["protocol"] = "TCP"
				}
			}
			sortByText(list)
		}
	}
	sortByText(subsets)
}

func sortByText(list []any) {
	text := func(v any) string {
		raw, _ := json.Marshal(v)
		return string(raw)
	}
	slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(text(a), text(b)) })
}

// servedByKubernetes reports whether a group belongs to Kubernetes itself. The suffix k8s.io does not decide: many
// custom resources have it.
func servedByKubernetes(group string) bool {
	switch group {
	case "", "apps", "batch", "autoscaling", "policy", "extensions", "events.k8s.io", "networking.k8s.io", "node.k8s.io",
		"rbac.authorization.k8s.io", "storage.k8s.io", "scheduling.k8s.io", "discovery.k8s.io", "coordination.k8s.io",
		"certificates.k8s.io", "resource.k8s.io", "storagemigration.k8s.io", "admissionregistration.k8s.io",
		"apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
		"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io":
		return true
	}
	return false
}

func shallow(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// dropPath removes what a JSON pointer points at; a pointer to nothing changes nothing.
func dropPath(value any, pointer string) any {
	head, rest, more := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	head = strings.ReplaceAll(strings.ReplaceAll(head, "~1", "/"), "~0", "~")
	switch v := value.(type) {
	case map[string]any:
		sub, ok := v[head]
		if !ok {
			return v
		}
		out := shallow(v)
		if more {
			out[head] = dropPath(sub, rest)
		} else {
			delete(out, head)
		}
		return out
	case []any:
		i, err := strconv.Atoi(head)
		if err != nil || i < 0 || i >= len(v) {
			return v
		}
		out := slices.Clone(v)
		if !more {
			return slices.Delete(out, i, i+1)
		}
		out[i] = dropPath(v[i], rest)
		return out
	}
	return value
}

func dropPaths(obj map[string]any, pointers []string) map[string]any {
	for _, p := range pointers {
		if p != "" && p != "/" {
			obj, _ = dropPath(obj, p).(map[string]any)
		}
	}
	return obj
}
