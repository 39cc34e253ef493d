package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// tally is a Meter that counts what cannot be kept.
type tally struct{ items, events chan int }

func (t tally) Batch(int, time.Duration, *agentapi.Error)             {}
func (t tally) Command(agentapi.Kind, agentapi.Status, time.Duration) {}
func (t tally) Rejected(items, events int)                            { t.items <- items; t.events <- events }
func (t tally) Missed(string)                                         {}

func keyed(kind agentapi.ItemKind, namespace, name string) agentapi.Item {
	body := json.RawMessage(`{"a":"b"}`)
	return agentapi.Item{Key: agentapi.Key{Kind: kind, Namespace: namespace, Name: name}, Hash: agentapi.Hash(body), Body: body}
}

func TestABadKeyIsRejectedAlone(t *testing.T) {
	t.Parallel()
	const kind = agentapi.ItemApplication
	for what, bad := range map[string]agentapi.Item{
		"an unknown kind":           keyed("secret", "argocd", "a"),
		"no kind":                   keyed("", "argocd", "a"),
		"no name":                   keyed(kind, "argocd", ""),
		"a long name":               keyed(kind, "argocd", strings.Repeat("x", 254)),
		"a very long name":          keyed(kind, "argocd", strings.Repeat("x", 100_000)),
		"a long s":                  keyed(kind, "argocd", "\u017fhop"),
		"a slash":                   keyed(kind, "argocd", "a/b"),
		"a way up":                  keyed(kind, "argocd", "../../etc"),
		"upper case":                keyed(kind, "argocd", "Shop"),
		"a blank":                   keyed(kind, "argocd", "a b"),
		"a line break":              keyed(kind, "argocd", "a\nb"),
		"a NUL":                     keyed(kind, "argocd", "a\x00b"),
		"another direction":         keyed(kind, "argocd", "a\u202eb"),
		"a hyphen at the end":       keyed(kind, "argocd", "a-"),
		"an empty label":            keyed(kind, "argocd", "a..b"),
		"a namespace with a dot":    keyed(kind, "argo.cd", "a"),
		"a namespace with a slash":  keyed(kind, "a/b", "a"),
		"a long namespace":          keyed(kind, strings.Repeat("n", 64), "a"),
		"a key with a slash":        keyed(agentapi.ItemGPGKey, "argocd", "a/b"),
		"a certificate with blanks": keyed(agentapi.ItemCertificate, "argocd", "ssh:host :rsa"),
		"a deletion":                {Key: agentapi.Key{Kind: kind, Namespace: "argocd", Name: "A"}, Deleted: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			meter := tally{make(chan int, 10), make(chan int, 10)}
			s := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) { c.Meter = meter })
			a := s.join(s.register("account.prod", "cluster"))
			ack := a.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("first"), bad, item("last")}})
			if ack.Error != nil || ack.Seq != 1 {
				t.Fatalf("the whole batch is refused: %+v", ack)
			}
			if got := s.names(a.uid); got != "first last" {
				t.Errorf("kept: %s", got)
			}
			if len(ack.Rejected) != 1 || ack.Rejected[0].Kind != bad.Kind || !strings.HasPrefix(bad.Name, ack.Rejected[0].Name) || ack.Rejected[0].Message == "" {
				t.Errorf("rejected: %+v", ack.Rejected)
			}
			if n := wait(t, meter.items, "the metric"); n != 1 {
				t.Errorf("%d items are counted", n)
			}
		})
	}
}

func TestNamesThatKubernetesTakesAreKept(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	ack := a.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{
		keyed(agentapi.ItemApplication, "argocd", strings.Repeat("x", 253)), keyed(agentapi.ItemApplication, "", "0"), keyed(agentapi.ItemApplicationSet, "a-b", "a.b-c.9"),
		keyed(agentapi.ItemRepository, "argocd", "repo-4242"), keyed(agentapi.ItemGPGKey, "argocd", "4AEE18F83AFDEB23"),
		keyed(agentapi.ItemCertificate, "argocd", "ssh:[git.example]:2222:ssh-ed25519"), keyed(agentapi.ItemCertificate, "argocd", "ssh:*.example:ssh-rsa"),
		keyed(agentapi.ItemCertificate, "argocd", "Git.example"), keyed(agentapi.ItemInstances, "argocd", "shop"),
	}})
	if ack.Error != nil || len(ack.Rejected) != 0 {
		t.Errorf("%+v", ack)
	}
}

