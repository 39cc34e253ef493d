package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/hosting"
)

// hostedMemory is how much memory a hosted agent is to stay below.
const hostedMemory = "512MiB"

var memoryLimit = regexp.MustCompile(`^[1-9][0-9]{0,15}(B|KiB|MiB|GiB)$`)

// checkHosted refuses options of hosted agents that cannot be, and fills in what is left out.
func (c *Config) checkHosted() error {
	h := &c.Hosted
	if h.Dir == "" {
		return nil
	}
	if c.ClientCA != "" {
		return errors.New("--hosted-dir and --client-ca exclude each other: hosted agents have no certificate to show")
	}
	if h.Memory == "" {
		h.Memory = hostedMemory
	}
	if !memoryLimit.MatchString(h.Memory) {
		return fmt.Errorf("--hosted-memory %.40q is no size: write a number with MiB or GiB, such as %s", h.Memory, hostedMemory)
	}
	for _, name := range h.Environment {
		if strings.HasPrefix(name, "SLIPWAY_") {
			return fmt.Errorf("--hosted-env %s is a setting of the server, which no agent gets: leave it out", name)
		}
	}
	if h.Program == "" {
		me, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find slipway-agent beside this program: %w: give --hosted-agent PATH", err)
		}
		h.Program = filepath.Join(filepath.Dir(me), "slipway-agent")
	}
	if h.Data == "" {
		if h.Users != "" {
			return errors.New("--hosted-user needs --hosted-data: agents of other users cannot look into the data directory of the server")
		}
		h.Data = filepath.Join(c.Data, "hosted")
	}
	for _, path := range []*string{&h.Dir, &h.Program, &h.Data} {
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return fmt.Errorf("find %s: %w", *path, err)
		}
	}
	return nil
}

// newHost prepares what runs hosted agents; nothing where there are none.
func (s *Server) newHost() error {
	options := s.cfg.Hosted
	if options.Dir == "" {
		return nil
	}
	if options.Server == "" {
		options.Server = s.cfg.PublicURL
	}
	if s.cfg.SelfSigned {
		options.CA = s.cfg.TLSCert
	}
	var err error
	s.host, err = hosting.New(hosting.Config{
		Options: options, Storage: s.store, Holder: s.member.me.ID, Log: s.log.With("component", "hosting"),
		Register: (&agents{Store: s.store, now: s.cfg.Now}).token,
		Changed: func(ctx context.Context, uid string) {
			if id, labels, scope := s.agentOf(ctx, uid); id != "" {
				s.publish(ctx, api.Event{
					Type: api.TypeAgent + "." + api.EventChanged, Object: api.Ref{Type: api.TypeAgent, ID: id, Scope: scope}, Labels: labels,
				})
			}
		},
	})
	return err
}

// hostAgents runs hosted agents until ctx ends, from when agents can connect.
func (s *Server) hostAgents(ctx context.Context) {
	if s.host == nil {
		return
	}
	select {
	case <-s.gateway.Ready():
		s.host.Run(ctx)
	case <-ctx.Done():
	}
}

// token makes a registration token for an agent that this server hosts.
func (a *agents) token(ctx context.Context, agent string) (string, error) {
	token, hash := gateway.NewToken()
	return token, a.SetRegistration(ctx, agent, hash, a.now().Add(registrationTime))
}

// permits is what the interface asks of hosting; nil where nothing is hosted.
func (s *Server) permits() interface {
	Permit(cluster string, scope api.Scope, everything bool) (name, namespace string, err error)
} {
	if s.host == nil {
		return nil
	}
	return hosting.Clusters(s.cfg.Hosted.Dir)
}
