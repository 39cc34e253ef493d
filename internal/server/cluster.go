package server

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/server/event"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

const (
	// seenEvery is how often a server says that it runs, serverLife after what time without that it counts as killed.
	seenEvery, serverLife = 3 * time.Second, 15 * time.Second
	// jobHold is for how long a job is claimed; the server that does it claims it again in time. jobLook is how often others
	// look.
	jobHold, jobLook = 30 * time.Second, 10 * time.Second
	// shortestSecret is how long what is in --cluster-secret-file must be: a client that reaches the port can try others.
	shortestSecret = 32
	// peerName is what the certificates of servers for each other say.
	peerName = "slipway-server"
)

// member is this server among those that share its database.
type member struct {
	server *Server
	me     work.Server
	// events are those of all servers; nil where the database is SQLite, which has one.
	events *event.Shared
	lonely sync.Once // it was logged that others cannot be reached
	meets  bool      // the NATS server at which they meet was reached last
	joined bool      // servers reach each other

	mu     sync.Mutex
	others string    // ids of the other servers, as they were seen last
	since  time.Time // they are the same since then
}

// join makes this server known to the others. Each server publishes its own before it looks for others, so of two that start at a
// time one finds the other.
func (s *Server) join(ctx context.Context, key ed25519.PrivateKey) (*gateway.Cluster, error) {
	s.member = &member{server: s, me: work.Server{ID: gateway.NewUID(), KeyPrint: keyPrint(key), Version: s.cfg.Version}}
	if !s.store.IsPostgres() {
		if s.cfg.ClusterListen != "" || len(s.cfg.NatsURLs) > 0 {
			return nil, errors.New("several servers need one database: give --database with the URL of PostgreSQL")
		}
		return nil, s.store.StandAlone(ctx, s.member.me.ID)
	}
	shared, err := event.NewShared(ctx, event.SharedConfig{
		Config: event.Config{Now: s.cfg.Now}, Storage: s.store, Log: s.log, Told: s.member.told, Missed: s.member.missed,
	})
	if err != nil {
		return nil, err
	}
	s.events, s.member.events = shared, shared
	if s.cfg.ClusterListen != "" {
		if s.member.me.Address, err = advertised(ctx, &s.cfg); err != nil {
			return nil, err
		}
	}
	if err := s.member.bury(ctx); err != nil {
		return nil, err
	}
	if _, err := s.store.KeepServer(ctx, s.member.me, serverLife); err != nil {
		return nil, err
	}
	others, err := s.store.KeepServer(ctx, s.member.me, serverLife)
	if err != nil {
		return nil, err
	}
	cluster, err := s.cluster(ctx, key, others)
	s.member.joined = cluster != nil
	return cluster, err
}

// cluster is how this server reaches others; nil where it is alone.
func (s *Server) cluster(ctx context.Context, key ed25519.PrivateKey, others []work.Server) (*gateway.Cluster, error) {
	routes := s.cfg.Routes
	for _, o := range others {
		if o.KeyPrint != s.member.me.KeyPrint {
			return nil, errors.Join(fmt.Errorf("server %s on this database signs with another key, and no agent would obey both: "+
				"copy %s from its data directory, or wait %s if it was ended just now", cmp.Or(o.Address, o.ID), KeyFile, serverLife),
				s.store.DropServer(ctx, s.member.me.ID))
		}
		if o.Address != "" && o.Address != s.member.me.Address {
			routes = append(routes, "nats://"+o.Address)
		}
	}
	if len(s.cfg.NatsURLs) > 0 || s.cfg.NatsCredentials != "" || s.cfg.NatsCA != "" {
		return s.cfg.bus()
	}
	if s.cfg.ClusterListen == "" {
		s.member.warn(others)
		return nil, nil //nolint:nilnil // there are no others
	}
	secret, err := clusterSecret(s.cfg.ClusterSecretFile, key)
	if err != nil {
		return nil, err
	}
	secure, err := peerTLS(secret)
	if err != nil {
		return nil, err
	}
	password, err := derived(secret, "password of servers v1")
	if err != nil {
		return nil, err
	}
	s.log.Info("other servers reach this one", "address", s.member.me.Address, "known", len(others))
	return &gateway.Cluster{
		Listen: s.cfg.ClusterListen, Routes: routes, Secret: base64.RawURLEncoding.EncodeToString(password), TLS: secure,
	}, nil
}

