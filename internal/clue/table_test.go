package clue

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// broken is one case of testdata/broken.yaml.
type broken struct {
	Name    string   `json:"name"`
	Objects []thing  `json:"objects"`
	Events  []tale   `json:"events"`
	Code    string   `json:"code"` // "": nothing is found
	Says    string   `json:"says"`
	Shows   []string `json:"shows"` // each is the beginning of a piece of evidence, in this order
	Next    string   `json:"next"`  // "": not looked at
	Minor   bool     `json:"minor"`
	Log     []string `json:"log"` // container, and current or previous
}

type thing struct {
	Group       string            `json:"group"`
	Kind        string            `json:"kind"`
	Name        string            `json:"name"`
	Owner       string            `json:"owner"`
	Created     string            `json:"created"`
	Deleted     string            `json:"deleted"`
	Finalizers  []any             `json:"finalizers"`
	Annotations map[string]string `json:"annotations"`
	Spec        map[string]any    `json:"spec"`
	Status      map[string]any    `json:"status"`
}

type tale struct {
	About, Container, Type, Reason, Message string
	Count                                   int64
}

func now() time.Time { return time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC) }

func groupOf(kind string) (group, resource string) {
	switch kind {
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet":
		group = "apps"
	case "Job", "CronJob":
		group = "batch"
	case "Ingress":
		return "networking.k8s.io", "ingresses"
	case "HorizontalPodAutoscaler":
		group = "autoscaling"
	case "ExternalSecret", "SecretStore", "ClusterSecretStore":
		group = "external-secrets.io"
	}
	return group, strings.ToLower(kind) + "s"
}

// object is a thing as an API server has it.
func (o thing) object() map[string]any {
	group, _ := groupOf(o.Kind)
	version := strings.TrimPrefix(firstWord(o.Group, group)+"/v1", "/")
	meta := map[string]any{
		"name": o.Name, "namespace": "shop", "uid": o.Kind + "/" + o.Name, "labels": map[string]any{"app": "web"},
		"creationTimestamp": firstWord(o.Created, "2030-05-06T11:00:00Z"),
	}
	if o.Owner != "" {
		kind, name, _ := strings.Cut(o.Owner, "/")
		meta["ownerReferences"] = []any{map[string]any{"kind": kind, "name": name, "uid": o.Owner}}
	}
	if o.Deleted != "" {
		meta["deletionTimestamp"] = o.Deleted
	}
	if o.Finalizers != nil {
		meta["finalizers"] = o.Finalizers
	}
	if o.Annotations != nil {
		notes := map[string]any{}
		for k, v := range o.Annotations {
			notes[k] = v
		}
		meta["annotations"] = notes
	}
	if group == "apps" || o.Kind == "Job" {
		o.Spec["selector"] = map[string]any{"matchLabels": map[string]any{"app": "web"}}
	}
	return map[string]any{"apiVersion": version, "kind": o.Kind, "metadata": meta, "spec": o.Spec, "status": o.Status}
}

func firstWord(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// memory is a Cluster of objects in memory. It selects as an API server does.
type memory struct {
	objects map[string][]map[string]any // by resource
	log     string
	err     error // of logs
	logged  []string
}

func (b *broken) memory() *memory {
	m := &memory{objects: map[string][]map[string]any{}}
	for _, o := range b.Objects {
		_, resource := groupOf(o.Kind)
		m.objects[resource] = append(m.objects[resource], o.object())
	}
	for i, e := range b.Events {
		about := map[string]any{"uid": e.About}
		if e.Container != "" {
			about["fieldPath"] = "spec.containers{" + e.Container + "}"
		}
		m.objects["events"] = append(m.objects["events"], map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint(i), "namespace": "shop"}, "involvedObject": about, "type": firstWord(e.Type, "Warning"),
			"reason": e.Reason, "message": e.Message, "count": max(e.Count, 1), "firstTimestamp": "2030-05-06T11:40:00Z", "lastTimestamp": "2030-05-06T11:59:30Z",
		})
	}
	return m
}

