package hosting

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who may use a cluster is said in one way, or nobody may.
func TestASettingOfAClusterHasOneMeaningOrPermitsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		scopes     int
	}{
		"plain":             {text: "scopes: [org.acme]\n", scopes: 1},
		"empty":             {text: ""},
		"a key twice":       {text: "scopes: [org.acme]\nscopes: [account]\n", want: "already set"},
		"other case beside": {text: "scopes: [org.acme]\nScopes: [account]\n", want: "names are exact, write scopes"},
		"an unknown field":  {text: "scope: org.acme\n", want: "there is no field scope"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "prod.yaml"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Clusters(dir).setting("prod")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if len(got.Scopes) != c.scopes {
			t.Errorf("%s: scopes %v", name, got.Scopes)
		}
	}
}