// warn says once that there are other servers which cannot be reached.
func (m *member) warn(others []work.Server) {
	if len(others) > 0 && m.server.cfg.ClusterListen == "" && len(m.server.cfg.NatsURLs) == 0 {
		m.lonely.Do(func() {
			m.server.log.Warn("OTHER SERVERS USE THIS DATABASE AND CANNOT BE REACHED: agents of one cannot be asked through another. "+
				"Give --cluster-listen or --nats-url to each.",
				"others", len(others))
		})
	}
}

// told reports to the other servers that there are events to read, up to a number.
func (m *member) told(last int64) {
	select {
	case <-m.server.gateway.Ready():
		m.server.gateway.Peers.Broadcast(strconv.AppendInt(nil, last, 10))
	default: // they also poll
	}
}

// heard takes the report of another server that it has kept events, up to a number; one of an earlier version names none.
func (m *member) heard(data []byte) {
	if m.events != nil {
		last, _ := strconv.ParseInt(string(data), 10, 64)
		m.events.Heard(max(last, 0))
	}
}

// steadyFor is how long the same servers must have been there before what one of them does not report counts as missed: one
// that starts or ends keeps events while it is not connected to the others.
const steadyFor = 30 * time.Second

// missed counts events that the poll found and no server has reported.
func (m *member) missed() {
	if m.steady(time.Now()) {
		m.server.metrics.Missed(event.WaitEvents)
	}
}

// steady reports whether this server and others have been connected for a while.
func (m *member) steady(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.joined && m.others != "" && now.Sub(m.since) >= steadyFor
}

// alone reports whether no other server uses the database, as far as is known.
func (m *member) alone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.events == nil || m.others == "" && !m.since.IsZero()
}

// saw notes which other servers there are, unless that could not be read.
func (m *member) saw(others []work.Server, err error, now time.Time) {
	var ids strings.Builder
	for _, o := range others { // in the order in which they started
		ids.WriteString(o.ID + " ")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || m.since.IsZero() || m.others != ids.String() {
		m.others, m.since = ids.String(), now
	}
}

// bury forgets servers that were killed. What changed at the moment of their death may not have been published: all watchers
// start over. What they were sending is sent by this one.
func (m *member) bury(ctx context.Context) error {
	n, err := m.server.store.BuryServers(ctx, m.me, serverLife)
	if err == nil && n > 0 {
		m.server.log.Warn("servers ended without notice: watchers of events start over", "servers", n)
		m.events.Reset(ctx)
		if m.server.notifier != nil { // one that only starts polls
			m.server.notifier.Flush()
		}
	}
	return err
}

// run says again and again that this server runs, and writes and reads the events, until ctx ends.
func (m *member) run(ctx context.Context) error {
	if m.events == nil {
		return nil
	}
	var work sync.WaitGroup
	work.Go(func() { m.live(ctx) })
	err := m.events.Run(ctx)
	work.Wait()
	if err != nil {
		return err // the others find out that this server is gone, and that events may be lost
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), politeTime)
	defer cancel()
	return m.server.store.DropServer(ctx, m.me.ID)
}

func (m *member) live(ctx context.Context) {
	ticker := time.NewTicker(seenEvery)
	defer ticker.Stop()
	last := time.Now()
	m.meets = true // a server that starts has a moment to reach it
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		m.meeting()
		bounded, cancel := context.WithTimeout(ctx, serverLife)
		others, err := m.server.store.KeepServer(bounded, m.me, serverLife)
		m.saw(others, err, time.Now())
		// After a while without a database, no server has seen another.
		if err == nil && time.Since(last) < serverLife/2 {
			err = m.bury(bounded)
		}
		cancel()
		switch {
		case err == nil:
			last = time.Now()
			m.warn(others)
		case ctx.Err() == nil:
			m.server.log.Warn("record that this server runs", "err", err)
		}
	}
}

