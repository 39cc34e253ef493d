package security

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// another is a registration with the same token and another key.
func another(t *testing.T, r agentapi.Registration) []byte {
	t.Helper()
	keys, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	if r.PublicKey, err = keys.PublicKey(); err != nil {
		t.Fatal(err)
	}
	if r.Signature, err = keys.Sign(agentapi.RegistrationText(r)); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestAnAgentIsCutWithTheOrganizationOrProjectThatItWasIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.admin, "POST", "/organizations", `{"name":"leaving"}`)
	w.must(w.admin, "POST", "/organizations", `{"name":"staying"}`)
	w.must(w.admin, "POST", "/projects", `{"name":"shop","organization":"staying"}`)
	closed := func(id string) (*liar, <-chan struct{}) {
		l, done := w.liar(id), make(chan struct{})
		l.conn.SetClosedHandler(func(*nats.Conn) { close(done) })
		return l, done
	}
	_, one := closed("org.leaving.one")
	_, two := closed("project.staying.shop.two")
	stays, _ := closed("org.staying.three")
	events := w.watch(t.Context(), w.admin)
	for _, c := range []struct {
		path string
		done <-chan struct{}
	}{{"/organizations/leaving", one}, {"/projects/staying.shop", two}} {
		w.must(w.admin, "DELETE", c.path+"?force=true", "")
		select {
		case <-c.done:
		case <-time.After(limit):
			t.Errorf("%s is gone, and its agent's connection is still open", c.path)
		}
	}
	events.until(t, `"type":"project.deleted"`) // comes behind that of its agent
	for _, id := range []string{"org.leaving.one", "project.staying.shop.two"} {
		if told := regexp.MustCompile(`"type":"agent\.deleted".*"id":"` + regexp.QuoteMeta(id) + `"`); !told.MatchString(events.String()) {
			t.Errorf("who watches was not told that agent %s is gone", id)
		}
	}
	if !stays.conn.IsConnected() {
		t.Error("an agent of somewhere else was cut")
	}
}
