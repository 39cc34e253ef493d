package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
)

const (
	// contextName is the context that `slipway up` signs in; a second stack on the machine has one with a number behind it.
	// firstUser is the user there, and agentName the agent of the demo.
	contextName = "local"
	firstUser   = "admin"
	agentName   = "demo"

	serverGrace = 15 * time.Second
	// lookAgain is the wait between two looks at something that is about to be there.
	lookAgain = 50 * time.Millisecond
	// copyLimit is how long the server may take to learn of the applications.
	copyLimit = 30 * time.Second

	// identitySecret is where an agent that is registered keeps who it is.
	identitySecret = "slipway-agent-identity"
)

func (s *stack) serverURL() string { return "http://" + loopback(s.ports.Server) }

// startServer starts the server, and returns when it answers.
func (s *stack) startServer(ctx context.Context, group *errgroup.Group) error {
	if s.server == "" {
		return nil
	}
	if err := os.MkdirAll(s.dir.server(), 0o700); err != nil {
		return fmt.Errorf("make data directory of the server: %w", err)
	}
	password, err := s.dir.firstPassword()
	if err != nil {
		return err
	}
	args := []string{
		"--data", s.dir.server(), "--listen", loopback(s.ports.Server), "--public-url", s.serverURL(),
		// The demo's channel is on this machine.
		"--notify-secrets", s.dir.notices(), "--outbound-allow", "127.0.0.1",
	}
	if s.options.demo && s.options.tour {
		args = append(args, "--demo")
	}
	// The password applies to a database that has no user yet, and is not printed anywhere.
	p, err := spawn("slipway-server", s.server, args, s.dir.processLog("server"), nil, "SLIPWAY_ADMIN_PASSWORD="+password)
	if err != nil {
		return err
	}
	s.watch(group, p, serverGrace)
	for !s.answers(ctx) {
		select {
		case <-p.done:
			return p.ended()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookAgain):
		}
	}
	s.say("started the server at %s", s.serverURL())
	return nil
}

// answers reports whether the server is ready.
func (s *stack) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.serverURL()+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // ctx has a limit
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 4096)) // so that the connection can be used again
	return res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// firstPassword is the password of the first user, made up once.
func (d dir) firstPassword() (string, error) {
	raw, err := os.ReadFile(d.password())
	if err == nil && len(raw) > 0 {
		return strings.TrimSpace(string(raw)), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read first password: %w", err)
	}
	password := rand.Text()
	return password, replaceFile(d.password(), []byte(password+"\n"))
}

// join signs this user in to the server, and registers the agent there. The client is nil without a server, and if
// the first password was changed.
func (s *stack) join(ctx context.Context, cluster *connect.Cluster) (*client.Client, error) {
	if s.server == "" {
		return nil, nil //nolint:nilnil // no server is no error
	}
	c, err := s.signIn(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		s.say("the first password is not that of %s any more: sign in with `slipway login %s --name %s`",
			s.dir.password(), s.serverURL(), s.context)
		return nil, nil //nolint:nilnil // the agent knows itself from the last time
	}
	return c, s.register(ctx, c, cluster)
}

