package manifest

import (
	"encoding/json"
	"testing"
)

func FuzzManifestFile(f *testing.F) {
	f.Add([]byte("kind: A\n---\nkind: List\nitems: [{kind: B}]\n---\n"))
	f.Add([]byte("{\"kind\":\"A\"}\n---\n# nothing\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("a: &a {b: 1}\n<<: *a\n\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := parse(raw)
		if err != nil {
			return
		}
		if len(all) > maxDocuments {
			t.Errorf("%d objects", len(all))
		}
		for _, obj := range all {
			if _, err := json.Marshal(obj); err != nil {
				t.Errorf("an object cannot be written: %v", err)
			}
		}
	})
}
