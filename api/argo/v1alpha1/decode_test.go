package v1alpha1_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// sample returns a document of testdata as JSON.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	out, err := yaml.ToJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// plain decodes JSON without losing digits.
func plain(t *testing.T, raw []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

type kind struct {
	name   string
	file   string
	decode func([]byte) (runtime.Object, []string, error)
}

func kinds() []kind {
	return []kind{
		{"Application", "application.yaml", func(raw []byte) (runtime.Object, []string, error) {
			return v1alpha1.Decode(raw)
		}},
		{"AppProject", "appproject.yaml", func(raw []byte) (runtime.Object, []string, error) {
			return v1alpha1.DecodeProject(raw)
		}},
		{"ApplicationSet", "applicationset.yaml", func(raw []byte) (runtime.Object, []string, error) {
			return v1alpha1.DecodeApplicationSet(raw)
		}},
	}
}

func TestEveryFieldSurvivesDecodingAndEncoding(t *testing.T) {
	t.Parallel()
	for _, tc := range kinds() {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			raw := sample(t, tc.file)
			obj, unknown, err := tc.decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			if len(unknown) > 0 {
				t.Errorf("unknown fields in the sample: %v", unknown)
			}
			got, err := json.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(t, raw), plain(t, got)); diff != "" {
				t.Errorf("the document changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(obj, obj.DeepCopyObject()); diff != "" {
				t.Errorf("the deep copy differs:\n%s", diff)
			}
		})
	}
}

// TestSamplesSetEveryField keeps the test above honest: a field added to a type must be added to a sample too.
func TestSamplesSetEveryField(t *testing.T) {
	t.Parallel()
	set := map[string]bool{}
	for _, tc := range kinds() {
		obj, _, err := tc.decode(sample(t, tc.file))
		if err != nil {
			t.Fatal(err)
		}
		noteFields(reflect.ValueOf(obj), set)
	}
	for field, ok := range set {
		if !ok {
			t.Errorf("%s is set in no sample", field)
		}
	}
	if len(set) < 300 {
		t.Errorf("only %d fields were looked at", len(set))
	}
}

// noteFields notes for every field of this package's structs whether any value has it set.
func noteFields(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			noteFields(v.Elem(), set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			noteFields(v.Index(i), set)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			noteFields(v.MapIndex(key), set)
		}
	case reflect.Struct:
		if !strings.HasSuffix(v.Type().PkgPath(), "api/argo/v1alpha1") {
			return
		}
		for i := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			// History entry 0 is a real value, so ids count as set.
			set[name] = set[name] || !v.Field(i).IsZero() || name == "RevisionHistory.ID"
			noteFields(v.Field(i), set)
		}
	}
}

func TestUnknownFieldsAreNamedAndDoNotFail(t *testing.T) {
	t.Parallel()
	var fields []string
	for i := range 3 * v1alpha1.MaxUnknownFields {
		fields = append(fields, fmt.Sprintf(`"field%03d":1`, i))
	}
	many := `{"spec":{` + strings.Join(fields, ",") + `}}`
	tests := []struct {
		name string
		raw  string
		want []string
	}{
		{"none", `{"spec":{"project":"p"}}`, nil},
		{"in a source", `{"spec":{"source":{"repoURL":"u","fooBar":1}}}`, []string{"spec.source.fooBar"}},
		{"in a list, sorted", `{"zzz":1,"spec":{"sources":[{},{"helm":{"fooBar":{"deep":1}}}]}}`, []string{"spec.sources[1].helm.fooBar", "zzz"}},
		{"names differ in case", `{"spec":{"Project":"p"}}`, []string{"spec.Project"}},
		{"free-form values have none", `{"spec":{"source":{"repoURL":"u","helm":{"valuesObject":{"any":{"thing":1}}}}}}`, nil},
		{"long names are cut", `{"` + strings.Repeat("ä", 150) + `":1}`, []string{strings.Repeat("ä", 100) + "..."}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			app, got, err := v1alpha1.Decode([]byte(tc.raw))
			if err != nil || app == nil {
				t.Fatalf("Decode = %v, %v", app, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unknown fields (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("at most the limit are named", func(t *testing.T) {
		t.Parallel()
		_, got, err := v1alpha1.Decode([]byte(many))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != v1alpha1.MaxUnknownFields || got[0] != "spec.field000" {
			t.Errorf("%d names from %q on, want the first %d", len(got), got[0], v1alpha1.MaxUnknownFields)
		}
	})
}

func TestWrongDocumentsAreErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, raw, want string }{
		{"empty", ``, "read application"},
		{"no JSON", `{"spec":`, "read application"},
		{"wrong type", `{"spec":{"project":7}}`, "project"},
		{"a list for an object", `{"spec":[]}`, "spec"},
		{"too deep", strings.Repeat(`{"spec":`, 20000), "depth"},
		{"too large", `{"a":"` + strings.Repeat("x", v1alpha1.MaxObjectBytes) + `"}`, "more than the limit"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			app, unknown, err := v1alpha1.Decode([]byte(tc.raw))
			if err == nil || app != nil || unknown != nil {
				t.Fatalf("Decode = %v, %v, %v; want an error only", app, unknown, err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q does not contain %q", err, tc.want)
			}
		})
	}
}

func FuzzDecodeNeverPanics(f *testing.F) {
	f.Add([]byte(`{"spec":{"source":{"helm":{"valuesObject":null}}}}`))
	f.Add([]byte(`{"spec":{"sources":[null,{"kustomize":{"replicas":[{"count":"x"}]}}]},"status":{"reconciledAt":"no"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		app, _, err := v1alpha1.Decode(raw)
		if err != nil {
			return
		}
		if _, err := json.Marshal(app); err != nil {
			t.Errorf("a decoded application does not encode: %v", err)
		}
	})
}
