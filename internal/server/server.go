// Package server is the control plane: it wires store, rights, sign-in, audit, the link to the agents and the interface.
package server

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/inlet"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/event"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/hosting"
	"github.com/slipway-gitops/slipway/internal/server/httpapi"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/job"
	"github.com/slipway-gitops/slipway/internal/server/notify"
	"github.com/slipway-gitops/slipway/internal/server/page"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/wave"
	"github.com/slipway-gitops/slipway/web"
)

// KeyFile is the server's key in the data directory: agents obey its holder. It belongs into every backup.
const KeyFile = "server-signing.key"

// Server is the control plane. Make it with New, start it with Run, and Close it when Run was never called.
type Server struct {
	cfg      Config
	log      *slog.Logger
	store    *store.Store
	listener net.Listener
	gateway  *gateway.Gateway
	authn    *authn.Authn
	audit    *audit.Recorder
	linking  *autolinker
	notifier *notify.Notifier
	sender   *notify.Sender
	jobs     *job.Runner
	upgrades *wave.Runner
	host     *hosting.Host // nil where no agents are hosted
	events   changes
	member   *member
	handler  *httpapi.Handler
	http     *inlet.Server
	metrics  *metrics
	measured *measurements
}

// New opens the database, brings it to this version, and listens. Nothing is answered before Run.
func New(ctx context.Context, cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make --data directory: %w", err)
	}
	s := &Server{cfg: cfg, log: cfg.Log}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) open(ctx context.Context) error {
	secure, err := tlsConfig(&s.cfg)
	if err != nil {
		return err
	}
	if s.listener, err = inlet.Listen(ctx, s.cfg.Listen); err != nil {
		return fmt.Errorf("listen on %s: %w", s.cfg.Listen, err)
	}
	if s.measured, err = listenMetrics(ctx, s.cfg.MetricsListen); err != nil {
		return err
	}
	if s.cfg.PublicURL == "" {
		s.cfg.PublicURL = s.URL()
	}
	s.metrics = newMetrics(s.cfg.Version)
	s.store, err = store.Open(ctx, db.Config{
		URL: s.cfg.Database, Program: s.cfg.Version, Now: s.cfg.Now, ProviderGroups: s.cfg.GroupsLast, Observe: s.metrics.transaction,
	})
	if err != nil {
		return err
	}
	if err := s.store.Hold(); err != nil {
		return err
	}
	done, err := s.store.Migrate(ctx, false)
	if err != nil {
		return err
	}
	if len(done) > 0 {
		s.log.Info("database migrated", "migrations", len(done))
	}
	s.audit = &audit.Recorder{Storage: metered{s.store, s.audited}, Now: s.cfg.Now, Log: s.log}
	s.linking = s.newAutolinker()
	s.events = event.New(event.Config{Now: s.cfg.Now})
	if err := s.signIn(ctx); err != nil {
		return err
	}
	key, err := gateway.LoadKey(filepath.Join(s.cfg.Data, KeyFile))
	if err != nil {
		return err
	}
	if err := s.link(ctx, key); err != nil {
		return err
	}
	return s.serve(secure, key)
}

// signIn prepares who may come in, and says the first password.
func (s *Server) signIn(ctx context.Context) error {
	var err error
	s.authn, err = authn.New(authn.Config{
		Users: s.store, ServiceAccounts: s.store, Sessions: s.store, Tokens: s.store, Attempts: s.store, Pendings: s.store,
		URL: s.cfg.PublicURL, Providers: s.cfg.Providers, NoPasswords: s.cfg.NoPasswords, GroupsLast: s.cfg.GroupsLast, Hash: s.cfg.Hash,
		Now: s.cfg.Now, Log: s.log,
		Outbound: s.cfg.Outbound,
	})
	if err != nil {
		return err
	}
	password, err := s.authn.FirstAdmin(ctx, s.cfg.AdminPassword)
	if err != nil {
		return fmt.Errorf("make the first user: %w", err)
	}
	if password != "" && s.cfg.AdminPassword == "" {
		_, err = fmt.Fprintf(s.cfg.Say, "\nThe first user is admin, with the password %s\n"+
			"It is shown only once. Sign in with: slipway login %s --username admin\n\n", password, s.cfg.PublicURL)
	}
	return err
}

