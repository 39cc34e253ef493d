package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

func gather(t *testing.T, text string) ([]object.Manifest, error) {
	t.Helper()
	s := NewSet(1<<20, 100)
	err := s.AddYAML("web.yaml", []byte(text))
	return s.Manifests(), err
}

func TestYAMLFileGivesItsObjects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"one document", config, []string{"ConfigMap a"}},
		{"documents with comments after the separator", "--- # first\n" + config + "---   \n" + strings.Replace(config, "a}", "b}", 1), []string{"ConfigMap a", "ConfigMap b"}},
		{"a ruler separates", config + "-----\n" + config, []string{"ConfigMap a", "ConfigMap a"}},
		{"a document on the line of its separator", "--- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n", []string{"ConfigMap a"}},
		{"empty documents and comments", "---\n# nothing\n---\n\n---\n~\n" + "---\n" + config + "---\n", []string{"ConfigMap a"}},
		{"Windows line ends", strings.ReplaceAll(config+"---\n"+config, "\n", "\r\n"), []string{"ConfigMap a", "ConfigMap a"}},
		{"a byte order mark", "\ufeff" + config, []string{"ConfigMap a"}},
		{"a separator inside a block of text stays text", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: |\n    ---\n    x\n", []string{"ConfigMap a"}},
		{"JSON objects one after another", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}` + "\n" + `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"b"}}`, []string{"ConfigMap a", "Secret b"}},
		{"a List", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns}}\n- null\n", []string{"Pod ns/a"}},
		{"a typed list gives its items their type", "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: a}\n", []string{"Deployment.apps a"}},
		{"a list in a list", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]}\n", []string{"Pod a"}},
		{"an empty and a null list", "apiVersion: v1\nkind: PodList\nitems: []\n---\napiVersion: v1\nkind: PodList\nitems:\n", nil},
		{"an object with items and a name is no list", "apiVersion: e.com/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [x]\n", []string{"AllowList.e.com a"}},
		{"a generated name", "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\n", []string{"Job.batch "}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := gather(t, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, m := range got {
				keys = append(keys, m.Key.String())
			}
			if d := cmp.Diff(tc.want, keys); d != "" {
				t.Errorf("objects (-want +got):\n%s", d)
			}
		})
	}
}

func TestErrorNamesFileLineAndWhatIsWrong(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	long := "x: &x \"" + strings.Repeat("y", 100_000) + "\"\nz: [" + strings.Repeat("*x,", 100) + "]\n"
	tests := []struct{ name, text, want string }{
		{"bad syntax in the second document", config + "---\napiVersion: v1\nkind: [\nmetadata: {}\n", "web.yaml:"},
		{"a template that was not rendered", "apiVersion: v1\nname: {{ .Values.x }}-y\n", "web.yaml:2: read YAML: "},
		{"no kind", config + "---\n\nfoo: bar\n", "web.yaml:5: document 2: the object has no kind"},
		{"no apiVersion", "kind: Pod\n", "web.yaml:1: document 1: Pod has no apiVersion"},
		{"no name", "---\n" + "apiVersion: v1\nkind: Pod\n", "web.yaml:2: document 1: Pod has no metadata.name"},
		{"a namespace that YAML reads as a boolean", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: no}\n", "metadata of Pod: namespace is not a text; quote it"},
		{"a text", "just text\n", "web.yaml:1: document 1: it is not an object"},
		{"an annotation that is no text", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {on-call: true}}\n", `Pod a: metadata.annotations contains non-string value in the map under key "on-call"`},
		{"an annotation that is null", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n    note:\n", `under key "note"; it is null: write "" for an empty text, or remove the key`},
		{"a label that is a map", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {app: {x: y}}}\n", `under key "app"; it is a map: write a text`},
		{"a label that is a list", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {app: [x]}}\n", `under key "app"; it is a list: write a text`},
		{"a label that is a number", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {app: 1}}\n", `under key "app"; quote it`},
		{"a namespace that is a list", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: [b]}\n", "namespace is not a text; it is a list: write a text"},
		{"infinity", config + "x: .inf\n", "web.yaml:1: "},
		{"deep nesting", config + "x: " + deep + "\n", "nested deeper than 500 levels"},
		{"an alias bomb", config + bomb, "excessive aliasing"},
		{"aliases of a long text", config + long, "limit exceeded"},
		{"half a UTF-16 unit", "\xff\xfe\x00", "odd number of bytes"},
		{"too many objects", strings.Repeat(config+"---\n", 101), "more than 100 objects"},
		{"a huge document", config + "x: " + strings.Repeat("y", MaxDocument), "web.yaml:1: document 1 is larger than 4 MiB"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := gather(t, tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %.300v, want one with %q", err, tc.want)
			}
			if !strings.HasPrefix(err.Error(), "web.yaml:") || len(err.Error()) > 500 {
				t.Errorf("the error names no file or is too long: %.300v", err)
			}
		})
	}
}

func TestErrorDoesNotShowValuesOfAnnotations(t *testing.T) {
	t.Parallel()
	_, err := gather(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {pin: 12345678}}\n")
	if err == nil || strings.Contains(err.Error(), "12345678") {
		t.Errorf("got %v", err)
	}
}

func TestUTF16IsRead(t *testing.T) {
	t.Parallel()
	for name, big := range map[string]bool{"little endian": false, "big endian": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			for _, u := range utf16.Encode([]rune("\ufeff" + config)) {
				if big {
					b.Write([]byte{byte(u >> 8), byte(u)})
				} else {
					b.Write([]byte{byte(u), byte(u >> 8)})
				}
			}
			if got, err := gather(t, b.String()); err != nil || len(got) != 1 {
				t.Errorf("%d objects, error %v", len(got), err)
			}
		})
	}
}

func TestJSONFileHoldsOneObject(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want string
		line int
	}{
		"an object":   {text: `{"kind": "Pod"}`},
		"empty":       {text: " \n"},
		"two objects": {text: "{}\n{}", want: "one object", line: 1},
		"an array":    {text: "[{}]", want: "one object", line: 1},
		"cut off":     {text: "{\n\"a\": [\n", want: "read JSON", line: 3},
		"a comma":     {text: "{\n\"a\": 1,\n}", want: "read JSON", line: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadJSON([]byte(tc.text))
			if tc.want == "" && err == nil {
				return
			}
			var e *Error
			if !errors.As(err, &e) || tc.want == "" || !strings.Contains(err.Error(), tc.want) || e.Line != tc.line {
				t.Errorf("got %v, want %q on line %d", err, tc.want, tc.line)
			}
		})
	}
}

// corpus are documents whose reading is compared with that of Kubernetes' own library.
func corpus() []string {
	return []string{
		config,
		string(service(1)),
		"a: 1\nb: 1.0\nc: 1e3\nd: 0x1F\ne: 0o17\nf: 017\ng: 1_000\nh: -0\ni: 18446744073709551615\nj: 1e400\nk: .5\nl: 12e03\nm: +5\nn: 0b11\n",
		"a: yes\nb: no\nc: on\nd: Off\ne: y\nf: ~\ng: null\nh: true\ni: 'yes'\nj: \"1\"\nk: Null\nl:\n",
		"yes: 1\n1: 2\n1.5: 3\ntrue: 4\nnull: 5\n",
		"1: a\n2.5: b\non: c\n\"on\": d\n",
		"a: 2024-01-01\nb: 2024-01-01T00:00:00Z\nc: 12:30:45\nd: 1.2.3\ne: 1:20\n",
		"a: |\n  one\n   two\n\n  three\n\nb: |-\n  x\nc: |+\n  y\n\n\nd: >\n  folded\n  text\n",
		"a: |2\n   x\nb: |\n\n  x\nc: |\n", "a: |\n  x", "a: |-\n  x\n \nb: 1\n",
		"a:\n- 1\n- b: 2\n  c: 3\n-\n  d: 4\n- - 1\n  - 2\n-\n- {x: 1}\n- []\n",
		"a:\n  - 1\n  # comment\n  - 2 # comment\nb: c#d\ne: 'f # g'\nh: i #j\n",
		"a: plain\n  continued\nb: \"x\\ty\\u00e9\\\n  z\"\nc: 'it''s'\n",
		"a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n",
		"? complex\n: value\n", "a: !!str 1\nb: !custom x\n", "a: !!binary aGk=\n",
		"- 1\n- 2\n", "text\n", "\"quoted: key\": 1\n'single': 2\n", "a: b: c\n", "a: [1, {b: c}, \"d, e\"]\n",
		"\ta: 1\n", "a: 1\n\tb: 2\n", "a:\n\t- b\n", "a: 1\n  b: 2\n", "a:\n  b: 1\n c: 2\n", "a: 1\na: 2\n",
		"a: <&>\u2028\u2029\x7f\nb: \"\\x01\"\n", "a: \xff\xfe\n", "a: é 世界\nb: \"🎉\"\n", "a: x\u0085y\n", "a: \x01\n",
		"a: @b\n", "a: `b`\n", "a: %b\n", "a: -b\nc: - b\n", "a: ?b\nc: :d\ne: f:\n", "a: }\n", "a: [\n", "a: b]\n",
		"%YAML 1.1\n---\na: 1\n", "a: 1\n...\nb: 2\n", "a: ''\nb: \"\"\nc: ' '\n", "a:  spaced  \nb:\ttab\n", "a : b\n",
		"metadata:\n  labels: {}\n  list: []\n  empty:\nspec: {a: b, c: [d, e], }\n", "a:\n\n\n  b: 1\n\n\n# end\n", "   a: 1\n   b: 2\n",
		"a:\n- b:\n  - c: 1\n    d:\n      e: f\n  g: h\n", "a:\n- b\nc:\n  - d\n- e\n", "- a: 1\n b: 2\n", "a: \"b\" c\n", "a: 'b\n  c'\n",
		"a: |\n\tx\n", "a: |\n  x\n\ty\n", "a: | # comment\n  x\n", "a: |x\n  y\n", "a: >-\n", "key with spaces: 1\n", "a: b  # c\n#d\n e: f\n",
		"<<: {a: 1}\n", "~: 1\n", "=: 1\n", "a: =\n", "-: 1\n", "--: 1\n", "a: -\n", "a: ---\n", "a: ,\n", "a: x,y\n", "a: {\"b\":1}\n",
		"a: " + strings.Repeat("x", 2000) + "\n", strings.Repeat("k", 1100) + ": 1\n", "\"" + strings.Repeat("k", 1100) + "\": 1\n",
	}
}

// compare reads one document here and with the library that kubectl uses.
func compare(t *testing.T, text string) {
	t.Helper()
	got, err := decodeYAML([]byte(text))
	raw, wantErr := yaml.YAMLToJSON([]byte(text))
	var want any
	if wantErr == nil {
		if want, wantErr = decodeJSON(raw); wantErr == nil {
			// Bytes that are no UTF-8 are replaced where JSON is written, in both.
			raw, wantErr = json.Marshal(want)
		}
	}
	if wantErr != nil {
		if err == nil {
			t.Fatalf("%q was read as %s, the library says: %v", text, got.appendJSON(nil), wantErr)
		}
		return
	}
	if err != nil {
		if strings.Contains(err.Error(), "a key is null") || strings.Contains(err.Error(), "in two spellings") {
			return // the library takes the first for an error too, and leaves the second to chance
		}
		t.Fatalf("%q: %v, the library reads %s", text, err, raw)
	}
	if out := got.appendJSON(nil); !bytes.Equal(out, raw) {
		t.Fatalf("%q\n got %s\nwant %s", text, out, raw)
	}
}

func TestDocumentIsReadAsKubernetesReadsIt(t *testing.T) {
	t.Parallel()
	for i, text := range corpus() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			compare(t, text)
			compare(t, strings.ReplaceAll(text, "\n", "\r\n"))
		})
	}
}

func FuzzDocumentIsReadAsKubernetesReadsIt(f *testing.F) {
	for _, text := range corpus() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		compare(t, text)
		// A directive behind a separator is an error here, and nothing for kubectl. Behind a JSON object kubectl takes any text
		// for a further document; here it goes, as it does behind an object in YAML.
		if !strings.ContainsAny(text, "%{") {
			readAlike(t, text)
		}
	})
}

func TestBothWaysToAManifestGiveEqualBytes(t *testing.T) {
	t.Parallel()
	got, err := gather(t, string(service(1)))
	if err != nil {
		t.Fatal(err)
	}
	var obj map[string]any
	if err := yaml.Unmarshal(service(1), &obj); err != nil {
		t.Fatal(err)
	}
	want, err := object.NewManifest(obj)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet(1<<20, 1)
	if err := s.AddObject("x", obj); err != nil {
		t.Fatal(err)
	}
	for _, m := range []object.Manifest{got[0], s.Manifests()[0]} {
		if d := cmp.Diff(string(want.JSON), string(m.JSON)); d != "" || want.Key != m.Key || want.Version != m.Version {
			t.Errorf("%v against %v (-want +got):\n%s", want.Key, m.Key, d)
		}
	}
}

func TestHostileFilesCostLittle(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"many small JSON objects":  strings.Repeat("{}\n", MaxDocument/3),
		"a key as long as a file":  "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {" + strings.Repeat("k", MaxDocument/2) + ": 1}}\n",
		"a kind as long as a file": "kind: " + strings.Repeat("k", MaxDocument/2) + "\n",
		"open brackets":            strings.Repeat("{", MaxDocument/2),
		"open lists":               strings.Repeat("- ", MaxDocument/4),
		"separators":               strings.Repeat("---\n", MaxDocument),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, err := gather(t, text)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("reading took %s", took)
			}
			if err != nil && len(err.Error()) > 1100 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			t.Logf("%s: %.80v", time.Since(start), err)
		})
	}
}
