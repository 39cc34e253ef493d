package security

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// liar is an agent with a proper key that says what it likes.
type liar struct {
	t      *testing.T
	w      *world
	id     string
	uid    string
	epoch  int64
	seq    int64
	server ed25519.PublicKey
	conn   *nats.Conn
	// faults are what the broker refuses; commands what the server asks for.
	faults   chan error
	commands chan agentapi.Command
}

// liar makes an agent, registers it and connects.
func (w *world) liar(id string) *liar {
	w.t.Helper()
	scope, name, err := api.ParseID(id)
	if err != nil {
		w.t.Fatal(err)
	}
	made := into[api.AgentRegistration](w.t, w.must(w.admin, "POST", "/agents", fmt.Sprintf(`{"name":%q,"scope":%q}`, name, scope)))
	keys, err := nkeys.CreateUser()
	if err != nil {
		w.t.Fatal(err)
	}
	public, err := keys.PublicKey()
	if err != nil {
		w.t.Fatal(err)
	}
	r := agentapi.Registration{Token: made.Token, PublicKey: public, SealKey: make([]byte, 32), ClusterUID: "cluster of " + name, Namespace: "argocd", Version: "1"}
	r.ClusterUID = strings.ReplaceAll(r.ClusterUID, " ", "-")
	_, _ = rand.Read(r.SealKey)
	if r.Signature, err = keys.Sign(agentapi.RegistrationText(r)); err != nil {
		w.t.Fatal(err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	out := w.send(w.request("", "POST", agentapi.PathRegister, string(body)))
	registered := into[agentapi.Registered](w.t, out.text)
	if again := w.send(w.request("", "POST", agentapi.PathRegister, string(another(w.t, r)))); again.StatusCode != 401 {
		w.t.Errorf("a registration token counts twice: %s", again)
	}
	l := &liar{
		t: w.t, w: w, id: id, uid: registered.UID, server: registered.ServerKey,
		faults: make(chan error, 100), commands: make(chan agentapi.Command, 100),
	}
	l.conn, err = nats.Connect(strings.Replace(w.url, "http://", "ws://", 1), nats.ProxyPath(agentapi.PathLink),
		nats.CustomInboxPrefix(agentapi.InboxPrefix(l.uid)), nats.Nkey(public, keys.Sign), nats.NoReconnect(), nats.Timeout(limit),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			select {
			case l.faults <- err:
			default:
			}
		}))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(l.conn.Close)
	if _, err := l.conn.Subscribe(agentapi.DownCommand(l.uid), func(m *nats.Msg) {
		var c agentapi.Command
		if agentapi.Open(l.server, agentapi.PurposeCommand, l.uid, m.Data, &c) == nil {
			l.commands <- c
		}
	}); err != nil {
		w.t.Fatal(err)
	}
	welcome := ask[agentapi.Welcome](l, agentapi.UpHello(l.uid), agentapi.Hello{Protocol: agentapi.Protocol, ClusterUID: r.ClusterUID, Namespace: "argocd", Instance: "liar"})
	if welcome.Error != nil {
		w.t.Fatal(welcome.Error)
	}
	l.epoch = welcome.Epoch
	if ack := ask[agentapi.HeartbeatAck](l, agentapi.UpHeartbeat(l.uid), agentapi.Heartbeat{Epoch: l.epoch, Versions: agentapi.Versions{Agent: "1"}}); ack.Error != nil {
		w.t.Fatal(ack.Error)
	}
	return l
}

// ask sends a request and reads the answer.
func ask[A any](l *liar, subject string, message any) A {
	l.t.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		l.t.Fatal(err)
	}
	m, err := l.conn.Request(subject, data, limit)
	if err != nil {
		l.t.Fatalf("%s: %v", subject, err)
	}
	return into[A](l.t, string(m.Data))
}

// batch sends items and events as the next batch.
func (l *liar) batch(items []agentapi.Item, events []agentapi.Event) agentapi.Ack {
	l.t.Helper()
	l.seq++
	return ask[agentapi.Ack](l, agentapi.UpState(l.uid), agentapi.Batch{Epoch: l.epoch, Seq: l.seq, Items: items, Events: events})
}

