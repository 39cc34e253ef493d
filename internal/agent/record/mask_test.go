package record

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestASecretWithinAnObjectIsHashedInTheLedger(t *testing.T) {
	t.Parallel()
	obj, err := object.DecodeJSON([]byte(`{"apiVersion":"kubernetes.crossplane.io/v1","kind":"Object","metadata":{"name":"w"},
		"spec":{"size":2,"list":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"token":"czNjcjN0"},"stringData":{"text":"s3cr3t"}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := object.NewManifest(obj)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := masker{key: []byte("k"), cluster: "c", object: m.Key}.mask(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"czNjcjN0", "s3cr3t"} {
		if strings.Contains(string(raw), value) {
			t.Errorf("the ledger holds %s: %s", value, raw)
		}
	}
	if !strings.Contains(string(raw), `"size":2`) || !strings.Contains(string(raw), `"token":"hmac:`) {
		t.Errorf("the rest became %s", raw)
	}
}
