package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// names returns what is kept of an agent, stale ones with a mark.
func (s *server) names(uid string) string {
	s.t.Helper()
	entries, err := s.store.Entries(s.t.Context(), uid)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Stale {
			e.Name += "?"
		}
		names = append(names, e.Name)
	}
	return strings.Join(names, " ")
}

func entries(items ...agentapi.Item) []agentapi.Entry {
	var all []agentapi.Entry
	for _, i := range items {
		all = append(all, agentapi.Entry{Key: i.Key, Hash: i.Hash})
	}
	return all
}

func TestWhatIsAcknowledgedIsKept(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	event := agentapi.Event{ID: "e", At: time.Now(), Type: agentapi.EventSyncStarted, Target: item("a").Key}
	batch := agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("a"), item("b")}, Events: []agentapi.Event{event}}
	for range 2 { // the answer to the first was lost
		if ack := a.batch(batch); ack.Error != nil || ack.Seq != 1 {
			t.Fatalf("answer %+v", ack)
		}
	}
	if got := s.names(a.uid); got != "a b" || s.store.Events() != 1 {
		t.Errorf("kept: %s, %d events", got, s.store.Events())
	}
	if ack := a.beat(agentapi.Heartbeat{Digest: digest(item("a"), item("b"))}); ack.Inventory {
		t.Error("an inventory is asked for although the digests agree")
	}
	if ack := a.batch(agentapi.Batch{Seq: 2, Items: []agentapi.Item{{Key: item("a").Key, Deleted: true}}}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	if ack := a.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("a")}}); ack.Error == nil || ack.Error.Code != agentapi.CodeStale {
		t.Errorf("an earlier batch: %+v", ack)
	}
	if got := s.names(a.uid); got != "b" {
		t.Errorf("kept: %s", got)
	}
	removed := false
	for len(s.changes) > 0 {
		for _, c := range (<-s.changes).Items {
			removed = removed || c.Removed && c.Key == item("a").Key && c.Scope == "account"
		}
	}
	if !removed {
		t.Error("nobody was told that a is gone")
	}
}

// TestABatchThatIsSentAgainNeedsNoInventory has a batch arrive whose acknowledgement is lost.
func TestABatchThatIsSentAgainNeedsNoInventory(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	a := s.join(i)
	batch := agentapi.Batch{Seq: 1, Items: []agentapi.Item{item("a"), item("b")}}
	if ack := a.batch(batch); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	again := s.connect(i)
	if w := again.unsure(0); w.Error != nil || w.Inventory {
		t.Errorf("an inventory is asked for before the batch is sent again: %+v", w)
	}
	if ack := again.batch(batch); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	if ack := again.beat(agentapi.Heartbeat{Digest: digest(batch.Items...)}); ack.Error != nil || ack.Inventory {
		t.Errorf("the copies differ: %+v", ack)
	}
	if ack := again.beat(agentapi.Heartbeat{Digest: digest(item("a"))}); !ack.Inventory {
		t.Error("what differs is not noticed any more")
	}
}