func item(name, body string) agentapi.Item {
	return agentapi.Item{Key: agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: name}, Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body)}
}

func application(name, project, more string) string {
	return fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":%q,"namespace":"argocd"%s},"spec":{"project":%q}}`, name, more, project)
}

// refusedBy checks that the broker does not let something pass.
func (l *liar) refusedBy(what string, do func() error) {
	l.t.Helper()
	for len(l.faults) > 0 {
		<-l.faults
	}
	if err := do(); err != nil {
		return
	}
	if err := l.conn.FlushTimeout(limit); err != nil {
		return
	}
	select {
	case err := <-l.faults:
		if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
			l.t.Errorf("%s: %v", what, err)
		}
	case <-time.After(limit):
		l.t.Errorf("%s: nobody minded", what)
	}
}

func TestAnAgentReachesNoSubjectOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	victim, mallory := w.liar("account.victim"), w.liar("account.mallory")
	for _, subject := range []string{
		agentapi.UpHello(victim.uid), agentapi.UpState(victim.uid), agentapi.UpHeartbeat(victim.uid), agentapi.UpResult(victim.uid), agentapi.UpRotate(victim.uid),
		agentapi.UpReply(victim.uid, "x"), agentapi.UpStream(victim.uid, "x"), agentapi.DownCommand(victim.uid), agentapi.DownStream(victim.uid, "x"),
		agentapi.DownCommand(mallory.uid), "slipway.server.note", "slipway.*.up.state", "$SYS.REQ.SERVER.PING", "$SYS.ACCOUNT.$G.CONNECT", "_INBOX.x", ">",
	} {
		mallory.refusedBy("publish to "+subject, func() error { return mallory.conn.Publish(subject, []byte("{}")) })
	}
	for _, subject := range []string{
		agentapi.DownAll(victim.uid), agentapi.DownCommand(victim.uid), agentapi.UpAll(victim.uid), agentapi.UpAll(mallory.uid), "slipway.>", "slipway.*.down.command", ">", "$SYS.>", "_INBOX.>", "slipway.server.note",
	} {
		mallory.refusedBy("subscribe to "+subject, func() error { _, err := mallory.conn.SubscribeSync(subject); return err })
	}
	// Nor does the server send its answer there in its place.
	got, err := victim.conn.SubscribeSync(agentapi.DownAll(victim.uid))
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range []string{agentapi.DownCommand(victim.uid), agentapi.InboxPrefix(victim.uid) + ".x", "slipway.server.note", agentapi.InboxPrefix(mallory.uid) + ".*"} {
		if err := mallory.conn.PublishRequest(agentapi.UpHeartbeat(mallory.uid), reply, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	if ack := mallory.batch(nil, nil); ack.Error != nil { // the server has seen what came before
		t.Fatal(ack.Error)
	}
	if err := victim.conn.FlushTimeout(limit); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := got.Pending(); n != 0 {
		t.Errorf("%d messages of somebody else's came to the victim", n)
	}
}

func TestWhatAnAgentSaysIsAboutItselfOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.admin, "POST", "/organizations", `{"name":"acme"}`)
	w.must(w.admin, "POST", "/projects", `{"name":"shop","organization":"acme"}`)
	victim, mallory := w.liar("account.victim"), w.liar("account.mallory")
	w.must(w.admin, "PUT", "/agents/account.victim/mappings/shop", `{"argoProject":"shop","project":"acme.shop"}`)
	grace := w.user("grace", api.RoleViewer+"@org.acme")
	if ack := victim.batch([]agentapi.Item{item("real", application("real", "shop", ""))}, nil); ack.Error != nil || len(ack.Rejected) > 0 {
		t.Fatalf("%+v", ack)
	}
	// A mapping is of one agent; scope, agent and ids of its own making count for nothing.
	ack := mallory.batch([]agentapi.Item{
		item("fake", application("fake", "shop", `,"labels":{"slipway.io/scope":"project.acme.shop"}`)),
		item("real", strings.Replace(application("real", "shop", ""), `{"apiVersion"`, `{"scope":"project.acme.shop","agent":"account.victim","id":"account.victim/argocd/real","apiVersion"`, 1)),
	}, nil)
	if ack.Error != nil {
		t.Fatal(ack.Error)
	}
	seen := into[api.Page[api.Application]](t, w.must(grace, "GET", "/applications", ""))
	if len(seen.Items) != 1 || seen.Items[0].Agent != "account.victim" {
		t.Errorf("who may see project shop sees %+v", seen.Items)
	}
	w.refused(grace, "GET", "/agents/account.mallory/applications/argocd/fake", "", api.CodeNotFound)
	// Deleting and an inventory without anything concern its own copies.
	mallory.batch([]agentapi.Item{{Key: agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "real"}, Deleted: true}}, nil)
	if seen := into[api.Page[api.Application]](t, w.must(grace, "GET", "/applications", "")); len(seen.Items) != 1 {
		t.Errorf("another agent deleted a copy: %+v", seen.Items)
	}
	// A session of somebody else's number.
	if ack := ask[agentapi.Ack](mallory, agentapi.UpState(mallory.uid), agentapi.Batch{Epoch: mallory.epoch + 1, Seq: 1}); ack.Error == nil || ack.Error.Code != agentapi.CodeFenced {
		t.Errorf("a batch of another session: %+v", ack)
	}
}

func TestAnAgentAnswersItsOwnCommandsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	victim, mallory := w.liar("account.victim"), w.liar("account.mallory")
	victim.batch([]agentapi.Item{item("shop", application("shop", "default", ""))}, nil)
	command := into[api.Command](t, w.must(w.admin, "POST", "/agents/account.victim/applications/argocd/shop/sync?wait=0", `{"reason":"release"}`))
	got := <-victim.commands
	if got.ID != command.ID || got.User != "user:admin" {
		t.Fatalf("%+v is not %+v", got, command)
	}
	ask[agentapi.ResultAck](mallory, agentapi.UpResult(mallory.uid), agentapi.ResultReport{Epoch: mallory.epoch, Result: agentapi.Result{ID: command.ID, Status: agentapi.StatusDone, Message: "lie"}})
	if now := into[api.Command](t, w.must(w.admin, "GET", "/commands/"+command.ID, "")); now.Status == api.CommandDone || now.Message != "" {
		t.Errorf("another agent ended a command: %+v", now)
	}
	part, err := json.Marshal(agentapi.Part{Epoch: mallory.epoch, Last: true, Data: []byte(`{"id":"` + command.ID + `","status":"done"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := mallory.conn.Publish(agentapi.UpReply(mallory.uid, command.ID), part); err != nil {
		t.Fatal(err)
	}
	ask[agentapi.ResultAck](victim, agentapi.UpResult(victim.uid), agentapi.ResultReport{Epoch: victim.epoch, Result: agentapi.Result{ID: command.ID, Status: agentapi.StatusDone, Message: "truth"}})
	if now := into[api.Command](t, w.must(w.admin, "GET", "/commands/"+command.ID, "")); now.Status != api.CommandDone || now.Message != "truth" {
		t.Errorf("the command ended as %+v", now)
	}
	select {
	case c := <-mallory.commands:
		t.Errorf("a command went to the wrong agent: %+v", c)
	default:
	}
}

func TestAnAgentPutsNothingIntoTheAuditInSomebodysName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	victim, mallory := w.liar("account.victim"), w.liar("account.mallory")
	grace := w.user("grace", api.RoleOperator+"@account")
	for _, l := range []*liar{victim, mallory} {
		l.batch([]agentapi.Item{item("shop", application("shop", "default", ""))}, nil)
	}
	command := into[api.Command](t, w.must(grace, "POST", "/agents/account.victim/applications/argocd/shop/sync?wait=0", `{}`))
	event := func(id, user, command string) agentapi.Event {
		return agentapi.Event{
			ID: id, At: time.Now(), Type: agentapi.EventSyncFinished, Target: item("shop", "{}").Key, User: user, Command: command, Message: "event " + id,
		}
	}
	mallory.batch(nil, []agentapi.Event{
		event("m1", "user:grace", ""), event("m2", "user:grace", command.ID), event("m3", "user:admin", "nosuchcommand"),
		event("m4", "serviceaccount:account.ci", command.ID), event("m5", "system:audit", ""),
	})
	victim.batch(nil, []agentapi.Event{event("v1", "user:admin", command.ID), event("v2", "user:grace", "x'; --"), event("v3", "user:grace", command.ID)})
	page := into[api.Page[api.AuditEntry]](t, w.must(w.admin, "GET", "/audit?limit=200", ""))
	found := 0
	for _, e := range page.Items {
		id, ok := strings.CutPrefix(e.Message, "event ")
		if !ok {
			continue
		}
		found++
		own := "account.mallory"
		if strings.HasPrefix(id, "v") {
			own = "account.victim"
		}
		byGrace := e.Actor == api.Principal{Type: api.PrincipalUser, ID: "grace"}
		if byGrace != (id == "v3") || !byGrace && (e.Actor.Type != api.PrincipalAgent || !strings.HasPrefix(e.Actor.ID, own+":")) {
			t.Errorf("event %s is said to be of %+v", id, e.Actor)
		}
		if !strings.HasPrefix(e.Object.ID, own+"/") {
			t.Errorf("event %s is about %+v", id, e.Object)
		}
	}
	if found != 8 {
		t.Errorf("%d of 8 events are in the audit", found)
	}
	if v := into[api.AuditVerification](t, w.must(w.admin, "GET", "/audit/verification", "")); !v.OK {
		t.Errorf("%+v", v)
	}
}

func TestOversizedAndOddMessagesOfAnAgentAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.liar("account.odd")
	deep := `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`
	ack := l.batch([]agentapi.Item{
		item("deep", deep), item("nul", `{"a":"\u0000"}`), item("large", `{"a":"`+strings.Repeat("x", agentapi.MaxItem)+`"}`), item("fine", application("fine", "default", "")),
	}, nil)
	// What no database keeps in a text is made legible; it keeps nothing else from being stored.
	if ack.Error == nil && len(ack.Rejected) != 2 || ack.Error != nil && ack.Error.Code != agentapi.CodeTooLarge {
		t.Errorf("%+v", ack)
	}
	// A bad name is a matter of its item alone: it is rejected, and what is beside it is stored. An error for the batch would
	// lose the others, or have the agent send them for ever.
	for i, name := range []string{"", "a b", "a\nb", strings.Repeat("x", 300), "../../etc", "a\u0000b", "a/b", "\u017fhop", "Shop"} {
		beside := fmt.Sprintf("beside-%d", i)
		ack := l.batch([]agentapi.Item{item(name, "{}"), item(beside, application(beside, "default", ""))}, nil)
		if ack.Error != nil || len(ack.Rejected) != 1 || ack.Rejected[0].Name != name {
			t.Errorf("an item called %q: %+v", name, ack)
		}
		w.must(w.admin, "GET", "/agents/account.odd/applications/argocd/"+beside, "")
	}
	for _, data := range [][]byte{nil, []byte("null"), []byte("[]"), []byte(`{"epoch":"x"}`), []byte(strings.Repeat("[", 100_000)), bytes.Repeat([]byte{0xff}, 1000)} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		m, err := l.conn.RequestWithContext(ctx, agentapi.UpState(l.uid), data)
		cancel()
		if err != nil {
			t.Fatalf("%.40q: %v", data, err)
		}
		if ack := into[agentapi.Ack](t, string(m.Data)); ack.Error == nil {
			t.Errorf("%.40q was taken", data)
		}
	}
	if err := l.conn.Publish(agentapi.UpState(l.uid), make([]byte, agentapi.MaxMessage+1)); err == nil {
		t.Error("a message larger than any was sent")
	}
	w.must(w.admin, "GET", "/applications", "")
	if strings.Contains(w.log.String(), `"msg":"panic"`) {
		t.Error("something crashed")
	}
}

func TestARevokedAgentIsCutAtOnceAndStaysOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.liar("account.gone")
	closed := make(chan struct{})
	l.conn.SetClosedHandler(func(*nats.Conn) { close(closed) })
	w.must(w.admin, "POST", "/agents/account.gone/revoke", "")
	select {
	case <-closed:
	case <-time.After(limit):
		t.Fatal("its connection is still open")
	}
}
