package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

func TestALineIsShortTextWithoutControlCharacters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(8, 50).Draw(t, "limit")
		got := gateway.Line(rapid.String().Draw(t, "text"), limit)
		if len(got) > limit || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r\x7f") {
			t.Errorf("%q", got)
		}
	})
}

func TestWhatIsRemovedWasMissingAndNeverMost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var kept []gateway.Entry
		inventory := map[agentapi.Key]string{}
		total, alive := map[agentapi.ItemKind]int{}, 0
		for n := range rapid.IntRange(0, 30).Draw(t, "entries") {
			e := gateway.Entry{Stale: rapid.Bool().Draw(t, "stale")}
			e.Key = agentapi.Key{Kind: rapid.SampledFrom(agentapi.ItemKinds()[:2]).Draw(t, "kind"), Name: fmt.Sprint(n)}
			e.Hash = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "hash")
			kept = append(kept, e)
			if !e.Stale {
				total[e.Kind]++
				alive++
			}
			if rapid.Bool().Draw(t, "there") {
				inventory[e.Key] = "1"
			}
		}
		same := rapid.Bool().Draw(t, "same cluster")
		r, missing := gateway.Compare(kept, inventory, same)
		if 2*len(r.Remove) > alive || !same && len(r.Remove) > 0 {
			t.Errorf("%d of %d are removed", len(r.Remove), alive)
		}
		removed := map[agentapi.ItemKind]int{}
		for _, key := range append(r.Remove, r.MarkStale...) {
			if _, there := inventory[key]; there {
				t.Errorf("%s is there and yet lost", key)
			}
		}
		for _, key := range r.Remove {
			removed[key.Kind]++
		}
		for kind, n := range removed {
			if 2*n > total[kind] {
				t.Errorf("%d of %d %ss are removed", n, total[kind], kind)
			}
		}
		for _, key := range missing {
			for _, e := range kept {
				if e.Key == key && e.Hash == inventory[key] {
					t.Errorf("%s is asked for and there", key)
				}
			}
		}
	})
}

func TestAnAddressHasItsOwnLimit(t *testing.T) {
	t.Parallel()
	rate := gateway.NewAddressRate(2)
	for ip, want := range map[string]int{"10.0.0.1": 2, "10.0.0.2": 2, "2001:db8::1": 2, "nonsense": 2} {
		got := 0
		for range 5 {
			if gateway.Allow(rate, ip) {
				got++
			}
		}
		if got != want {
			t.Errorf("%s may %d times", ip, got)
		}
	}
	for _, same := range []string{"::ffff:10.0.0.1", "2001:db8::ffff:2", "other nonsense"} {
		if gateway.Allow(rate, same) {
			t.Errorf("%s counts as another one", same)
		}
	}
	for n := range 20_000 { // nobody gets a fresh limit by trying from very many addresses at once
		gateway.Allow(rate, fmt.Sprintf("10.1.%d.%d", n/256, n%256))
		if n%1000 == 0 && gateway.Allow(rate, "10.0.0.1") {
			t.Fatal("the limit was forgotten")
		}
	}
}

func FuzzMessages(f *testing.F) {
	store := gatewaytest.NewMemory()
	uid := registered(f, store)
	g := bare(f, store)
	f.Cleanup(g.Forget)
	for verb, data := range map[string]string{
		"hello":     `{"protocol":1,"clusterUID":"c","namespace":"n"}`,
		"heartbeat": `{"epoch":2,"digest":"ff","components":[{"name":"a","status":"Healthy"}],"running":["a"]}`,
		"state":     `{"epoch":2,"seq":1,"items":[{"kind":"application","name":"a","hash":"1","body":{}}],"inventory":{"part":0,"last":true}}`,
		"result":    `{"epoch":2,"result":{"id":"a","status":"done","body":{}}}`,
		"rotate":    `{"epoch":2,"publicKey":"U"}`,
	} {
		f.Add(verb, []byte(data))
	}
	f.Fuzz(func(t *testing.T, verb string, data []byte) {
		_ = g.Handle(t.Context(), uid, verb, data)
	})
}