// link prepares where agents connect to.
func (s *Server) link(ctx context.Context, key ed25519.PrivateKey) error {
	cluster, err := s.join(ctx, key)
	if err != nil {
		return err
	}
	if err := s.newNotifier(); err != nil {
		return err
	}
	commands, err := sealCommands(s.store, key, s.log)
	if err != nil {
		return err
	}
	s.gateway, err = gateway.New(gateway.Config{
		Agents: s.store, Copies: s.store, Commands: commands,
		Audit:  &auditor{store: s.store, recorder: s.audit, log: s.log},
		Ledger: &ledger{Store: s.store, events: s.events, kept: func(e []api.LedgerEntry) { s.metrics.kept(len(e)); s.notifier.Wake() }},
		Meter:  s.metrics, Tracer: s.cfg.Tracer, Notify: s.noticed, Heard: s.member.heard, Key: key, Version: s.cfg.Version, Cluster: cluster,
		Log: s.log, Now: s.cfg.Now,
		ClientIP: func(r *http.Request) string { return core.ClientIP(r, s.cfg.TrustedProxies) }, Reachable: s.store.Ping,
	})
	return err
}

func (s *Server) serve(secure *tls.Config, key ed25519.PrivateKey) error {
	s.jobs, s.upgrades = s.newRunner(), s.newUpgrader()
	releaseKeys, trusted, err := s.cfg.releaseKeys()
	if err != nil {
		return err
	}
	if err := s.newHost(); err != nil {
		return err
	}
	people := &agents{Store: s.store, gateway: s.gateway, host: s.host, now: s.cfg.Now}
	ca, err := s.agentCA()
	if err != nil {
		return err
	}
	fingerprints, err := derive(key, "slipway fingerprints of requests v1")
	if err != nil {
		return fmt.Errorf("make the key for fingerprints: %w", err)
	}
	pages, err := page.New(web.Files())
	if err != nil {
		return err
	}
	s.handler, err = httpapi.New(s.notifying(httpapi.Config{
		Base: core.Base{
			Authn: s.authn, Policies: &policies{store: s.store}, Audits: &audits{s.audit, s.store}, Events: s.events,
			Keeper: &keeper{Store: s.store, dir: s.cfg.Data}, Log: s.log, Now: s.cfg.Now, PublicURL: s.cfg.PublicURL,
			TrustedProxies: s.cfg.TrustedProxies, AllowedOrigins: s.cfg.AllowedOrigins, Limits: s.cfg.Limits,
			FingerprintKey: fingerprints, Metrics: s.measured.publish(s.metrics.handler()), Observe: s.metrics.observe, Pages: pages,
			Tracer: s.cfg.Tracer, TrustTraces: s.cfg.TrustTraces,
		},
		Users: s.store.Users, Groups: s.store.Groups, ServiceAccounts: s.store.ServiceAccounts,
		Organizations: homes[api.Organization]{s.store.Organizations, s.gateway, s.publish}, Projects: homes[api.Project]{
			s.store.Projects, s.gateway, s.publish,
		},
		Roles: s.store.Roles, ResourceGroups: s.store.ResourceGroups, Bindings: s.store.Bindings,
		AgentList: heardAgents{s.store.Agents.Entities, s.gateway},
		Services:  s.store.Services, Environments: s.store.Environments, Linking: s.store,
		Fleet: &fleet{s.store, s.cfg.Now}, Views: s.store, Jobs: &jobs{s.store, s.jobs}, Ledger: s.store,
		Tokens: &tokens{s.store, s.authn.MakeToken}, Providers: s.authn, Agents: people, Hosting: s.permits(), Demo: s.cfg.Demo,
		Items: s.store, Commands: &commander{s.store, s.gateway, s.cfg.Now}, Version: s.cfg.Version, Image: s.cfg.AgentImage, AgentCA: ca,
		Upgrades: &upgrades{s.store, s.upgrades, trusted}, AgentVersions: s.store, ReleaseKeys: releaseKeys,
	}))
	if err != nil {
		return err
	}
	links := http.NewServeMux()
	s.gateway.Register(links)
	var link http.Handler = links
	if s.cfg.ClientCA != "" {
		link = certified(links)
	}
	// No ServeMux in front: it would answer a path that is not clean on its own, without the headers that every answer has.
	front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == agentapi.PathLink || strings.HasPrefix(r.URL.Path, agentapi.PathLink+"/") {
			link.ServeHTTP(w, r)
			return
		}
		s.handler.ServeHTTP(w, r)
	})
	s.http = inlet.New(inlet.Config{
		Handler: front, TLS: secure, Limits: s.cfg.Connections, Proxies: s.cfg.TrustedProxies, Log: s.log, Ended: s.metrics.cut,
	})
	s.metrics.registry.MustRegister(&gauges{store: s.store, events: s.events, gateway: s.gateway, http: s.http})
	if secure == nil && s.cfg.InsecureHTTP {
		s.log.Warn("PLAIN HTTP: passwords, tokens and registration tokens travel in clear. Use this only behind a proxy that does TLS, " +
			"on a network of your own.")
	}
	return nil
}

