package application

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/project"
)

// view is what rights depend on.
type view struct {
	kind, namespace, name, project string
	labels                         map[string]string
}

func (v view) is(other view) bool {
	return v.kind == other.kind && v.namespace == other.namespace && v.name == other.name && v.project == other.project && maps.Equal(v.labels, other.labels)
}

// byMaps is how the agent reads what it writes, byTypes how it and Argo CD read what is written, and byAnyCase how programs
// do that match names in any case.
func byMaps(t *testing.T, raw []byte) (v view, ok bool) {
	obj, err := object.DecodeJSON(raw)
	if err != nil {
		return v, false
	}
	name, sole := project.Belongs(obj)
	if sole {
		v.project = name
	}
	metadata, _ := obj["metadata"].(map[string]any)
	v.kind, _ = obj["kind"].(string)
	v.namespace, _ = metadata["namespace"].(string)
	v.name, _ = metadata["name"].(string)
	labels, _ := metadata["labels"].(map[string]any)
	v.labels = map[string]string{}
	for key, value := range labels {
		text, isText := value.(string)
		if !isText && value != nil {
			t.Errorf("label %q of %s is no text", key, raw)
		}
		v.labels[key] = text
	}
	return v, true
}

func byTypes(raw []byte) (v view, ok bool) {
	app, _, err := v1alpha1.Decode(raw)
	if err != nil {
		return v, false
	}
	return view{app.Kind, app.Namespace, app.Name, app.Spec.ProjectName(), app.Labels}, true
}

func byAnyCase(raw []byte) (v view, ok bool) {
	app := &v1alpha1.Application{}
	if json.Unmarshal(raw, app) != nil {
		return v, false
	}
	return view{app.Kind, app.Namespace, app.Name, app.Spec.ProjectName(), app.Labels}, true
}

// FuzzServerAndAgentReadAlike gives the same bytes to both, and to other readers.
func FuzzServerAndAgentReadAlike(f *testing.F) {
	const head = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","namespace":"argocd"`
	for _, seed := range []string{
		`},"spec":{"project":"team-a"}}`, `},"spec":{"project":"default","Project":"team-a"}}`, `},"spec":{"project":"a","project":"b"}}`,
		`},"spec":{"PROJECT":"a"}}`, `},"spec":{"pro\u006aect":"a","project":"b"}}`, `},"ſpec":{"project":"a"}}`, `},"\u212aind":"AppProject"}`,
		`,"labels":{"a":"b","A":"c"}},"spec":{}}`, `,"labels":{"a":1}}}`, `,"labels":{"a":null}}}`, `,"Labels":{"a":"b"}}}`, `,"name":"x"}}`, `},"spec":{"project":null}}`,
		`},"spec":{"project":"a\u0000"}}`, `},"spec":{"project":"\ud800"}}`, `},"spec":null}`, `},"spec":{"revisionHistoryLimit":12345678901234567890}}`,
		`},"spec":{"source":{"helm":{"valuesObject":{"a":9007199254740993,"b":1e400,"Project":1,"project":2}}}}}`, `},"spec":{"template":{"spec":{"project":"a"}}}}`,
		`}} {}`, `},"spec":{"x":{"Project":"y"},"project":"a"}}`,
	} {
		f.Add([]byte(head + seed))
	}
	n := &manifestNoun{kind: api.KindApplication, resource: "Application", called: "application"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := n.read(raw)
		if err != nil {
			return
		}
		server := view{m.Kind, m.Metadata.Namespace, m.Metadata.Name, m.project, m.Metadata.Labels}
		for what, bytes := range map[string][]byte{"as it came": raw, "in normal form": m.normal} {
			if agent, ok := byMaps(t, bytes); ok && !server.is(agent) {
				t.Errorf("%s, %s: the server reads %+v, and the agent %+v", bytes, what, server, agent)
			}
			if agent, ok := byTypes(bytes); ok && !server.is(agent) {
				t.Errorf("%s, %s: the server reads %+v, and the types %+v", bytes, what, server, agent)
			}
			if other, ok := byAnyCase(bytes); ok && !server.is(other) {
				t.Errorf("%s, %s: the server reads %+v, and others %+v", bytes, what, server, other)
			}
		}
	})
}
