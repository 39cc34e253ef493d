package seal

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The page's own sealing (web/src/lib/seal.ts) is held to the same file.
func TestWhatABrowserSealsOpens(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/vector.json")
	if err != nil {
		t.Fatal(err)
	}
	var vector struct {
		PrivateKey, PublicKey, Once, Sealed     string
		Agent, Verb, Type, Name, Project, Actor string
		Open, Fields                            map[string]string
		At                                      time.Time
	}
	if err := json.Unmarshal(raw, &vector); err != nil {
		t.Fatal(err)
	}
	private, _ := base64.StdEncoding.DecodeString(vector.PrivateKey)
	key, err := PrivateKeyFrom(private)
	if err != nil {
		t.Fatal(err)
	}
	if public, err := key.Public(); err != nil || public.String() != vector.PublicKey {
		t.Errorf("the key's public half is %s, %v, want %s", public, err, vector.PublicKey)
	}
	sealed, _ := base64.StdEncoding.DecodeString(vector.Sealed)
	got, err := Open(&key, sealed, Purpose{
		Agent: vector.Agent, Verb: vector.Verb, Type: vector.Type, Name: vector.Name, Project: vector.Project, Actor: vector.Actor, Open: vector.Open, At: vector.At,
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(vector.Fields, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
