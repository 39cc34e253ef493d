package object

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestATrackingIDNamesItsApplicationForItsOwnObjectOnly(t *testing.T) {
	t.Parallel()
	web := Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	role := Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:web"}
	tests := []struct {
		name, id string
		key      Key
		app      string
	}{
		{"its own", "guestbook:apps/Deployment:shop/web", web, "guestbook"},
		{"an Application of another namespace", "team_guestbook:apps/Deployment:shop/web", web, "team_guestbook"},
		{"a core kind", "a:/ConfigMap:shop/c", Key{Kind: "ConfigMap", Namespace: "shop", Name: "c"}, "a"},
		{"a cluster-scoped object, whose name has a colon", "a:rbac.authorization.k8s.io/ClusterRole:shop/system:web", role, "a"},
		{"another name", "guestbook:apps/Deployment:shop/api", web, ""},
		{"another namespace", "guestbook:apps/Deployment:other/web", web, ""},
		{"another kind", "guestbook:apps/StatefulSet:shop/web", web, ""},
		{"another group", "guestbook:extensions/Deployment:shop/web", web, ""},
		{"no Application", ":apps/Deployment:shop/web", web, ""},
		{"nothing", "", web, ""},
		{"a name alone", "guestbook", web, ""},
		{"no namespace", "guestbook:apps/Deployment:web", web, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if app, ok := TrackedBy(test.id, test.key); app != test.app || ok != (test.app != "") {
				t.Errorf("%q, %t; want %q", app, ok, test.app)
			}
		})
	}
}

func TestATrackingIDIsReadBack(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z][a-z0-9.-]{0,10}`)
	rapid.Check(t, func(t *rapid.T) {
		k := Key{Kind: word.Draw(t, "kind"), Name: word.Draw(t, "name")}
		if rapid.Bool().Draw(t, "in a group") {
			k.Group = word.Draw(t, "group")
		}
		if rapid.Bool().Draw(t, "in a namespace") {
			k.Namespace = word.Draw(t, "namespace")
		}
		app := InstanceName(word.Draw(t, "application namespace"), word.Draw(t, "application"), "argocd")
		if got, ok := TrackedBy(TrackingID(app, k, "somewhere"), k); !ok || got != app {
			t.Fatalf("%q, %t; want %q", got, ok, app)
		}
	})
}

func TestInstanceNamesTellNamespacesApart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ namespace, want string }{{"argocd", "web"}, {"", "web"}, {"team", "team_web"}} {
		if got := InstanceName(test.namespace, "web", "argocd"); got != test.want {
			t.Errorf("in %q: %q, want %q", test.namespace, got, test.want)
		}
	}
}

func TestEqualObjectsHaveEqualManifests(t *testing.T) {
	t.Parallel()
	one, err := DecodeJSON([]byte(`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"namespace":"shop","name":"web"},"spec":{"replicas":3,"b":1.5,"a":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	two, err := DecodeJSON([]byte(`{"spec":{"a":null,"b":1.5,"replicas":3},"metadata":{"name":"web","namespace":"shop"},"apiVersion":"apps/v1","kind":"Deployment"}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewManifest(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewManifest(two)
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash() != b.Hash() || a.APIVersion() != "apps/v1" || a.Key != (Key{"apps", "Deployment", "shop", "web"}) {
		t.Errorf("%+v and %+v", a, b)
	}
	tree, err := a.Decode()
	if d := cmp.Diff(one, tree); d != "" || err != nil {
		t.Errorf("decoded (-sent +got), error %v:\n%s", err, d)
	}
	tree["spec"].(map[string]any)["replicas"] = int64(4)
	if c, err := NewManifest(tree); err != nil || c.Hash() == a.Hash() {
		t.Errorf("a changed object has the same hash, error %v", err)
	}
}

func TestAnObjectWithoutIdentityIsNamedByWhatIsMissing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"apiVersion":"v1"}`:                                                  "no kind",
		`{"kind":"ConfigMap"}`:                                                 "no apiVersion",
		`{"kind":"ConfigMap","apiVersion":"v1"}`:                               "no metadata.name",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":"a"}`:                "no metadata.name",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":{"a":"b"}}}`: "no metadata.name",
	} {
		obj, err := DecodeJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewManifest(obj); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `"a"`, `{`} {
		if _, err := DecodeJSON([]byte(text)); err == nil {
			t.Errorf("%q is an object", text)
		}
	}
}

func TestAManifestPrintsNoContent(t *testing.T) {
	t.Parallel()
	m, err := NewManifest(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "shop"}, "stringData": map[string]any{"a": "hunter2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.String(); got != "Secret shop/s" {
		t.Errorf("%q", got)
	}
}

func TestAnAnnotationIsSetWhereverMetadataIs(t *testing.T) {
	t.Parallel()
	for _, obj := range []map[string]any{
		{},
		{"metadata": map[string]any{}},
		{"metadata": nil},
		{"metadata": map[string]any{"annotations": nil}},
		{"metadata": map[string]any{"annotations": map[string]any{"b": "2"}}},
	} {
		SetAnnotation(obj, "a", "1")
		if got := Annotation(obj, "a"); got != "1" {
			t.Errorf("%v: %q", obj, got)
		}
	}
}
