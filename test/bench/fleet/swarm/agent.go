package swarm

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"sync/atomic"

	"github.com/nats-io/nkeys"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/link"
)

// agent is one simulated agent: the link of the real one, with made-up items and no cluster.
type agent struct {
	number int
	items  *items
	core   *core
	link   *link.Link
	// executed counts the commands that it carried out.
	executed atomic.Int64
}

// newAgent makes an agent that is not registered yet.
func newAgent(o Options, number int) (*agent, error) {
	have, err := newItems(o.Seed, number, o.Applications, o.Big)
	if err != nil {
		return nil, err
	}
	return &agent{number: number, items: have, core: newCore(clusterUID(number))}, nil
}

func clusterUID(number int) string { return fmt.Sprintf("c0ffee00-0000-4000-8000-%012x", number) }

// register makes keys, shows them to the server and keeps them where the link looks for its identity.
func (a *agent) register(ctx context.Context, door *door, token string) error {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return fmt.Errorf("make the key of agent %d: %w", a.number, err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return fmt.Errorf("read the key of agent %d: %w", a.number, err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return fmt.Errorf("read the key of agent %d: %w", a.number, err)
	}
	sealed, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("make the key of agent %d: %w", a.number, err)
	}
	in := agentapi.Registration{
		Token: token, PublicKey: public, SealKey: sealed.PublicKey().Bytes(), ClusterUID: clusterUID(a.number),
		Namespace: Namespace, Version: version,
	}
	if in.Signature, err = pair.Sign(agentapi.RegistrationText(in)); err != nil {
		return fmt.Errorf("sign the registration of agent %d: %w", a.number, err)
	}
	out, err := door.register(ctx, a.number, in)
	if err != nil {
		return fmt.Errorf("register agent %d: %w", a.number, err)
	}
	_, err = a.core.secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: link.SecretIdentity},
		Data: map[string][]byte{
			"seed": seed, "seal-key": sealed.Bytes(), "agent": []byte(out.Agent), "uid": []byte(out.UID), "server": []byte(door.server.String()),
			"server-key": out.ServerKey,
		},
	}, metav1.CreateOptions{})
	return err
}

// version is what the agents say they are.
const version = "bench"

// connect makes the link; it does nothing before it runs.
func (a *agent) connect(server *url.URL, ca string, log *slog.Logger) {
	done := func(context.Context, agentapi.Command) (any, error) {
		a.executed.Add(1)
		return nil, nil //nolint:nilnil // a refresh has no body
	}
	run := a.looks()
	maps.Copy(run, a.foresees())
	run[agentapi.KindRefresh] = done
	a.link = link.New(link.Config{
		Server: server, Transport: link.Transport{
			CAFile: ca, Proxy: func(*url.URL) (*url.URL, error) { return nil, nil },
		}, //nolint:nilnil // none
		Token: func() (string, error) { return "", nil }, Core: a.core, Namespace: Namespace,
		Instance: fmt.Sprintf("bench-%d", a.number), Source: a.items,
		Versions: func() agentapi.Versions {
			return agentapi.Versions{Agent: version, Kubernetes: "v1.36.3", Git: "2.50.0"}
		},
		Components: func() []agentapi.Component {
			return []agentapi.Component{{Name: "engine", Status: agentapi.ComponentHealthy}}
		},
		Policy:    func() map[string]string { return nil },
		Manages:   func(namespace string) bool { return namespace == Namespace },
		Executors: run, Streamers: map[agentapi.Kind]link.Streamer{agentapi.KindTreeWatch: a.watchTree, agentapi.KindResourceLogs: a.showLogs},
		Log: log.With("agent", a.number),
	})
}
