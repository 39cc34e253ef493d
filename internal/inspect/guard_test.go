package inspect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	obj, err := object.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

const (
	guardedMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","resourceVersion":"7","labels":{"team":"shop"},"managedFields":[{"manager":"x"}],
		"annotations":{"hide.me":"s3cr3t-value","note":"a","kubectl.kubernetes.io/last-applied-configuration":"{}"}},"data":{"a":"b"}}`
	guardedApp = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"shop","resourceVersion":"7"},
		"spec":{"project":"team-a","source":{"repoURL":"https://bob:s3cr3t-value@git.example.org/x","path":"."},"sources":[{"repoURL":"https://bob:s3cr3t-value@git.example.org/y"}]}}`
	guardedWrapper = `{"apiVersion":"kubernetes.crossplane.io/v1","kind":"Object","metadata":{"name":"w"},"spec":{"n":1,"forProvider":{"manifest":{"apiVersion":"v1","kind":"Secret","data":{"token":"czNjcjN0"}}}}}`
	guardedSecret  = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"token":"czNjcjN0"}}`
)

func TestAPatchThatReadsWhatIsHiddenIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, live string
		kind       PatchType
		patch      string
	}{
		{"any of a Secret", guardedSecret, PatchMerge, `{"metadata":{"labels":{"a":"b"}}}`},
		{"a copy within a Secret", guardedSecret, PatchJSON, `[{"op":"copy","from":"/data/token","path":"/metadata/annotations"}]`},
		{"a test of a Secret", guardedSecret, PatchJSON, `[{"op":"test","path":"/data/token","value":"x"}]`},
		{"a strategic one of a Secret", guardedSecret, PatchStrategic, `{"$patch":"delete"}`},
		{"a copy of an annotation", guardedMap, PatchJSON, `[{"op":"copy","from":"/metadata/annotations/hide.me","path":"/data/a"}]`},
		{"a move of one", guardedMap, PatchJSON, `[{"op":"move","from":"/metadata/annotations/hide.me","path":"/data/a"}]`},
		{"a copy of what it is in", guardedMap, PatchJSON, `[{"op":"copy","from":"/metadata/annotations","path":"/data"}]`},
		{"a copy of all metadata", guardedMap, PatchJSON, `[{"op":"copy","from":"/metadata","path":"/data/a"}]`},
		{"an escaped copy", guardedMap, PatchJSON, `[{"op":"copy","from":"/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration","path":"/data/a"}]`},
		{"a test of one", guardedMap, PatchJSON, `[{"op":"test","path":"/metadata/annotations/hide.me","value":"s3cr3t-value"}]`},
		{"a test of what it is in", guardedMap, PatchJSON, `[{"op":"test","path":"/metadata/annotations","value":{"hide.me":"x"}}]`},
		{"a path without its slash", guardedMap, PatchJSON, `[{"op":"copy","from":"x/metadata/annotations/hide.me","path":"/data/a"}]`},
		{"the whole object", guardedMap, PatchJSON, `[{"op":"test","path":"","value":{}}]`},
		{"another spelling of a field", guardedMap, PatchJSON, `[{"op":"copy","from":"/data/a","From":"/metadata/annotations/hide.me","path":"/data/c"}]`},
		{"an operation of a later standard", guardedMap, PatchJSON, `[{"op":"Copy","from":"/metadata/annotations/hide.me","path":"/data/c"}]`},
		{"a from where none belongs", guardedMap, PatchJSON, `[{"op":"add","from":"/metadata/annotations/hide.me","path":"/data/c","value":1}]`},
		{"a guess by a write", guardedMap, PatchMerge, `{"metadata":{"annotations":{"hide.me":"s3cr3t-value"}}}`},
		{"a guess by a step", guardedMap, PatchJSON, `[{"op":"replace","path":"/metadata/annotations/hide.me","value":"s3cr3t-value"}]`},
		{"a guess by all annotations", guardedMap, PatchJSON, `[{"op":"add","path":"/metadata/annotations","value":{"hide.me":"s3cr3t-value"}}]`},
		{"a guess by a directive", guardedMap, PatchStrategic, `{"metadata":{"annotations":{"$patch":"replace","hide.me":"x"}}}`},
		{"a guess by a directive for all", guardedMap, PatchStrategic, `{"$patch":"replace","metadata":{"annotations":{"hide.me":"x"}}}`},
		{"a copy of an address", guardedApp, PatchJSON, `[{"op":"copy","from":"/spec/source","path":"/spec/x"}]`},
		{"a test of one's password", guardedApp, PatchJSON, `[{"op":"test","path":"/spec/source/repoURL","value":"https://bob:s3cr3t-value@git.example.org/x"}]`},
		{"a test of an element counted from the end", guardedApp, PatchJSON, `[{"op":"test","path":"/spec/sources/-1","value":{}}]`},
		{"a guess of a password", guardedApp, PatchMerge, `{"spec":{"source":{"repoURL":"https://bob:guess@git.example.org/x"}}}`},
		{"a guess in a list", guardedApp, PatchMerge, `{"spec":{"sources":[{"repoURL":"https://bob:s3cr3t-value@git.example.org/y"}]}}`},
		{"a guess in a step", guardedApp, PatchJSON, `[{"op":"add","path":"/spec/x","value":["https://bob:s3cr3t-value@git.example.org/y"]}]`},
		{"a copy of a Secret within", guardedWrapper, PatchJSON, `[{"op":"copy","from":"/spec/forProvider/manifest/data/token","path":"/metadata/name"}]`},
		{"a copy of a part of what holds one", guardedWrapper, PatchJSON, `[{"op":"copy","from":"/spec/n","path":"/spec/m"}]`},
		{"a guess of a Secret within", guardedWrapper, PatchMerge, `{"spec":{"forProvider":{"manifest":{"data":{"token":"czNjcjN0"}}}}}`},
	} {
		g, err := Guard(read(t, tt.live), tt.kind, []byte(tt.patch), []string{"hide.me"})
		if err == nil {
			t.Errorf("%s: it became %s", tt.name, g.JSON)
		} else if strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "czNj") {
			t.Errorf("%s: the refusal has the value: %v", tt.name, err)
		}
	}
}

func TestAPatchThatReadsNothingHiddenIsTaken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, live string
		kind       PatchType
		patch      string
		pinned     bool
	}{
		{"an annotation", guardedMap, PatchMerge, `{"metadata":{"annotations":{"note":"b","new":"c"},"labels":{"team":"x"}}}`, false},
		{"data", guardedMap, PatchStrategic, `{"data":{"a":"c"}}`, false},
		{"what is hidden goes", guardedMap, PatchMerge, `{"metadata":{"annotations":{"hide.me":null}}}`, false},
		{"a step that removes", guardedMap, PatchJSON, `[{"op":"remove","path":"/metadata/annotations/hide.me"}]`, false},
		{"a test of a label", guardedMap, PatchJSON, `[{"op":"test","path":"/metadata/labels/team","value":"shop"},{"op":"replace","path":"/data/a","value":12345678901234567890}]`, true},
		{"a copy of data", guardedMap, PatchJSON, `[{"op":"copy","from":"/data/a","path":"/data/c"}]`, true},
		{"a new annotation", guardedMap, PatchJSON, `[{"op":"add","path":"/metadata/annotations/new","value":"x"}]`, false},
		{"another repository", guardedApp, PatchMerge, `{"spec":{"source":{"repoURL":"https://git.example.org/z"}}}`, false},
		{"the same one, as shown", guardedApp, PatchMerge, `{"spec":{"source":{"repoURL":"https://git.example.org/x","path":"y"}}}`, false},
		{"the version of an Application", guardedApp, PatchJSON, `[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"replace","path":"/spec/source/path","value":"y"}]`, true},
		{"beside a Secret within", guardedWrapper, PatchMerge, `{"spec":{"n":2}}`, false},
	} {
		g, err := Guard(read(t, tt.live), tt.kind, []byte(tt.patch), []string{"hide.me"})
		if err != nil || g.Pinned != tt.pinned {
			t.Errorf("%s: pinned %v, %v", tt.name, g.Pinned, err)
			continue
		}
		if !json.Valid(g.JSON) || strings.Contains(tt.patch, "12345678901234567890") != strings.Contains(string(g.JSON), "12345678901234567890") {
			t.Errorf("%s: it became %s", tt.name, g.JSON)
		}
	}
}

func TestAWrittenAddressDoesNotTryAPasswordOut(t *testing.T) {
	t.Parallel()
	live := read(t, guardedApp)
	for text, taken := range map[string]bool{
		`{"spec":{"source":{"repoURL":"https://bob:s3cr3t-value@git.example.org/x"}}}`: false,
		`{"spec":{"source":{"repoURL":"https://bob:another@git.example.org/x"}}}`:      false,
		`{"spec":{"source":{"repoURL":"https://bob:another@git.example.org/z"}}}`:      true,
		`{"spec":{"source":{"repoURL":"https://git.example.org/x"}}}`:                  true,
	} {
		if err := GuardWrite(live, read(t, text)); (err == nil) != taken {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzGuard(f *testing.F) {
	for _, seed := range []string{`[{"op":"copy","from":"/data/token","path":"/metadata/annotations/x"}]`, `{"metadata":{"annotations":{"hide.me":"x"}}}`, `[{"op":"test","path":"//~0~1/-1"}]`, `{"$patch":"replace"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, patch string) {
		for _, live := range []string{guardedMap, guardedApp, guardedWrapper, guardedSecret} {
			for _, kind := range []PatchType{PatchMerge, PatchJSON, PatchStrategic} {
				g, err := Guard(read(t, live), kind, []byte(patch), []string{"hide.me"})
				if err == nil && !json.Valid(g.JSON) {
					t.Fatalf("%q became %q", patch, g.JSON)
				}
				if err == nil && live == guardedSecret {
					t.Fatalf("%q is taken for a Secret", patch)
				}
			}
		}
	})
}
