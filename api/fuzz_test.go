package api_test

import (
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func FuzzAge(f *testing.F) {
	for _, text := range []string{"", "7d", "1.5d", "24h", "-1h", "1e300d", "NaNd", "Infd", "0x1p-2d", "9223372036854775807ns"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if age, err := api.ParseAge(text); err == nil && age < 0 {
			t.Errorf("%q is %v: an age below 0", text, age)
		}
	})
}

func FuzzItemID(f *testing.F) {
	for _, id := range []string{"account.prod/argocd/web", "org.acme.prod//x", "a/b/c/d", "//", "account.prod/argocd/%2e%2e", "account.prod/argocd/a\x00b"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		agent, namespace, name, err := api.ParseItemID(id)
		if err != nil {
			return
		}
		if back := api.ItemID(agent, namespace, name); back != id {
			t.Errorf("%q was read as %q, %q and %q, which is %q", id, agent, namespace, name, back)
		}
	})
}