// once does a job every so often, whichever servers there are: one of them claims it, and another one takes it over when
// that one is gone.
func (s *Server) once(ctx context.Context, job string, every time.Duration, do func(context.Context) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(clock.About(min(every, jobLook)))
		if err := s.claimed(ctx, job, every, do); err != nil && ctx.Err() == nil {
			s.log.Error(job, "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
	}
}

// claimed does a job if it is due and no other server does it.
func (s *Server) claimed(ctx context.Context, job string, every time.Duration, do func(context.Context) error) error {
	me := s.member.me.ID
	mine, err := s.store.ClaimJob(ctx, job, me, jobHold)
	if err != nil || !mine {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var keeping sync.WaitGroup
	keeping.Go(func() {
		ticker := time.NewTicker(jobHold / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if mine, err := s.store.ClaimJob(ctx, job, me, jobHold); err != nil || !mine {
				cancel() // another server may do it from here on
				return
			}
		}
	})
	err = do(ctx)
	ended := ctx.Err()
	cancel()
	keeping.Wait()
	if ended != nil {
		return err
	}
	if wait, ok := errors.AsType[later](err); ok {
		s.log.Warn(job, "why", wait.why)
		err, every = nil, wait.after
	}
	// It is looked at again in its time also where it failed.
	return errors.Join(err, s.store.EndJob(context.WithoutCancel(ctx), job, me, every))
}

// advertised is where other servers reach this one.
func advertised(ctx context.Context, cfg *Config) (string, error) {
	if cfg.ClusterAdvertise != "" {
		if _, _, err := net.SplitHostPort(cfg.ClusterAdvertise); err != nil {
			return "", fmt.Errorf("--cluster-advertise %q is no address: write HOST:PORT", cfg.ClusterAdvertise)
		}
		return cfg.ClusterAdvertise, nil
	}
	host, port, err := net.SplitHostPort(cfg.ClusterListen)
	if err != nil || port == "0" || port == "" {
		return "", fmt.Errorf("--cluster-listen %q is no address that others can know: write HOST:PORT, such as 0.0.0.0:6222", cfg.ClusterListen)
	}
	if host != "" && !unspecified(host) {
		return cfg.ClusterListen, nil
	}
	// All addresses: the one on the way to the database is one that is not only this machine's. Nothing is sent.
	if local := towards(ctx, cfg.Database); local != "" && !loopback(local) {
		return net.JoinHostPort(local, port), nil
	}
	return "", fmt.Errorf("--cluster-listen %s is no address at which other servers reach this one: give --cluster-advertise HOST:PORT",
		cfg.ClusterListen)
}

// unspecified reports whether a host stands for all addresses of this machine.
func unspecified(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsUnspecified()
}

// towards returns this machine's address on the way to a database; "" where there is no way.
func towards(ctx context.Context, database string) string {
	to, err := url.Parse(database)
	if err != nil {
		return ""
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", net.JoinHostPort(to.Hostname(), "5432"))
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	local, _, err := net.SplitHostPort(conn.LocalAddr().String())
	if err != nil {
		return ""
	}
	return local
}

// keyPrint distinguishes keys without revealing them.
func keyPrint(key ed25519.PrivateKey) string {
	sum := sha256.Sum256(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// clusterSecret is what only servers of this database know: what is in the file, else what follows from their common key.
func clusterSecret(file string, key ed25519.PrivateKey) ([]byte, error) {
	if file == "" {
		return key.Seed(), nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read --cluster-secret-file: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if len(secret) < shortestSecret {
		return nil, fmt.Errorf("--cluster-secret-file %s holds fewer than %d characters: fill it with what `openssl rand -hex 32` prints, "+
			"or leave the flag out, and the secret follows from %s", file, shortestSecret, KeyFile)
	}
	return []byte(secret), nil
}

func derived(secret []byte, purpose string) ([]byte, error) {
	out, err := hkdf.Key(sha256.New, secret, nil, "slipway "+purpose, ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("make the %s: %w", purpose, err)
	}
	return out, nil
}

// peerTLS is for both ends of the connections between servers. Their certificates are signed with a key that follows from
// the secret, so a server without it is not let in and does not receive the password.
func peerTLS(secret []byte) (*tls.Config, error) {
	seed, err := derived(secret, "authority of servers v1")
	if err != nil {
		return nil, err
	}
	authority := ed25519.NewKeyFromSeed(seed)
	signer := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "slipway servers"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, signer, signer, authority.Public(), authority)
	if err != nil {
		return nil, fmt.Errorf("make the authority of servers: %w", err)
	}
	if signer, err = x509.ParseCertificate(raw); err != nil {
		return nil, fmt.Errorf("make the authority of servers: %w", err)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for other servers: %w", err)
	}
	leaf, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: peerName}, DNSNames: []string{peerName},
		NotBefore: signer.NotBefore, NotAfter: signer.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, signer, public, authority)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for other servers: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(signer)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{leaf}, PrivateKey: private}},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, ServerName: peerName,
	}, nil
}
