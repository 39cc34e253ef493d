package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/cli/manifest"
)

const (
	head = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\n"
	app  = head + "spec:\n  project: shop\n"
	list = "kind: List\nitems:\n- kind: A\n"
	item = "- apiVersion: argoproj.io/v1alpha1\n  kind: AppProject\n  metadata: {name: a}\n"
)

func TestAFileHasOneMeaningOrIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a key comes twice":              {app + "  project: other\n", `:6: read YAML: key "project" already set in map`},
		"twice in the second document":   {"# one\n" + app + "---\n" + app + "  project: other\n", `:13: read YAML: key "project" already set`},
		"twice in JSON":                  {"{\n\"kind\": \"A\",\n\"spec\": {\"a\": 1,\n\"a\": 2}}", ":4: spec: the name a comes twice"},
		"twice, once by an escape":       {"{\"kind\": \"A\",\n\"k\\u0069nd\": \"B\"}", ":2: the name kind comes twice"},
		"one key in two spellings":       {"kind: A\nspec: {8: a, \"8\": b}\n", ":1: a map has the same key in two spellings"},
		"other case":                     {app + "  Source: {repoURL: x}\n", ":6: spec: there is no field Source: names are exact"},
		"other case beside":              {app + "  Project: other\n", ":6: spec: there is no field Project"},
		"other case of the kind":         {"apiVersion: v1\nKind: Application\n", ":2: there is no field Kind: names are exact, write kind"},
		"other case in the metadata":     {"kind: A\nmetadata:\n  Name: b\n", ":3: metadata: there is no field Name"},
		"other case in a list":           {app + "  sources:\n  - repoURL: a\n  - repoUrl: b\n", ":8: spec.sources[1]: there is no field"},
		"other case by an alias":         {"x: &x {Project: a}\n" + head + "spec: *x\n", ":1: spec: there is no field Project"},
		"other case in a List":           {list + item + "  spec:\n    SourceRepos: []\n", ":8: items[1].spec: there is no field SourceRepos"},
		"other case in an item's header": {list + "- Kind: B\n", ":4: items[1]: there is no field Kind"},
		"the Kelvin sign":                {"apiVersion: v1\n\u212aind: A\n", `:2: there is no field "\u212aind"`},
		"a number that is not kept":      {"kind: A\nspec: {n: 18446744073709551615}\n", ":1: Kubernetes does not keep the whole number 1844"},
		"a number of JSON that is lost":  {"{\"kind\": \"A\",\n\"n\": 12345678901234567891}", ":2: n: Kubernetes does not keep"},
		"no YAML":                        {"kind: A\n---\nkind: [\n", ":3: read YAML: "},
		"a list":                         {"kind: A\n---\n\n- a\n", ":3: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "given.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			docs, err := manifest.Read(file, nil)
			if err == nil {
				t.Fatalf("it is taken: %v", docs)
			}
			if want := "read manifest " + file + c.want; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %v\nwant %s…", err, want)
			}
			_, err = manifest.Read("-", strings.NewReader(c.text))
			if want := "read manifest standard input" + c.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %v\nwant %s…", err, want)
			}
		})
	}
}

func TestWhatHasOneMeaningIsTaken(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"letters apart in free parts":    app + "  source:\n    helm:\n      valuesObject: {Project: a, project: b}\n",
		"letters apart of another kind":  "kind: ConfigMap\nmetadata: {name: a}\ndata: {A: x, a: y}\n",
		"a field that is not known":      app + "  later: {Project: a}\n",
		"an anchor and its aliases":      "kind: A\na: &a {b: 1}\nc: [*a, *a]\n",
		"a text with NUL of other kinds": "kind: A\nx: \"\\0\"\n",
		"a byte order mark":              "\ufeff" + app,
		"Windows line ends":              strings.ReplaceAll(app, "\n", "\r\n"),
		"JSON with its own escapes":      `{"kind": "A", "x": "\ud83d\ude00\/"}`,
		"JSON over lines with tabs":      "{\n\t\"kind\": \"A\"\n}\n",
		"a document on its separator":    "--- {kind: A}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if docs, err := manifest.Read("-", strings.NewReader(text)); err != nil || len(docs) != 1 {
				t.Errorf("got %v, %v", docs, err)
			}
		})
	}
}

// Everything that a small file can be made to cost ends soon, and in few words.
func TestAHostileFileCostsLittle(t *testing.T) {
	t.Parallel()
	bomb := "kind: A\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		line := string(c) + ": &" + string(c) + " ["
		bomb += line + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	for name, text := range map[string]string{
		"aliases that multiply": bomb,
		"depth":                 "x: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"depth of JSON":         `{"x":` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + "}",
		"a name as a file":      app + "  " + strings.Repeat("P", 1<<20) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := manifest.Read("-", strings.NewReader(text)); err == nil || len(err.Error()) > 1200 {
				t.Errorf("got %.300v", err)
			}
		})
	}
}
