package server

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/event"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// greet has two servers greet each other, with what follows from their secrets.
func greet(t *testing.T, one, two []byte) error {
	t.Helper()
	ours, err := peerTLS(one)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := peerTLS(two)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answered := make(chan error, 1)
	go func() {
		near, err := l.Accept()
		if err == nil {
			err = errors.Join(tls.Server(near, ours).HandshakeContext(t.Context()), near.Close())
		}
		answered <- err
	}()
	far, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	conn := tls.Client(far, theirs)
	err = conn.HandshakeContext(t.Context())
	_, _ = conn.Read(make([]byte, 1)) // what the other end says of our certificate, or its end
	return errors.Join(err, <-answered)
}

func TestServersTrustWhoHasTheirSecretAndNobodyElse(t *testing.T) {
	t.Parallel()
	secret, other := []byte(strings.Repeat("a", 32)), []byte(strings.Repeat("b", 32))
	if err := greet(t, secret, secret); err != nil {
		t.Errorf("the same secret: %v", err)
	}
	if err := greet(t, secret, other); err == nil {
		t.Error("another secret was let in")
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := clusterSecret(short, key); err == nil || !strings.Contains(err.Error(), "openssl rand") {
		t.Errorf("a short secret: %v", err)
	}
	if got, err := clusterSecret("", key); err != nil || len(got) != ed25519.SeedSize {
		t.Errorf("no secret: %d bytes, %v", len(got), err)
	}
}

func TestWhereOthersReachAServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen, advertise, want, wrong string
	}{
		{"10.0.0.7:6222", "", "10.0.0.7:6222", ""},
		{"one.example.org:6222", "", "one.example.org:6222", ""},
		{":6222", "10.0.0.8:7000", "10.0.0.8:7000", ""},
		{":6222", "10.0.0.8", "", "--cluster-advertise"},
		{"0.0.0.0:6222", "", "", "--cluster-advertise"}, // the database is on this machine
		{"10.0.0.7:0", "", "", "0.0.0.0:6222"},
		{"10.0.0.7", "", "", "0.0.0.0:6222"},
	} {
		cfg := &Config{ClusterListen: c.listen, ClusterAdvertise: c.advertise, Database: "postgres://u:p@127.0.0.1:5432/db"}
		got, err := advertised(t.Context(), cfg)
		if got != c.want || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s %s: %q, %v", c.listen, c.advertise, got, err)
		}
	}
}

// sharing returns the configuration of a server on a database, with the key of another one's data directory.
func sharing(t *testing.T, database, keyOf string) Config {
	t.Helper()
	cfg := Config{
		Listen: "127.0.0.1:0", PublicURL: "http://slipway.test", Data: t.TempDir(), Database: database, AdminPassword: password,
		ClusterListen: testenv.Address(t), Hash: authn.Params{Memory: 64, Time: 1, Threads: 1},
	}
	if keyOf != "" {
		if err := copyKey(filepath.Join(keyOf, KeyFile), filepath.Join(cfg.Data, KeyFile)); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

func TestAServerOfTheSameKeyJoinsAndOneOfAnotherIsRefused(t *testing.T) {
	t.Parallel()
	database := testenv.Postgres(t)
	first := newServer(t, func(c *Config) { *c = sharing(t, database, "") })
	_, err := New(t.Context(), sharing(t, database, ""))
	if err == nil || !strings.Contains(err.Error(), KeyFile) {
		t.Errorf("a server with another key: %v", err)
	}
	second := newServer(t, func(c *Config) { *c = sharing(t, database, first.cfg.Data) })
	others, err := first.store.KeepServer(t.Context(), first.member.me, serverLife)
	if err != nil || len(others) != 1 || others[0].Address != second.cfg.ClusterListen {
		t.Errorf("the first knows of %v, %v", others, err)
	}

	var done atomic.Int64
	job := func(context.Context) error { done.Add(1); return nil }
	for range 3 {
		for _, s := range []*Server{first, second} {
			if err := s.claimed(t.Context(), "job", tidyEvery, job); err != nil {
				t.Error(err)
			}
		}
	}
	if done.Load() != 1 {
		t.Errorf("a job was done %d times", done.Load())
	}
	if err := first.claimed(t.Context(), "other", 0, func(context.Context) error {
		// While one does it, nobody else gets it.
		return second.claimed(t.Context(), "other", 0, job)
	}); err != nil || done.Load() != 1 {
		t.Errorf("a job that is being done was done again: %v", err)
	}
	if err := second.claimed(t.Context(), "other", 0, job); err != nil || done.Load() != 2 {
		t.Errorf("a job that is due again was not done: %v", err)
	}
}

func TestSQLiteHasOneServer(t *testing.T) {
	t.Parallel()
	cfg := sharing(t, "", "")
	if _, err := New(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "PostgreSQL") {
		t.Errorf("several servers on SQLite: %v", err)
	}
}

// TestWhatOtherServersDoNotReportCountsWhileTheyAreTheSame holds that a server which starts or ends is not taken for a fault.
func TestWhatOtherServersDoNotReportCountsWhileTheyAreTheSame(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return began.Add(d) }
	others := []work.Server{{ID: "b"}, {ID: "c"}}
	m := &member{joined: true, events: &event.Shared{}}
	if m.steady(began) || m.alone() {
		t.Error("before anything is known of others")
	}
	m.saw(nil, nil, began)
	if m.steady(after(time.Hour)) || !m.alone() {
		t.Error("without others")
	}
	m.saw(others, nil, began)
	m.saw(others, nil, after(steadyFor))
	if m.steady(after(steadyFor-1)) || !m.steady(after(steadyFor)) || m.alone() {
		t.Error("with others")
	}
	m.saw(others[:1], nil, after(time.Minute))
	if m.steady(after(time.Minute + 1)) {
		t.Error("when one of them has ended")
	}
	m.saw(others[:1], nil, after(2*time.Minute))
	m.saw(nil, errors.New("away"), after(3*time.Minute))
	if m.steady(after(3*time.Minute + 1)) {
		t.Error("when the database is away")
	}
	apart := &member{events: &event.Shared{}}
	apart.saw(others, nil, began)
	if apart.steady(after(time.Hour)) {
		t.Error("where servers do not reach each other")
	}
	if one := (&member{}); !one.alone() {
		t.Error("with SQLite")
	}
}