func TestAKeyThatABatchHasTwiceIsRejectedAndTheOthersAreKept(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	again := item("twice")
	again.Deleted = true
	ack := a.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("first"), item("twice"), again, again, item("last")}})
	if ack.Error != nil || len(ack.Rejected) != 1 || ack.Rejected[0].Name != "twice" || !strings.Contains(ack.Rejected[0].Message, "3 times") {
		t.Errorf("%+v", ack)
	}
	if got := s.names(a.uid); got != "first last" {
		t.Errorf("kept: %s", got)
	}
}

func TestABadEventIsRejectedAlone(t *testing.T) {
	t.Parallel()
	meter := tally{make(chan int, 100), make(chan int, 100)}
	store := gatewaytest.NewMemory()
	s := start(t, store, func(c *gateway.Config) { c.Meter = meter })
	a := s.join(s.register("account.prod", "cluster"))
	good := func(id string) agentapi.Event {
		return agentapi.Event{ID: id, At: time.Now(), Type: agentapi.EventDrift, Target: item("shop").Key}
	}
	seq := int64(0)
	for what, spoil := range map[string]func(*agentapi.Event){
		"no id":       func(e *agentapi.Event) { e.ID = "" },
		"a long id":   func(e *agentapi.Event) { e.ID = strings.Repeat("x", 129) },
		"an odd id":   func(e *agentapi.Event) { e.ID = "a\x1bb" },
		"no type":     func(e *agentapi.Event) { e.Type = "" },
		"no time":     func(e *agentapi.Event) { e.At = time.Time{} },
		"an odd aim":  func(e *agentapi.Event) { e.Target.Name = "a/b" },
		"a weird aim": func(e *agentapi.Event) { e.Target.Kind = "secret" },
	} {
		seq++
		bad := good(fmt.Sprint("bad", seq))
		spoil(&bad)
		before := store.Events()
		ack := a.batch(agentapi.Batch{Seq: seq, Items: []agentapi.Item{item("shop")}, Events: []agentapi.Event{good(fmt.Sprint("a", seq)), bad, good(fmt.Sprint("b", seq))}})
		if ack.Error != nil || len(ack.RejectedEvents) != 1 || ack.RejectedEvents[0].ID != bad.ID || ack.RejectedEvents[0].Message == "" {
			t.Errorf("%s: %+v", what, ack)
		}
		if got := store.Events() - before; got != 2 {
			t.Errorf("%s: %d events are kept", what, got)
		}
		if n := wait(t, meter.events, "the metric"); n != 1 {
			t.Errorf("%s: %d events are counted", what, n)
		}
	}
}

func TestABadEntryOfAnInventoryLosesNoOther(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	items := []agentapi.Item{item("a"), item("b"), item("c")}
	if ack := a.batch(agentapi.Batch{Seq: 1, Items: items}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	list := entries(items...)
	list[1].Hash = "no hash"
	odd := agentapi.Entry{Key: agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "a/b"}, Hash: "1"}
	ack := a.batch(agentapi.Batch{Seq: 2, Inventory: &agentapi.Inventory{Last: true, Entries: append(list, odd)}})
	if ack.Error != nil || len(ack.Rejected) != 1 || ack.Rejected[0].Name != "a/b" {
		t.Errorf("%+v", ack)
	}
	if len(ack.Missing) != 1 || ack.Missing[0] != items[1].Key { // it is there, as something else than the copy
		t.Errorf("asked for: %v", ack.Missing)
	}
	if got := s.names(a.uid); got != "a b c" {
		t.Errorf("kept: %s", got)
	}
	// The same difference does not bring another inventory right away.
	var d agentapi.Digest
	for _, e := range append(slices.Clone(list), odd) {
		d = d.Toggle(e.Key, e.Hash)
	}
	if ack := a.beat(agentapi.Heartbeat{Digest: d}); ack.Error != nil || ack.Inventory {
		t.Errorf("the agent is asked for ever: %+v", ack)
	}
}
