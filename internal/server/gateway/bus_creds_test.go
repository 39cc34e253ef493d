package gateway_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	nats "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// operator signs accounts of a NATS server that knows its users by JWT.
type operator struct {
	t        *testing.T
	pair     nkeys.KeyPair
	claims   *jwt.OperatorClaims
	resolver *nats.MemAccResolver
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{t: t, resolver: &nats.MemAccResolver{}}
	var public string
	o.pair, public = pairOf(t, nkeys.CreateOperator)
	o.claims = jwt.NewOperatorClaims(public)
	return o
}

func pairOf(t *testing.T, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair, public
}

// configure has a NATS server trust the operator.
func (o *operator) configure(options *nats.Options) {
	options.TrustedOperators, options.AccountResolver = []*jwt.OperatorClaims{o.claims}, o.resolver
}

// credentials are those of a user of an account of its own, as a file that NATS makes.
func (o *operator) credentials() string {
	o.t.Helper()
	account, accountKey := pairOf(o.t, nkeys.CreateAccount)
	signed, err := jwt.NewAccountClaims(accountKey).Encode(o.pair)
	if err != nil {
		o.t.Fatal(err)
	}
	if err := o.resolver.Store(accountKey, signed); err != nil {
		o.t.Fatal(err)
	}
	user, userKey := pairOf(o.t, nkeys.CreateUser)
	token, err := jwt.NewUserClaims(userKey).Encode(account)
	if err != nil {
		o.t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		o.t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		o.t.Fatal(err)
	}
	file := filepath.Join(o.t.TempDir(), "user.creds")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		o.t.Fatal(err)
	}
	return file
}

func TestServersMeetAtANATSServerThatKnowsThemByCredentials(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	mine, others := o.credentials(), o.credentials()
	stranger := newOperator(t).credentials()
	b := newBus(t, o.configure)
	with := func(file string) *gateway.Cluster {
		at := &url.URL{Scheme: "tls", Host: b.address}
		return &gateway.Cluster{Bus: &gateway.Bus{URLs: []*url.URL{at}, TLS: b.trust, Credentials: file}}
	}
	one, two := meet(t, func(*server) *gateway.Cluster { return with(mine) })
	heard := make(chan string, 10)
	for _, file := range []string{others, stranger, ""} {
		start(t, one.store, func(c *gateway.Config) {
			c.Cluster, c.Key = with(file), one.key
			c.Heard = func(data []byte) { heard <- string(data) }
		})
	}
	a := one.join(one.register("account.prod", "cluster"))
	two.until("the agent", func() bool { h, _ := two.gateway.Health(a.uid); return h.State == agentapi.StateConnected })
	came := two.do(t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindTree, User: "user:anna"})
	a.reply(a.command(), agentapi.Result{Status: agentapi.StatusDone, Message: "tree"})
	if got := wait(t, came, "the answer"); got.err != nil || got.result.Message != "tree" {
		t.Errorf("answer %+v", got)
	}
	one.gateway.Peers.Broadcast([]byte("not for others"))
	if len(heard) > 0 {
		t.Errorf("a stranger heard %q", <-heard)
	}
}
