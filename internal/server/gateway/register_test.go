package gateway_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

func TestARegistrationThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	uid, used := s.token("account.used")
	s.registerWith(uid, used, "account.used", "cluster")
	uid, _ = s.token("account.expired")
	expired, hash := gateway.NewToken()
	if err := s.store.AddToken(t.Context(), uid, hash, time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	_, good := s.token("account.good")
	change := func(token string, change func(*agentapi.Registration)) []byte {
		_, r := registration(t, token, "cluster")
		change(&r)
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	same := func(*agentapi.Registration) {}
	other, _ := registration(t, good, "cluster")
	otherKey, err := other.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		body []byte
		want int
	}{
		{"unknown token", change("sla_unknown", same), http.StatusUnauthorized},
		{"used token", change(used, same), http.StatusUnauthorized},
		{"expired token", change(expired, same), http.StatusUnauthorized},
		{"no token", change("", same), http.StatusBadRequest},
		{"key of somebody else", change(good, func(r *agentapi.Registration) { r.PublicKey = otherKey }), http.StatusBadRequest},
		{"no key", change(good, func(r *agentapi.Registration) { r.PublicKey = "U" }), http.StatusBadRequest},
		{"no signature", change(good, func(r *agentapi.Registration) { r.Signature = nil }), http.StatusBadRequest},
		{"other cluster than signed", change(good, func(r *agentapi.Registration) { r.ClusterUID = "x" }), http.StatusBadRequest},
		{"short seal key", change(good, func(r *agentapi.Registration) { r.SealKey = r.SealKey[:31] }), http.StatusBadRequest},
		{"line breaks", change(good, func(r *agentapi.Registration) { r.Namespace = "a\nb" }), http.StatusBadRequest},
		{"no JSON", []byte("{"), http.StatusBadRequest},
		{"too large", change(good, func(r *agentapi.Registration) { r.Version = strings.Repeat("x", 20_000) }), http.StatusRequestEntityTooLarge},
	}
	for _, test := range tests {
		status, data := s.post(test.body)
		var problem struct{ Detail string }
		if err := json.Unmarshal(data, &problem); err != nil || problem.Detail == "" {
			t.Errorf("%s: no problem document: %s", test.name, data)
		}
		if status != test.want {
			t.Errorf("%s: status %d, want %d: %s", test.name, status, test.want, data)
		}
		if strings.Contains(string(data), "sla_") {
			t.Errorf("%s: the answer tells the token", test.name)
		}
	}
	// What was refused has not consumed the token.
	if status, data := s.post(change(good, same)); status != http.StatusOK {
		t.Errorf("the good token: %d %s", status, data)
	}
	tries := 0
	for ; tries < 50; tries++ {
		if status, _ := s.post([]byte("{")); status == http.StatusTooManyRequests {
			break
		}
	}
	if tries == 50 {
		t.Error("nobody limits how often one may try")
	}
}

func TestARegistrationEndsTheOneBefore(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	old := s.register("account.prod", "old")
	a := s.join(old)
	token, hash := gateway.NewToken()
	if err := s.store.AddToken(t.Context(), old.uid, hash, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	fresh := s.registerWith(old.uid, token, "account.prod", "new")
	wait(t, a.closed, "the end of the connection")
	if _, err := s.dial(old); !refused(err) {
		t.Errorf("the old key: %v", err)
	}
	// The cluster is another one, and yet no twin: somebody with a token wanted it so.
	s.join(fresh)
}

func TestARegistrationWhoseAnswerWasLostIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	uid, token := s.token("account.prod")
	_, r := registration(t, token, "cluster")
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	status, first := s.post(body)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, first)
	}
	before, err := s.store.AgentByUID(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	if status, second := s.post(body); status != http.StatusOK || string(second) != string(first) {
		t.Errorf("the second time: %d %s, the first: %s", status, second, first)
	}
	if after, err := s.store.AgentByUID(t.Context(), uid); err != nil || after.Epoch != before.Epoch {
		t.Errorf("an answer that was repeated began another epoch: %d, %d, %v", before.Epoch, after.Epoch, err)
	}
	_, thief := registration(t, token, "cluster")
	if body, err = json.Marshal(thief); err != nil {
		t.Fatal(err)
	}
	if status, data := s.post(body); status != http.StatusUnauthorized {
		t.Errorf("another key for the same token: %d %s", status, data)
	}
}

func TestTheServersKeyStaysTheSame(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	first, err := gateway.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := gateway.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Equal(second) {
		t.Error("the key is another one the second time")
	}
	if _, err := gateway.LoadKey(filepath.Join(path, "x")); err == nil {
		t.Error("no error for a key that cannot be written")
	}
}

func TestAGatewaySaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	if _, err := gateway.New(gateway.Config{}); err == nil {
		t.Error("a gateway without a store")
	}
}
