package statement_test

import (
	"crypto"
	"testing"

	"github.com/slipway-gitops/slipway/internal/statement"
)

func FuzzStatement(f *testing.F) {
	f.Add([]byte(`{"payloadType":"application/vnd.slipway.releases+json","payload":"e30=","signatures":[{"sig":"AAAA"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s, err := statement.Verify(raw, []crypto.PublicKey{}); err == nil {
			t.Errorf("taken without a key: %+v", s)
		}
		if s, err := statement.Read(raw); err == nil && len(s.Releases) == 0 {
			t.Error("a statement without releases")
		}
	})
}
