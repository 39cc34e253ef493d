package diff

import (
	"fmt"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func groupOf(apiVersion string) string {
	group, _ := object.SplitAPIVersion(apiVersion)
	return group
}

// merger predicts an apply without knowing the schema of the kind: lists of Kubernetes' own kinds are merged by the
// keys that are known for their names.
type merger struct {
	custom  bool // the kind is a custom resource: its lists are replaced whole
	partial bool // what was applied before lists only fields without another owner
}

// fields merges want into have and removes what before has and want has not. The arguments stay as they are.
func (m merger) fields(want, have, before map[string]any) map[string]any {
	out := shallow(have)
	for k, w := range want {
		if h, ok := have[k]; ok {
			w = m.value(k, w, h, before[k])
		}
		out[k] = w
	}
	for k, b := range before {
		_, wanted := want[k]
		h, ok := out[k]
		if wanted || !ok {
			continue
		}
		if rest, some := m.remainder(k, h, b); some {
			out[k] = rest
		} else {
			delete(out, k)
		}
	}
	return out
}

func (m merger) value(field string, want, have, before any) any {
	switch w := want.(type) {
	case map[string]any:
		if h, ok := have.(map[string]any); ok {
			b, _ := before.(map[string]any)
			return m.fields(w, h, b)
		}
	case []any:
		if h, ok := have.([]any); ok {
			b, _ := before.([]any)
			return m.list(field, w, h, b)
		}
	}
	return want
}

// remainder is what is left of have when the fields of before go; false when nothing is.
func (m merger) remainder(field string, have, before any) (any, bool) {
	if !m.partial {
		return nil, false
	}
	switch b := before.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok || len(b) == 0 {
			return nil, false
		}
		rest := m.fields(nil, h, b)
		return rest, len(rest) > 0
	case []any:
		h, ok := have.([]any)
		if !ok {
			return nil, false
		}
		rest, _ := m.list(field, nil, h, b).([]any)
		return rest, len(rest) > 0
	}
	return nil, false
}

func (m merger) list(field string, want, have, before []any) any {
	if field == "finalizers" {
		return mergeSet(want, have, before)
	}
	if m.custom {
		return want
	}
	if keys := listKeys(field, want, have, before); keys != nil {
		return m.keyed(keys, want, have, before)
	}
	if len(want) != len(have) || len(want) == 0 {
		return want
	}
	// Without a key, the items can only be identified by their place: good enough to see through defaults.
	out := make([]any, len(want))
	for i := range want {
		var b any
		if len(before) == len(want) {
			b = before[i]
		}
		out[i] = m.value(field, want[i], have[i], b)
	}
	return out
}

func (m merger) keyed(keys []string, want, have, before []any) []any {
	wanted, old := byKey(keys, want), byKey(keys, before)
	out := make([]any, 0, len(have)+len(want))
	done := map[string]bool{}
	for _, item := range have {
		h, _ := item.(map[string]any)
		id, _ := keyOf(keys, item)
		switch w, ok := wanted[id]; {
		case ok:
			b := shallow(old[id])
			for _, k := range keys {
				delete(b, k) // a key is part of the item, also where it is a default that is not sent any more
			}
			out = append(out, m.fields(w, h, b))
			done[id] = true
		case old[id] == nil:
			out = append(out, item)
		}
	}
	for _, item := range want {
		if id, _ := keyOf(keys, item); !done[id] {
			out = append(out, item)
		}
	}
	return out
}

func mergeSet(want, have, before []any) []any {
	in := func(list []any, v any) bool {
		for _, item := range list {
			if sameValue(item, v) {
				return true
			}
		}
		return false
	}
	var out []any
	for _, v := range have {
		if in(want, v) || !in(before, v) {
			out = append(out, v)
		}
	}
	for _, v := range want {
		if !in(have, v) {
			out = append(out, v)
		}
	}
	return out
}

// listKeys names the fields that identify the items of a list of Kubernetes' own kinds; nil where the items have no
// identity, or where the lists at hand do not fit.
func listKeys(field string, lists ...[]any) []string {
	candidates := [][]string{}
	switch field {
	case "containers", "initContainers", "ephemeralContainers", "env", "volumes", "imagePullSecrets", "secrets",
		"resourceClaims", "webhooks", "matchConditions", "schedulingGates":
		candidates = append(candidates, []string{"name"})
	case "volumeMounts":
		candidates = append(candidates, []string{"mountPath"})
	case "volumeDevices":
		candidates = append(candidates, []string{"devicePath"})
	case "hostAliases", "addresses", "podIPs", "hostIPs":
		candidates = append(candidates, []string{"ip"})
	case "conditions":
		candidates = append(candidates, []string{"type"})
	case "ownerReferences":
		candidates = append(candidates, []string{"uid"})
	case "topologySpreadConstraints":
		candidates = append(candidates, []string{"topologyKey", "whenUnsatisfiable"})
	case "ports":
		candidates = append(candidates, []string{"containerPort", "protocol"}, []string{"port", "protocol"})
	}
	for _, keys := range candidates {
		if identified(keys, lists) {
			return keys
		}
	}
	return nil
}

// identified reports whether keys distinguish all items of every list.
func identified(keys []string, lists [][]any) bool {
	for _, list := range lists {
		seen := make(map[string]bool, len(list))
		for _, item := range list {
			id, ok := keyOf(keys, item)
			if !ok || seen[id] {
				return false
			}
			seen[id] = true
		}
	}
	return true
}

func keyOf(keys []string, item any) (string, bool) {
	m, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	id := ""
	for _, k := range keys {
		v, ok := m[k]
		switch v := v.(type) {
		case string:
			id += "s" + v + "\x00"
			continue
		case int64, float64:
			id += fmt.Sprintf("n%v\x00", v)
			continue
		}
		if ok || k != "protocol" {
			return "", false
		}
		id += "sTCP\x00" // the API server's default, and part of the key
	}
	return id, true
}

func byKey(keys []string, list []any) map[string]map[string]any {
	out := make(map[string]map[string]any, len(list))
	for _, item := range list {
		id, _ := keyOf(keys, item)
		out[id], _ = item.(map[string]any)
	}
	return out
}
