package crd_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1/crd"
)

// maxBytes is the size up to which a definition fits an API server with room to spare, also as an annotation of a
// client-side apply.
const maxBytes = 250 << 10

func definitions(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	manifests, err := crd.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*unstructured.Unstructured{}
	for _, raw := range manifests {
		if !strings.HasPrefix(string(raw), "# Code generated") {
			t.Error("a manifest does not say that it is generated")
		}
		doc, err := yaml.ToJSON(raw)
		if err != nil {
			t.Fatal(err)
		}
		if len(doc) > maxBytes {
			t.Errorf("a definition has %d bytes, more than %d", len(doc), maxBytes)
		}
		obj := &unstructured.Unstructured{}
		if err := json.Unmarshal(doc, obj); err != nil {
			t.Fatal(err)
		}
		out[obj.GetName()] = obj
	}
	return out
}

func TestNamesAndSubresourcesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		kind       string
		shortNames []string
		status     bool
		columns    []string
	}{
		{"applications.argoproj.io", "Application", []string{"app", "apps"}, false, []string{"Sync Status", "Health Status", "Revision", "Project"}},
		{"appprojects.argoproj.io", "AppProject", []string{"appproj", "appprojs"}, false, nil},
		{"applicationsets.argoproj.io", "ApplicationSet", []string{"appset", "appsets"}, true, nil},
	}
	all := definitions(t)
	if len(all) != len(tests) {
		t.Errorf("%d definitions, want %d", len(all), len(tests))
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			def := all[tc.name]
			if def == nil {
				t.Fatal("there is no such definition")
			}
			if got := def.GetAnnotations()[crd.AnnotationVersion]; got != strconv.Itoa(crd.Version) {
				t.Errorf("version annotation %q, want %d", got, crd.Version)
			}
			kind, _, _ := unstructured.NestedString(def.Object, "spec", "names", "kind")
			short, _, _ := unstructured.NestedStringSlice(def.Object, "spec", "names", "shortNames")
			if kind != tc.kind || !cmp.Equal(short, tc.shortNames) {
				t.Errorf("kind %s with short names %v", kind, short)
			}
			version := onlyVersion(t, def)
			_, status, _ := unstructured.NestedMap(version, "subresources", "status")
			if status != tc.status {
				t.Errorf("status subresource = %v, want %v", status, tc.status)
			}
			var columns []string
			list, _, _ := unstructured.NestedSlice(version, "additionalPrinterColumns")
			for _, c := range list {
				name, _, _ := unstructured.NestedString(c.(map[string]any), "name")
				columns = append(columns, name)
			}
			if diff := cmp.Diff(tc.columns, columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryObjectKeepsUnknownFields(t *testing.T) {
	t.Parallel()
	for name, def := range definitions(t) {
		root, _, err := unstructured.NestedMap(onlyVersion(t, def), "schema", "openAPIV3Schema")
		if err != nil {
			t.Fatal(err)
		}
		props := root["properties"].(map[string]any)
		delete(props, "metadata") // its schema is the API server's
		if n := checkKeeps(t, name, root); n < 10 {
			t.Errorf("%s: only %d objects were looked at", name, n)
		}
	}
}

// checkKeeps reports objects below path that drop unknown fields and returns how many objects there are.
func checkKeeps(t *testing.T, path string, node map[string]any) int {
	t.Helper()
	count := 0
	_, isMap := node["additionalProperties"]
	if node["type"] == "object" && !isMap {
		count++
		if node["x-kubernetes-preserve-unknown-fields"] != true {
			t.Errorf("%s drops unknown fields", path)
		}
	}
	props, _ := node["properties"].(map[string]any)
	for name, child := range props {
		count += checkKeeps(t, path+"."+name, child.(map[string]any))
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child, ok := node[key].(map[string]any); ok {
			count += checkKeeps(t, path+"[]", child)
		}
	}
	return count
}

func onlyVersion(t *testing.T, def *unstructured.Unstructured) map[string]any {
	t.Helper()
	versions, _, err := unstructured.NestedSlice(def.Object, "spec", "versions")
	if err != nil || len(versions) != 1 {
		t.Fatalf("%d versions, %v; want one", len(versions), err)
	}
	return versions[0].(map[string]any)
}
