package link

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	agentlink "github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

var errKilled = errors.New("the process is dead")

// vault is a store whose server dies at a step of a rotation.
type vault struct {
	*store
	step func(name string) error
}

func (v vault) SetNextKey(ctx context.Context, uid string, epoch int64, key string) error {
	if key == "" {
		return v.store.SetNextKey(ctx, uid, epoch, key)
	}
	if err := v.step("before the next key is stored"); err != nil {
		return err
	}
	return errors.Join(v.store.SetNextKey(ctx, uid, epoch, key), v.step("after the next key is stored"))
}

func (v vault) PromoteKey(ctx context.Context, uid, key string) error {
	if err := v.step("before the key before ends"); err != nil {
		return err
	}
	return errors.Join(v.store.PromoteKey(ctx, uid, key), v.step("after the key before ends"))
}

func (v vault) BeginSession(ctx context.Context, uid string, s gateway.Session, now time.Time) (gateway.Agent, error) {
	if err := v.step("before the session"); err != nil {
		return gateway.Agent{}, err
	}
	agent, err := v.store.BeginSession(ctx, uid, s, now)
	return agent, errors.Join(err, v.step("after the session"))
}

// mortal is the API of a cluster for a process that dies at a write of its identity. It notes every key that is written.
type mortal struct {
	typed.CoreV1Interface
	step func(name string) error
	note func(*corev1.Secret)
}

func (m mortal) Secrets(ns string) typed.SecretInterface {
	return mortalSecrets{m.CoreV1Interface.Secrets(ns), m}
}

type mortalSecrets struct {
	typed.SecretInterface
	mortal mortal
}

func (m mortalSecrets) Update(ctx context.Context, secret *corev1.Secret, options metav1.UpdateOptions) (*corev1.Secret, error) {
	name := "the next keys are written"
	if len(secret.Data["next-seed"]) == 0 {
		name = "the next key is written as the present one"
	}
	if err := m.mortal.step("before " + name); err != nil {
		return nil, err
	}
	m.mortal.note(secret)
	out, err := m.SecretInterface.Update(ctx, secret, options)
	if err := m.mortal.step("after " + name); err != nil {
		return nil, err
	}
	return out, err
}

// reaper kills whoever comes to a step, and lets nothing of it go on.
type reaper struct {
	mu    sync.Mutex
	at    string // "" for nowhere
	kill  func()
	died  chan struct{}
	alive bool
}

func (r *reaper) step(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.alive {
		return errKilled
	}
	if r.at == "" || name != r.at {
		return nil
	}
	r.alive = false
	r.kill()
	close(r.died)
	return errKilled
}

func (r *reaper) arm(at string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = at
}

func (r *reaper) raise() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.alive = "", true
}

// ring is the keys that an identity ever had.
type ring struct {
	mu    sync.Mutex
	seeds map[string]bool
}

func (r *ring) note(secret *corev1.Secret) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, field := range []string{"seed", "next-seed"} {
		if seed := secret.Data[field]; len(seed) > 0 {
			r.seeds[string(seed)] = true
		}
	}
}

// working returns the public keys that the server takes.
func (r *ring) working(t *testing.T, s *server) (keys []string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for seed := range r.seeds {
		pair, err := nkeys.FromSeed([]byte(seed))
		if err != nil {
			t.Fatal(err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.store.AgentByKey(t.Context(), public); err == nil {
			keys = append(keys, public)
		}
	}
	return keys
}

func (r *ring) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seeds)
}