// Get implements Cluster.
func (m *memory) Get(_ context.Context, what schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	for _, o := range m.objects[what.Resource] {
		if nameOf(o) == name && object.Text(object.Dict(o, "metadata"), "namespace") == namespace {
			return o, nil
		}
	}
	return nil, nil
}

// List implements Cluster.
func (m *memory) List(_ context.Context, q Query) ([]map[string]any, error) {
	wanted, err := labels.Parse(q.Labels)
	if err != nil {
		return nil, err
	}
	fit, err := fields.ParseSelector(q.Fields)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, o := range m.objects[q.Resource] {
		set := labels.Set{}
		for k, v := range object.Dict(object.Dict(o, "metadata"), "labels") {
			set[k], _ = v.(string)
		}
		if wanted.Matches(set) && fit.Matches(fields.Set{"involvedObject.uid": object.Text(object.Dict(o, "involvedObject"), "uid")}) {
			out = append(out, o)
		}
	}
	return out, nil
}

// Log implements Cluster.
func (m *memory) Log(_ context.Context, namespace, pod, container string, previous bool) ([]byte, error) {
	m.logged = append(m.logged, fmt.Sprintf("%s/%s/%s %v", namespace, pod, container, previous))
	return []byte(m.log), m.err
}

func cases(t *testing.T) []broken {
	t.Helper()
	raw, err := os.ReadFile("testdata/broken.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []broken
	if err := yaml.UnmarshalStrict(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// look looks at the first object of a case.
func (b *broken) look(t *testing.T, m *memory, ask Ask) api.FindingsAnswer {
	t.Helper()
	root := b.Objects[0].object()
	group, _ := groupOf(b.Objects[0].Kind)
	ask.App, ask.Now = "web", now()
	return Look(t.Context(), m, []Root{{Key: keyOf(firstWord(b.Objects[0].Group, group), b.Objects[0].Kind, root), Object: root}}, ask)
}

func line(e api.Evidence) string {
	return strings.Join(strings.Fields(strings.Join([]string{e.Source, e.Object.Kind, e.Object.Name, e.Container, e.Text}, " ")), " ")
}

func TestTheFirstThingThatFailsIsFound(t *testing.T) {
	t.Parallel()
	all := cases(t)
	if len(all) < 30 {
		t.Errorf("there are %d broken workloads", len(all))
	}
	for _, b := range all {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			got := b.look(t, b.memory(), Ask{})
			if len(got.Warnings) > 0 {
				t.Errorf("warnings: %q", got.Warnings)
			}
			if b.Code == "" {
				if len(got.Items) > 0 {
					t.Errorf("it finds %+v", got.Items)
				}
				return
			}
			if len(got.Items) != 1 {
				t.Fatalf("it has %d findings", len(got.Items))
			}
			f := got.Items[0]
			if diff := cmp.Diff([]any{b.Code, b.Says, b.Minor}, []any{f.Code, f.What, f.Minor}); diff != "" {
				t.Error(diff)
			}
			if first := b.Objects[0]; f.Of.Kind != first.Kind || f.Of.Name != first.Name {
				t.Errorf("it is about %+v", f.Of)
			}
			if b.Next != "" && f.Next != b.Next {
				t.Errorf("next is %q", f.Next)
			}
			b.shown(t, f)
		})
	}
}

// shown compares the evidence and the log of a finding.
func (b *broken) shown(t *testing.T, f api.Finding) {
	t.Helper()
	var lines []string
	for _, e := range f.Evidence {
		lines = append(lines, line(e))
	}
	rest := lines
	for _, want := range b.Shows {
		for len(rest) > 0 && !strings.Contains(rest[0], want) {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			t.Errorf("%q is not shown, or not there, in:\n%s", want, strings.Join(lines, "\n"))
			return
		}
		rest = rest[1:]
	}
	if len(lines) == 0 {
		t.Error("nothing shows it")
	}
	if b.Log == nil {
		return
	}
	if f.Log == nil || f.Container != b.Log[0] || f.Log.Previous != (b.Log[1] == "previous") {
		t.Errorf("its log is %+v of container %s", f.Log, f.Container)
	}
}