func TestAfterABreakOnlyWhatDiffersIsSent(t *testing.T) {
	t.Parallel()
	store := gatewaytest.NewMemory()
	s := start(t, store)
	i := s.register("account.prod", "cluster")
	a := s.join(i)
	items := []agentapi.Item{item("a"), item("b"), item("c")}
	if ack := a.batch(agentapi.Batch{Seq: 1, Items: items}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	again := s.connect(i)
	if w := again.hello(digest(items...)); w.Inventory {
		t.Error("an inventory is asked for although nothing changed")
	}
	items[1].Hash = "1234"
	third := s.connect(i)
	if w := third.hello(digest(items...)); !w.Inventory {
		t.Error("no inventory is asked for although b changed")
	}
	ack := third.batch(agentapi.Batch{Seq: 1, Inventory: &agentapi.Inventory{Last: true, Entries: entries(items...)}})
	if diff := cmp.Diff(agentapi.Ack{Seq: 1, Missing: []agentapi.Key{items[1].Key}}, ack); diff != "" {
		t.Error(diff)
	}
	if ack := third.batch(agentapi.Batch{Seq: 2, Items: items[1:2]}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	if ack := third.beat(agentapi.Heartbeat{Digest: digest(items...)}); ack.Inventory {
		t.Error("they still differ")
	}
}

func TestWhatDeletesAndWhatIsOnlyNotSeen(t *testing.T) {
	t.Parallel()
	all := []agentapi.Item{item("a"), item("b"), item("c"), item("d")}
	tests := []struct {
		name      string
		cluster   string
		inventory []agentapi.Item
		want      string
		stale     int
	}{
		{"one was deleted while nobody looked", "cluster", all[1:], "b c d", 0},
		{"half of them", "cluster", all[2:], "c d", 0},
		{"most of them", "cluster", all[3:], "a? b? c? d", 3},
		{"a wiped agent", "cluster", nil, "a? b? c? d?", 4},
		{"another cluster took the identity over", "other", all[1:], "a? b c d", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var ahead time.Duration
			s := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) {
				c.Now = func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					return time.Now().Add(ahead)
				}
			})
			i := s.register("account.prod", "cluster")
			if ack := s.join(i).batch(agentapi.Batch{Seq: 1, Items: all}); ack.Error != nil {
				t.Fatal(ack.Error)
			}
			mu.Lock()
			ahead = time.Minute
			mu.Unlock()
			i.cluster = test.cluster
			a := s.connect(i)
			if w := a.hello(digest(test.inventory...)); !w.Inventory {
				t.Fatal("no inventory is asked for")
			}
			ack := a.batch(agentapi.Batch{Seq: 1, Inventory: &agentapi.Inventory{Last: true, Entries: entries(test.inventory...)}})
			if ack.Error != nil || ack.Stale != test.stale {
				t.Errorf("answer %+v", ack)
			}
			if got := s.names(i.uid); got != test.want {
				t.Errorf("kept: %s, want %s", got, test.want)
			}
			if ack := a.beat(agentapi.Heartbeat{Digest: digest(test.inventory...)}); ack.Inventory {
				t.Error("an inventory is asked for again and again")
			}
			if h, _ := s.gateway.Health(i.uid); h.Stale != test.stale || (h.Message != "") != (test.stale > 0) {
				t.Errorf("health %+v", h)
			}
			// What comes back is kept as before, without being sent.
			ack = a.batch(agentapi.Batch{Seq: 2, Inventory: &agentapi.Inventory{Last: true, Entries: entries(all...)}})
			if len(ack.Missing) != 4-test.stale-len(test.inventory) || ack.Stale != 0 {
				t.Errorf("all is there again: %+v", ack)
			}
		})
	}
}

