package security

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/inlet"
	"github.com/slipway-gitops/slipway/internal/server"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// slowRequests end before they are whole, each in another phase.
func slowRequests() map[string]string {
	const half = "Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n{"
	return map[string]string{
		"nothing":                 "",
		"half a header":           "GET /api/v1/session/methods HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		"a sign-in":               "POST /api/v1/session HTTP/1.1\r\nHost: x\r\n" + half,
		"a sign-in in chunks":     "POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"a registration":          "POST /link/register HTTP/1.1\r\nHost: x\r\n" + half,
		"a link":                  "GET /link HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
		"a link with a body":      "GET /link HTTP/1.1\r\nHost: x\r\n" + half,
		"a path that is not":      "POST /nowhere HTTP/1.1\r\nHost: x\r\n" + half,
		"a method that is not":    "PATCH /api/v1/session HTTP/1.1\r\nHost: x\r\n" + half,
		"a read with a body":      "GET /api/v1/applications HTTP/1.1\r\nHost: x\r\n" + half,
		"a page with a body":      "GET / HTTP/1.1\r\nHost: x\r\n" + half,
		"a probe with a body":     "GET /readyz HTTP/1.1\r\nHost: x\r\n" + half,
		"a token that is not":     "POST /api/v1/roles HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer slp_no\r\n" + half,
		"a body that is too long": "POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 200000000\r\n\r\n{",
		"a promise of a body":     "POST /api/v1/session HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 200000\r\n\r\n",
		"a preflight with a body": "OPTIONS /api/v1/session HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n" + half,
		"an upgrade with a body":  "GET /api/v1/applications/a/b/c/terminal HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" + half,
	}
}

// slowest is how long a request that is not whole may hold a connection, on a machine that has much else to do.
const slowest = 25 * time.Second

func TestARequestThatNeverEndsHoldsNoConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *server.Config) { c.MetricsListen = "127.0.0.1:0" })
	for name, request := range slowRequests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			begun := time.Now()
			if err := conn.SetDeadline(begun.Add(slowest)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Fatalf("still open after %s, with the answer %.200q", time.Since(begun), answer)
			}
		})
	}
}

// again is how long an attacker waits before a connection that was closed is opened again: what is measured is no flood.
const again = 5 * time.Second

// swarm holds slow connections from many addresses, and opens each again when it is closed.
type swarm struct {
	target     string
	requests   []string
	open, made atomic.Int64
	wait       sync.WaitGroup
}

func (s *swarm) attack(ctx context.Context, connections, addresses int) {
	dial := make(chan struct{}, 64) // so that what is measured is not a storm of connections
	for i := range connections {
		host := i % addresses
		from := netip.AddrFrom4([4]byte{127, byte(10 + host/62500), byte(host / 250 % 250), byte(1 + host%250)})
		s.wait.Go(func() {
			for round := i; ctx.Err() == nil; round++ {
				dial <- struct{}{}
				conn := s.dial(ctx, from, s.requests[round%len(s.requests)])
				<-dial
				if conn != nil {
					s.open.Add(1)
					_, _ = io.Copy(io.Discard, conn) // until the server closes it
					s.open.Add(-1)
					_ = conn.Close()
				}
				select {
				case <-ctx.Done():
				case <-time.After(again):
				}
			}
		})
	}
}

func (s *swarm) dial(ctx context.Context, from netip.Addr, request string) net.Conn {
	dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), Timeout: 10 * time.Second, KeepAlive: -1}
	conn, err := dialer.DialContext(ctx, "tcp", s.target)
	if err != nil {
		return nil
	}
	s.made.Add(1)
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, request) // what is closed by now is dialed again
	return conn
}

// memory is the most that a process ever had in memory, in MiB.
func memory(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("the memory of a process is not to be had here: %v", err)
	}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kib >> 10
		}
	}
	t.Fatal("the status of a process has no VmHWM")
	return 0
}

// quickly is how long an answer may take for 95 of 100 requests, and smallest the memory of the server in MiB.
const (
	quickly  = 100 * time.Millisecond
	smallest = 300
)

