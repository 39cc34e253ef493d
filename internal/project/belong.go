package project

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// defaultName is the project of what names none.
const defaultName = "default"

// Belongs is the project that a resource of Argo CD's belongs to: an Application, an ApplicationSet with all that it makes, or
// an AppProject. Server and agent ask it about the same document, so that what is judged is what is written. Sole is false
// where the resource may be of any project: rights for all of them are needed then. It is decided by what is there and never
// by how a text looks, since a template can write a name in many ways.
func Belongs(resource map[string]any) (name string, sole bool) {
	spec, _ := resource["spec"].(map[string]any)
	switch resource["kind"] {
	case v1alpha1.KindApplicationSet:
		return setBelongs(resource, spec)
	case v1alpha1.KindAppProject:
		metadata, _ := resource["metadata"].(map[string]any)
		name, _ = metadata["name"].(string)
		return name, name != ""
	}
	return named(spec["project"])
}

// named is the project that a field names.
func named(field any) (name string, sole bool) {
	if field == nil {
		return defaultName, true
	}
	name, sole = field.(string)
	if name == "" {
		name = defaultName
	}
	return name, sole
}

// setBelongs finds the one project of all that a set can make: its template names it literally, and neither a patch, nor the
// template of a generator, nor a field that is not known here can name another one.
func setBelongs(set, spec map[string]any) (name string, sole bool) {
	template, _ := spec["template"].(map[string]any)
	of, _ := template["spec"].(map[string]any)
	name, sole = named(of["project"])
	if !sole || !literal(name) || !absent(spec["templatePatch"]) || !known(set) || !generate(spec["generators"], name) {
		return "", false
	}
	return name, true
}

// literal reports whether a name has no letter that a template acts on.
func literal(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == ""
}

func absent(v any) bool { return v == nil || v == "" }

// known reports whether all fields of a set are known here: what the others do is not.
func known(set map[string]any) bool {
	raw, err := json.Marshal(map[string]any{"spec": set["spec"]})
	if err != nil {
		return false
	}
	_, unknown, err := v1alpha1.DecodeApplicationSet(raw)
	return err == nil && len(unknown) == 0
}

// generate reports whether generators leave the project as it is. Argo CD reads those within others by names in any case.
func generate(generators any, name string) bool {
	list, isList := generators.([]any)
	return generators == nil || isList && !slices.ContainsFunc(list, func(one any) bool {
		generator, ok := one.(map[string]any)
		if !ok {
			return true
		}
		for kind, of := range generator {
			if !generatorKeeps(kind, of, name) {
				return true
			}
		}
		return false
	})
}

// generatorKeeps reports whether one generator leaves the project as it is.
func generatorKeeps(kind string, of any, name string) bool {
	if of == nil {
		return slices.Contains(append(simpleGenerators(), "matrix", "merge", "selector"), kind)
	}
	fields, ok := of.(map[string]any)
	nested := kind == "matrix" || kind == "merge"
	switch {
	case kind == "selector":
		return true
	case !ok, !nested && !slices.Contains(simpleGenerators(), kind), !exactly(fields, "template", "generators"):
		return false
	case !nested && fields["generators"] != nil:
		return false
	}
	return keeps(fields["template"], name) && generate(fields["generators"], name)
}

// simpleGenerators are those that hold no others.
func simpleGenerators() []string {
	return []string{"list", "clusters", "git", "scmProvider", "clusterDecisionResource", "pullRequest", "plugin"}
}

// keeps reports whether a generator's own template leaves the project as it is.
func keeps(template any, name string) bool {
	if template == nil {
		return true
	}
	fields, ok := template.(map[string]any)
	if !ok || !exactly(fields, "spec") {
		return false
	}
	spec, ok := fields["spec"].(map[string]any)
	if fields["spec"] != nil && !ok || !exactly(spec, "project") {
		return false
	}
	return absent(spec["project"]) || spec["project"] == name
}

// exactly reports whether no field has one of these names in other letters.
func exactly(fields map[string]any, names ...string) bool {
	for field := range fields {
		for _, name := range names {
			if field != name && strings.EqualFold(field, name) {
				return false
			}
		}
	}
	return true
}