func TestInstancesThatAreNotToldAreGone(t *testing.T) {
	t.Parallel()
	pods := func(name string) agentapi.Item {
		return agentapi.Item{
			Key:  agentapi.Key{Kind: agentapi.ItemInstances, Namespace: "argocd", Name: name},
			Hash: agentapi.Hash([]byte(name)), Body: json.RawMessage(`{"ready":1,"total":1}`),
		}
	}
	apps := []agentapi.Item{item("a"), item("b")}
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	if ack := s.join(i).batch(agentapi.Batch{Seq: 1, Items: append(apps[:2:2], pods("pods-of-a"), pods("pods-of-b"))}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	a := s.connect(i)
	if w := a.hello(digest(apps...)); !w.Inventory {
		t.Fatal("no inventory is asked for")
	}
	ack := a.batch(agentapi.Batch{Seq: 1, Inventory: &agentapi.Inventory{Last: true, Entries: entries(apps...)}})
	if ack.Error != nil || ack.Stale != 0 {
		t.Errorf("answer %+v", ack)
	}
	if got := s.names(i.uid); got != "a b" {
		t.Errorf("kept: %s, want a b", got)
	}
}

func TestAnInventoryComesInParts(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	part := func(n int, last bool, items ...agentapi.Item) *agentapi.Inventory {
		return &agentapi.Inventory{Part: n, Last: last, Entries: entries(items...)}
	}
	if ack := a.batch(agentapi.Batch{Seq: 1, Inventory: part(0, false, item("a"))}); ack.Error != nil || ack.Missing != nil {
		t.Errorf("the first part: %+v", ack)
	}
	if ack := a.batch(agentapi.Batch{Seq: 2, Inventory: part(2, true, item("b"))}); ack.Error == nil || ack.Error.Code != agentapi.CodeMalformed {
		t.Errorf("a part too early: %+v", ack)
	}
	a.batch(agentapi.Batch{Seq: 3, Inventory: part(0, false, item("a"))})
	for range 2 { // the answer to the first was lost
		if ack := a.batch(agentapi.Batch{Seq: 4, Inventory: part(1, true, item("b"))}); len(ack.Missing) != 2 {
			t.Errorf("the last part: %+v", ack)
		}
	}
}

func TestWhatAnInventoryHadNoRoomToNameIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	const named = 2000 // as many as one answer has room for
	var items []agentapi.Item
	for n := range named + 1 {
		items = append(items, item(fmt.Sprintf("app-%d", n)))
	}
	seq := int64(0)
	inventory := func() agentapi.Ack {
		seq += 2
		a.batch(agentapi.Batch{Seq: seq - 1, Inventory: &agentapi.Inventory{Entries: entries(items[:named]...)}})
		return a.batch(agentapi.Batch{Seq: seq, Inventory: &agentapi.Inventory{Part: 1, Last: true, Entries: entries(items[named:]...)}})
	}
	ack := inventory()
	if ack.Error != nil || len(ack.Missing) != named {
		t.Fatalf("%d named, error %v", len(ack.Missing), ack.Error)
	}
	// The agent may have forgotten that more was to come: it began anew, or is of another version.
	if ack := a.beat(agentapi.Heartbeat{Digest: digest(items...)}); !ack.Inventory {
		t.Error("the rest is never asked for")
	}
	seq++
	if ack := a.batch(agentapi.Batch{Seq: seq, Items: items[:named]}); ack.Error != nil {
		t.Fatal(ack.Error)
	}
	if ack := inventory(); ack.Error != nil || len(ack.Missing) != 1 {
		t.Errorf("%d are missing the second time: %v", len(ack.Missing), ack.Error)
	}
	if ack := a.beat(agentapi.Heartbeat{Digest: digest(items...)}); ack.Inventory {
		t.Error("an answer that had room for all is asked for again")
	}
}

func TestAnItemThatCannotBeKeptDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	bad := func(name, body string) agentapi.Item {
		i := item(name)
		i.Body = json.RawMessage(body)
		return i
	}
	deep := bad("deep", strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200))
	ack := a.batch(agentapi.Batch{Seq: 1, Items: []agentapi.Item{
		item("good"), deep, bad("nul", `{"a":"\u0000"}`), bad("nul2", `{"a":"\\\u0000"}`), bad("no-nul", `{"a":"\\u0000"}`), bad("list", `[]`),
		bad("large", `{"a":"`+strings.Repeat("x", agentapi.MaxItem)+`"}`),
		{Key: agentapi.Key{Kind: agentapi.ItemApplication, Name: "hash"}, Hash: "xyz", Body: json.RawMessage(`{}`)},
	}})
	var rejected []string
	for _, r := range ack.Rejected {
		rejected = append(rejected, r.Name)
	}
	if diff := cmp.Diff([]string{"deep", "list", "large", "hash"}, rejected); diff != "" {
		t.Error(diff)
	}
	if got := s.names(a.uid); got != "good no-nul nul nul2" { // what no database keeps was made legible
		t.Errorf("kept: %s", got)
	}
}

