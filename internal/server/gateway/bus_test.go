package gateway_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// bus is a NATS server of somebody else's, with two accounts and TLS. It stays at its address.
type bus struct {
	t       *testing.T
	address string
	secure  *tls.Config
	trust   *tls.Config
	// users says whom it knows.
	users func(*nats.Options)
	stop  func()
}

// newBus starts one that knows whom it is told of; two users with a password, each of an account of its own, where that is
// nobody.
func newBus(t *testing.T, users ...func(*nats.Options)) *bus {
	t.Helper()
	// The certificate of a test's web server is for 127.0.0.1.
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	b := &bus{
		t: t, address: testenv.Address(t), users: append(users, byPassword)[0], secure: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: web.TLS.Certificates},
		trust: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}
	b.start()
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *bus) start() {
	b.t.Helper()
	host, port, err := net.SplitHostPort(b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		b.t.Fatal(err)
	}
	options := &nats.Options{
		ServerName: "bus", DontListen: true, NoSigs: true, NoLog: true,
		LeafNode: nats.LeafNodeOpts{Host: host, Port: number, TLSConfig: b.secure, TLSTimeout: 10},
	}
	b.users(options)
	ns, err := nats.NewServer(options)
	if err != nil {
		b.t.Fatal(err)
	}
	ns.Start()
	b.stop = func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	}
	if !ns.ReadyForConnections(time.Minute) {
		b.t.Fatal("the NATS server does not start")
	}
}

func byPassword(options *nats.Options) {
	for _, user := range []string{"slipway", "other"} {
		account := nats.NewAccount(user)
		options.Accounts = append(options.Accounts, account)
		options.Users = append(options.Users, &nats.User{Username: user, Password: "s3cret", Account: account})
	}
}

// cluster is how a server meets others there.
func (b *bus) cluster(user, password string) *gateway.Cluster {
	at := &url.URL{Scheme: "tls", User: url.UserPassword(user, password), Host: b.address}
	return &gateway.Cluster{Bus: &gateway.Bus{URLs: []*url.URL{at}, TLS: b.trust}}
}

// busPair starts two servers that meet at a NATS server.
func busPair(t *testing.T) (one, two *server) {
	t.Helper()
	b := newBus(t)
	return meet(t, func(*server) *gateway.Cluster { return b.cluster("slipway", "s3cret") })
}

func TestServersThatMeetAtANATSServerMeetAgainWhenItIsBack(t *testing.T) {
	t.Parallel()
	b := newBus(t)
	one, two := meet(t, func(*server) *gateway.Cluster { return b.cluster("slipway", "s3cret") })
	b.stop()
	a := one.join(one.register("account.prod", "cluster")) // which it does not need for that
	b.start()
	// The other learns of the agent with a heartbeat, and can ask it then.
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		if h, _ := two.gateway.Health(a.uid); h.State == agentapi.StateConnected {
			break
		}
		select {
		case <-tick.C:
			a.beat(agentapi.Heartbeat{})
		case <-limit:
			t.Fatal("the servers do not meet again")
		}
	}
	came := two.do(t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindTree, User: "user:anna"})
	a.reply(a.command(), agentapi.Result{Status: agentapi.StatusDone, Message: "tree"})
	if got := wait(t, came, "the answer"); got.err != nil || got.result.Message != "tree" {
		t.Errorf("answer %+v", got)
	}
}

func TestWhoHasAnotherAccountOfTheNATSServerIsNoneOfThem(t *testing.T) {
	t.Parallel()
	b := newBus(t)
	one, two := meet(t, func(*server) *gateway.Cluster { return b.cluster("slipway", "s3cret") })
	heard := make(chan string, 10)
	for _, as := range []*gateway.Cluster{b.cluster("other", "s3cret"), b.cluster("slipway", "wrong")} {
		start(t, one.store, func(c *gateway.Config) {
			c.Cluster, c.Key = as, one.key
			c.Heard = func(data []byte) { heard <- string(data) }
		})
	}
	a := one.join(one.register("account.prod", "cluster"))
	two.until("the agent", func() bool { h, _ := two.gateway.Health(a.uid); return h.State == agentapi.StateConnected })
	one.gateway.Peers.Broadcast([]byte("not for others"))
	if len(heard) > 0 {
		t.Errorf("a stranger heard %q", <-heard)
	}
}