// signIn makes the context; what it is signed in with is used as long as the server takes it.
func (s *stack) signIn(ctx context.Context) (*client.Client, error) {
	mine, err := s.claimContext()
	if err != nil {
		return nil, err
	}
	c, err := mine.Client(s.options.Version)
	if err != nil {
		return nil, err
	}
	who, err := c.Whoami(ctx)
	if api.CodeOf(err) == api.CodeUnauthenticated {
		password, err := s.dir.firstPassword()
		if err != nil {
			return nil, err
		}
		session, err := c.SignIn(ctx, api.SignIn{Username: firstUser, Password: password, Token: "slipway-up"})
		if code := api.CodeOf(err); err != nil && (code == api.CodeUnauthenticated || code == api.CodeForbidden || code == api.CodeInvalid) {
			return nil, nil //nolint:nilnil // another password
		}
		if err != nil {
			return nil, err
		}
		mine.Token = session.Token
		c = c.With(session.Token)
		if who, err = c.Whoami(ctx); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	mine.User, mine.ExpiresAt = who.Principal.ID, who.ExpiresAt
	return c, remote.Update(func(contexts *remote.Contexts) error {
		contexts.Set(mine)
		return nil
	})
}

// claimContext finds the context of this data directory, or makes one under a name that no other server has. It becomes
// the current one only where there is none, so that commands of another shell go on talking to the server they talked to.
func (s *stack) claimContext() (mine remote.Context, err error) {
	err = remote.Update(func(contexts *remote.Contexts) error {
		before, _ := readFacts(s.dir) // an earlier version noted no directory in the context
		for _, have := range contexts.Contexts {
			if have.Data == string(s.dir) || have.Data == "" && have.Name == before.Context && have.Server == before.Server {
				mine = have
			}
		}
		if mine.Server != s.serverURL() { // new, or the server has another port
			mine = remote.Context{Name: mine.Name, Server: s.serverURL()}
		}
		for n := 1; mine.Name == ""; n++ {
			name := contextName
			if n > 1 {
				name = fmt.Sprint(contextName, "-", n)
			}
			if have, taken := contexts.Get(name); !taken || orphaned(have) {
				mine.Name = name
			}
		}
		mine.Data, s.context = string(s.dir), mine.Name
		if contexts.Set(mine); contexts.Current == "" {
			contexts.Current = mine.Name
		}
		return s.writeEnv()
	})
	return mine, err
}

// orphaned reports whether a context is of a stack whose data directory is gone.
func orphaned(c remote.Context) bool {
	if c.Data == "" {
		return false
	}
	_, err := os.Stat(c.Data)
	return errors.Is(err, os.ErrNotExist)
}

// register makes the agent of the demo, and a token with which it joins unless it has.
func (s *stack) register(ctx context.Context, c *client.Client, cluster *connect.Cluster) error {
	id := api.ScopeAccount.ID(agentName)
	have, err := c.AgentEntities().Get(ctx, id)
	var made api.AgentRegistration
	switch {
	case api.CodeOf(err) == api.CodeNotFound && err != nil:
		made, err = c.CreateAgent(ctx, api.Agent{Meta: api.Meta{Name: agentName, Description: "the agent of slipway up"}}, false)
	case err != nil:
		return err
	case have.Status.State != api.AgentNever && have.Status.State != api.AgentRevoked && s.registered(ctx, cluster):
		return nil
	default:
		made, err = c.RegisterAgent(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("register the agent: %w", err)
	}
	return replaceFile(s.dir.registration(), []byte(made.Token+"\n"))
}

// registered reports whether the agent of the cluster has its identity.
func (s *stack) registered(ctx context.Context, cluster *connect.Cluster) bool {
	_, err := cluster.Dynamic.Resource(core("secrets")).Namespace(s.options.Namespace).Get(ctx, identitySecret, metav1.GetOptions{})
	return err == nil
}

// awaitCopy waits until the server knows of the applications that are in the cluster.
func (s *stack) awaitCopy(ctx context.Context, c *client.Client, cluster *connect.Cluster) error {
	if c == nil {
		return nil
	}
	parent := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, copyLimit,
		fmt.Errorf("the server did not learn of the applications within %s; the logs are in %s", copyLimit, s.dir.file("log")))
	defer cancel()
	apps, err := cluster.Apps.List(ctx, "")
	if err != nil {
		return err
	}
	id := api.ScopeAccount.ID(agentName)
	known := 0
	for {
		agent, err := c.AgentEntities().Get(ctx, id)
		if err == nil && agent.Status.State == api.AgentConnected {
			all, err := c.AllApplications(ctx, api.ApplicationFilter{ItemFilter: api.ItemFilter{Agent: id}})
			known = max(known, len(all))
			if err == nil && len(all) >= len(apps) {
				s.say("the agent is connected, the server knows %d applications", len(all))
				return nil
			}
		}
		if err != nil && api.CodeOf(err) != api.CodeUnavailable && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			if known > 0 && parent.Err() == nil { // what the server cannot take is no reason to stop all the rest
				s.say("the agent is connected, but the server knows only %d of %d applications; the logs are in %s", known,
					len(apps), s.dir.file("log"))
				return nil
			}
			return context.Cause(ctx)
		case <-time.After(lookAgain):
		}
	}
}