func TestWhateverAnAgentSendsTheServerAnswersOrForgets(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.hostile", "cluster")
	a := s.join(i)
	other := s.join(s.register("account.other", "other"))
	var told struct{ Error *agentapi.Error }
	tests := []struct {
		subject, data string
		want          agentapi.Code
	}{
		{agentapi.UpHello(i.uid), "", agentapi.CodeMalformed},
		{agentapi.UpHello(i.uid), "\x00\xff", agentapi.CodeMalformed},
		{agentapi.UpHello(i.uid), `{"protocol":2}`, agentapi.CodeProtocol},
		{agentapi.UpHello(i.uid), `{"protocol":1,"clusterUID":"a b","namespace":"x"}`, agentapi.CodeMalformed},
		{agentapi.UpHello(i.uid), `{"protocol":1,"clusterUID":"a","namespace":"x","sealKey":"AAAA"}`, agentapi.CodeMalformed},
		{agentapi.UpHello(i.uid), strings.Repeat("x", agentapi.MaxRegistration+1), agentapi.CodeTooLarge},
		{agentapi.UpHeartbeat(i.uid), `{"epoch":1,"digest":12}`, agentapi.CodeMalformed},
		{agentapi.UpHeartbeat(i.uid), `{"epoch":9999}`, agentapi.CodeFenced},
		{agentapi.UpHeartbeat(i.uid), `{"epoch":1,"components":` + "[" + strings.Repeat("{},", 40) + "{}]}", agentapi.CodeMalformed},
		{agentapi.UpState(i.uid), `[]`, agentapi.CodeMalformed},
		{agentapi.UpState(i.uid), strings.Repeat("[", 10_001), agentapi.CodeMalformed},
		{agentapi.UpState(i.uid), strings.Repeat("x", agentapi.MaxBatch+1), agentapi.CodeTooLarge},
		{agentapi.UpState(i.uid), `{"epoch":EPOCH,"seq":0}`, agentapi.CodeMalformed},
		{agentapi.UpState(i.uid), `{"epoch":EPOCH,"seq":5,"inventory":{"part":7,"last":true}}`, agentapi.CodeMalformed},
		{agentapi.UpState(i.uid), `{"epoch":EPOCH,"seq":5,"inventory":{"part":-1}}`, agentapi.CodeMalformed},
		{agentapi.UpResult(i.uid), `{"epoch":EPOCH,"result":{"id":"a.b","status":"done"}}`, agentapi.CodeMalformed},
		{agentapi.UpResult(i.uid), `{"epoch":EPOCH,"result":{"id":"a","status":"sent"}}`, agentapi.CodeMalformed},
		{agentapi.UpRotate(i.uid), `{"epoch":EPOCH,"publicKey":"x"}`, agentapi.CodeSignature},
	}
	for _, test := range tests {
		told.Error = nil
		a.askRaw(test.subject, []byte(strings.ReplaceAll(test.data, "EPOCH", fmt.Sprint(a.epoch))), &told)
		if told.Error == nil || told.Error.Code != test.want {
			t.Errorf("%s %.60q: %v, want %s", test.subject, test.data, told.Error, test.want)
		}
	}
	for _, subject := range []string{"x", "reply", "reply.a.b", "stream.*.x", "reply.unknown", "stream.unknown", "hello.x", "rotate.x.y.z"} {
		if err := a.conn.Publish("slipway."+i.uid+".up."+subject, []byte("\xff")); err != nil {
			t.Fatal(err)
		}
	}
	// A result of a command that nobody gave is acknowledged, so that it is not sent for ever.
	if ack := a.report(agentapi.Result{ID: "nobody", Status: agentapi.StatusDone}); ack.Error != nil {
		t.Error(ack.Error)
	}
	if ack := a.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Error(ack.Error)
	}
	if ack := other.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Error(ack.Error)
	}
}

func TestWhoSendsWithoutEndIsCutAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.hostile", "cluster")
	a := s.join(i)
	other := s.join(s.register("account.other", "other"))
	flooding := true
	for flooding {
		select {
		case <-a.closed:
			flooding = false
		default:
			if err := a.conn.Publish(agentapi.UpHeartbeat(i.uid), []byte("{}")); err != nil {
				flooding = false
			}
		}
	}
	if ack := other.beat(agentapi.Heartbeat{}); ack.Error != nil {
		t.Error(ack.Error)
	}
	wait(t, a.closed, "the end of the connection")
	// It is no revocation: its key is let in, though it may have to wait until it is heard again.
	s.connect(i)
}

func TestTextsOfAgentsAreMadeHarmless(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	a.beat(agentapi.Heartbeat{Components: []agentapi.Component{
		{Name: "engine\x1b[31m", Status: "Exploded", Message: "a\x00b\r\n" + strings.Repeat("ä", 2000)},
	}})
	h, _ := s.gateway.Health(a.uid)
	c := h.Components[0]
	if c.Name != "engine[31m" || c.Status != agentapi.ComponentDegraded || !strings.HasPrefix(c.Message, "ab\nä") || len(c.Message) > 1024 {
		t.Errorf("component %+v", c)
	}
	if h.State != agentapi.StateDegraded {
		t.Errorf("state %s", h.State)
	}
}