// kept returns the identity as it is in the cluster.
func kept(t *testing.T, c *cluster) *corev1.Secret {
	t.Helper()
	secret, err := c.core.Secrets(c.ns).Get(t.Context(), agentlink.SecretIdentity, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestARotationThatIsKilledAtAnyStepLeavesOneKeyAndTheAgentComesBack(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"agent", "server"} {
		steps := []string{
			"before the next key is stored", "after the next key is stored", "before the key before ends", "after the key before ends",
			"before the session", "after the session",
		}
		if who == "agent" {
			steps = append(steps, "before the next keys are written", "after the next keys are written",
				"before the next key is written as the present one", "after the next key is written as the present one")
		}
		for _, step := range steps {
			t.Run(who+" dies "+step, func(t *testing.T) {
				t.Parallel()
				killRotation(t, who, step)
			})
		}
	}
}

// killRotation kills a party at a step of a rotation, starts it again, and looks what is left; then the key is changed once
// more, and none of before works.
func killRotation(t *testing.T, who, step string) {
	t.Helper()
	r := &reaper{died: make(chan struct{}), alive: true}
	mem := newStore()
	s := startServer(t, mem, func(c *gateway.Config) { c.Agents = vault{mem, r.step} })
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	far := newCutter(t, strings.TrimPrefix(s.http.URL, "https://"))
	keys := &ring{seeds: map[string]bool{}}
	a := startAgent(t, far.url(), token, c, func(cfg *agentlink.Config) { cfg.Core = mortal{c.core, r.step, keys.note} })
	s.store.until(t, "the first session", s.connected(uid))
	keys.note(kept(t, c))
	r.mu.Lock()
	r.kill = far.cut // nothing is heard of it any more
	r.mu.Unlock()
	r.arm(step)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := command(agentapi.KindRotate)
	cmd.ID, cmd.Target = "first", agentapi.Target{}
	asked := make(chan struct{})
	go func() { defer close(asked); _, _ = s.gateway.Commands.Do(ctx, uid, cmd) }()
	select {
	case <-r.died:
	case <-ctx.Done():
		t.Fatal("the rotation does not come to that step")
	}
	a.stop()
	far.cut()
	if who == "server" {
		s.stop()
	}
	cancel()
	<-asked
	r.raise()
	if who == "server" {
		s.start()
	}
	far.restore()
	back := startAgent(t, far.url(), token, c, func(cfg *agentlink.Config) { cfg.Core = mortal{c.core, r.step, keys.note} })
	s.store.until(t, "the agent is back", s.connected(uid))
	one := func() bool {
		secret := kept(t, c)
		pair, err := nkeys.FromSeed(secret.Data["seed"])
		if err != nil {
			return false
		}
		public, _ := pair.PublicKey()
		return slices.Equal(keys.working(t, s), []string{public})
	}
	s.store.until(t, "exactly the key that the agent has works", one)
	back.Changed(c.put(0, "second"))
	s.store.until(t, "a change after it", s.settled(uid, c))
	before, old := keys.len(), kept(t, c).Data["seed"]
	rotateAgain(t, s, uid)
	s.store.until(t, "one key after the next rotation", func() bool {
		return keys.len() > before && string(kept(t, c).Data["seed"]) != string(old) && len(kept(t, c).Data["next-seed"]) == 0 && one()
	})
}

// rotateAgain changes the key once more, however the connection is just then.
func rotateAgain(t *testing.T, s *server, uid string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := command(agentapi.KindRotate)
	cmd.Target = agentapi.Target{}
	if got, err := s.gateway.Commands.Do(ctx, uid, cmd); err != nil || got.Status != agentapi.StatusDone {
		t.Fatalf("rotate again: %+v, %v", got, err)
	}
}

func TestARotationAfterOneThatWasNotWrittenToItsEndMakesNewKeys(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	keys := &ring{seeds: map[string]bool{}}
	var mu sync.Mutex
	fails := 0
	step := func(name string) error { // the API server is away for one write, as it may be
		mu.Lock()
		defer mu.Unlock()
		switch {
		case name == "after the next keys are written" && keys.len() == 2:
			fails = 1
		case name == "before the next key is written as the present one" && fails > 0:
			fails--
			return errors.New("the API server is away")
		}
		return nil
	}
	startAgent(t, s.http.URL, token, c, func(cfg *agentlink.Config) { cfg.Core = mortal{c.core, step, keys.note} })
	s.store.until(t, "the first session", s.connected(uid))
	rotateAgain(t, s, uid)
	s.store.until(t, "the session with the next key", func() bool {
		agent, err := s.store.AgentByUID(t.Context(), uid)
		return err == nil && agent.NextKey == "" && agent.Epoch > 2 && s.connected(uid)()
	})
	agent, err := s.store.AgentByUID(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	rotateAgain(t, s, uid)
	s.store.until(t, "a key that is neither of the two", func() bool {
		now, err := s.store.AgentByUID(t.Context(), uid)
		return err == nil && now.PublicKey != agent.PublicKey && now.NextKey == "" && keys.len() == 3 && len(keys.working(t, s)) == 1
	})
}