// TestSlowConnectionsAreNobodyElsesMatter measures what people see while 1,000 slow connections are held from 100 addresses;
// with SLIPWAY_SOAK_ROUNDS 10,000 from 1,000.
func TestSlowConnectionsAreNobodyElsesMatter(t *testing.T) { //nolint:paralleltest // it measures
	if testing.Short() {
		t.Skip("it measures with other processes: make test does")
	}
	connections, addresses := 1000, 100
	if os.Getenv("SLIPWAY_SOAK_ROUNDS") != "" {
		connections, addresses = 10_000, 1000
	}
	home, address := t.TempDir(), testenv.Address(t)
	process := testenv.NewProcess(t, "server", "slipway-server", home, "--listen", address, "--data", home, "--rate-limit", "1000", "--rate-burst", "1000")
	process.Env = []string{"SLIPWAY_ADMIN_PASSWORD=" + password}
	process.Start()
	w := &world{t: t, url: "http://" + address, answers: newRecord()}
	w.awaitReady()
	w.admin = w.signIn("admin", password)
	before := w.paced(100)
	ctx, stop := context.WithCancel(t.Context())
	s := &swarm{target: address}
	for _, request := range slowRequests() {
		s.requests = append(s.requests, request)
	}
	s.attack(ctx, connections, addresses)
	defer s.wait.Wait()
	defer stop()
	for tick := time.Tick(10 * time.Millisecond); s.made.Load() < int64(connections); {
		select {
		case <-tick:
		case <-time.After(limit):
			t.Fatalf("%d of %d connections after %s", s.made.Load(), connections, limit)
		}
	}
	during := w.paced(300)
	most := memory(t, process.Pid())
	t.Logf("%d slow connections from %d addresses, %d open, %d made: p95 %s (before %s), memory %d MiB",
		connections, addresses, s.open.Load(), s.made.Load(), during, before, most)
	if during > quickly {
		t.Errorf("p95 %s with slow connections, want %s at most", during, quickly)
	}
	if most > smallest {
		t.Errorf("the server took %d MiB, want %d at most", most, smallest)
	}
}

// awaitReady waits until a server that was started answers.
func (w *world) awaitReady() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), limit)
	defer cancel()
	for tick := time.Tick(20 * time.Millisecond); ; {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/readyz", nil)
		if err != nil {
			w.t.Fatal(err)
		}
		if response, err := client().Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick:
		case <-ctx.Done():
			w.t.Fatal("the server was not ready in time")
		}
	}
}

// paced asks for what everybody's page asks for, on new connections, and gives the time that 95 of 100 requests stay below.
func (w *world) paced(requests int) time.Duration {
	w.t.Helper()
	var took []time.Duration
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range requests {
		<-tick.C
		begun := time.Now()
		if out := w.do(w.admin, http.MethodGet, "/applications", ""); out.StatusCode != http.StatusOK {
			w.t.Fatal(out)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)*95/100]
}

func TestOneAddressHoldsNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *server.Config) {
		c.Connections = inlet.Limits{PerAddress: 10, Header: limit, Body: limit, Idle: limit}
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.99.0.1/32")}
	})
	held := func(from string, connections int, patience time.Duration) int {
		var open []net.Conn
		for range connections {
			s := swarm{target: strings.TrimPrefix(w.url, "http://")}
			conn := s.dial(t.Context(), netip.MustParseAddr(from), slowRequests()["a sign-in"])
			if conn == nil {
				t.Fatal("the server takes no connection")
			}
			open = append(open, conn)
		}
		// The last one is the one that is never closed for another: once a request was answered, all have been taken.
		w.do(w.admin, http.MethodGet, "/roles", "")
		closed := 0
		for _, conn := range open[:max(connections-10, 0)] {
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			_, err := conn.Read(make([]byte, 1))
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				closed++
			}
		}
		return connections - closed
	}
	if n := held("127.98.0.1", 15, limit); n != 10 {
		t.Errorf("one address holds %d connections, want 10", n)
	}
	// None is to be closed, so the whole time is waited for each.
	if n := held("127.99.0.1", 15, 500*time.Millisecond); n != 15 {
		t.Errorf("a proxy holds %d connections, want all 15", n)
	}
}