// URL is where this process listens.
func (s *Server) URL() string {
	scheme := "http"
	if s.cfg.tls() {
		scheme = "https"
	}
	address := s.listener.Addr().String()
	if host, port, err := net.SplitHostPort(address); err == nil {
		if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
			address = net.JoinHostPort("localhost", port)
		}
	}
	return scheme + "://" + address
}

// PublicURL is where people and agents reach the server.
func (s *Server) PublicURL() string { return s.cfg.PublicURL }

// Run answers until ctx ends, then finishes what was begun.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close() //nolint:errcheck // what matters was written
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	// What requests and agents change at the very end is published as well.
	last, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	left := make(chan error, 1)
	go func() { left <- s.member.run(last) }()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.gateway.Run(ctx) })
	group.Go(func() error { s.linking.run(ctx); return nil })
	group.Go(func() error { s.notifier.Run(ctx); return nil })
	group.Go(func() error { s.jobs.Run(ctx); return nil })
	group.Go(func() error { s.upgrades.Run(ctx); return nil })
	group.Go(func() error { s.warmUp(ctx); return nil })
	group.Go(func() error { s.hostAgents(ctx); return nil })
	group.Go(func() error { s.once(ctx, "tidy", tidyEvery, s.tidyOnce); return nil })
	group.Go(func() error { s.once(ctx, jobRemoval, tidyEvery, s.removeOnce); return nil })
	group.Go(func() error { s.once(ctx, "commands", settleEvery, s.gateway.Commands.SettleOverdue); return nil })
	group.Go(func() error { return s.measured.run(ctx) })
	group.Go(func() error {
		// The first agents find a listener.
		select {
		case <-s.gateway.Ready():
		case <-ctx.Done():
			return nil
		}
		s.log.Info("listening", "url", s.URL(), "public", s.cfg.PublicURL, "version", s.cfg.Version)
		if err := s.http.Serve(work, s.listener); err != nil {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return s.shutdown(cancel) //nolint:contextcheck // it begins when the context has ended
	})
	err := group.Wait()
	leave()
	return errors.Join(err, <-left)
}

// warmUp reads what lists are answered from, so that it is there when the first request comes.
func (s *Server) warmUp(ctx context.Context) {
	begun := time.Now()
	if err := s.store.WarmUp(ctx); err != nil {
		if ctx.Err() == nil {
			s.log.Warn("applications could not be read ahead: the first list reads them", "err", err)
		}
		return
	}
	s.log.Debug("applications read ahead", "took", time.Since(begun).Round(time.Millisecond).String())
}

const (
	// politeTime is how long requests may go on after the server was asked to end; endTime how long it takes at most.
	politeTime = 3 * time.Second
	endTime    = 10 * time.Second
)

// shutdown takes no more requests, and ends those that would go on: streams, and requests that wait for a command.
func (s *Server) shutdown(stop func()) error {
	polite := time.AfterFunc(politeTime, stop)
	defer polite.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.log.Warn("requests were cut off", "err", err)
		return s.http.Close()
	}
	return nil
}

// Close closes what New opened. After Run it does nothing.
func (s *Server) Close() error {
	var errs []error
	if s.listener != nil {
		if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, s.measured.close())
	if s.sender != nil {
		s.sender.Close()
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}

// Handler answers HTTP without a network, for tests.
func (s *Server) Handler() http.Handler { return s.http.Handler() }
