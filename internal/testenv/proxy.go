package testenv

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy is a forward proxy on loopback that speaks both CONNECT of HTTP and SOCKS 5. Every name leads to this machine. It ends with
// the test.
type Proxy struct {
	user, password string
	listener       net.Listener
	used           atomic.Int64
	running        sync.WaitGroup
	to             atomic.Pointer[string] // where every connection goes; nil: to this machine, on the port that was asked for

	mu    sync.Mutex
	hosts []string
	conns []net.Conn
}

// NewProxy starts one that asks for a user and a password; for none where user is "".
func NewProxy(t testing.TB, user, password string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen for a proxy: %v", err)
	}
	p := &Proxy{user: user, password: password, listener: listener}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.running.Wait()
	})
	return p
}

// URL is the address with user and password.
func (p *Proxy) URL() *url.URL {
	out := &url.URL{Scheme: "http", Host: p.Address()}
	if p.user != "" {
		out.User = url.UserPassword(p.user, p.password)
	}
	return out
}

// Address is host and port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Used is how many connections were carried.
func (p *Proxy) Used() int64 { return p.used.Load() }

// Hosts are what was asked for: names, or addresses that were resolved elsewhere.
func (p *Proxy) Hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.hosts...)
}

// Tunnel starts a proxy that leads every name to one address, and returns its own.
func Tunnel(t testing.TB, to string) (proxy string) {
	t.Helper()
	p := NewProxy(t, "", "")
	p.to.Store(&to)
	return "http://" + p.Address()
}

func (p *Proxy) keep(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.keep(conn)
		p.running.Go(func() {
			defer func() { _ = conn.Close() }()
			in := bufio.NewReader(conn)
			first, err := in.Peek(1)
			if err != nil {
				return
			}
			answer, good, bad := p.connect, "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 502 Zaubernuss\r\nContent-Length: 0\r\n\r\n"
			if first[0] == 5 {
				answer, good, bad = p.socks, "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", "\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00"
			}
			target := answer(conn, in)
			if target == "" {
				return
			}
			far, err := p.dial(target)
			if err != nil {
				_, _ = io.WriteString(conn, bad)
				return
			}
			_, _ = io.WriteString(conn, good)
			join(conn, in, far)
		})
	}
}

// connect takes a CONNECT.
func (p *Proxy) connect(conn net.Conn, in *bufio.Reader) string {
	req, err := http.ReadRequest(in)
	if err != nil {
		return ""
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.user+":"+p.password))
	switch {
	case p.user != "" && req.Header.Get("Proxy-Authorization") != want:
		_, _ = io.WriteString(conn, "HTTP/1.1 407 Zaubernuss\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"+
			"Connection: close\r\nContent-Length: 0\r\n\r\n")
		return ""
	case req.Method != http.MethodConnect:
		_, _ = io.WriteString(conn, "HTTP/1.1 405 Zaubernuss\r\nContent-Length: 0\r\n\r\n")
		return ""
	}
	return req.Host
}

// socks takes a CONNECT of SOCKS 5.
func (p *Proxy) socks(conn net.Conn, in *bufio.Reader) string {
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(in, b); err != nil {
			return make([]byte, n)
		}
		return b
	}
	head := read(2)
	methods := read(int(head[1]))
	if p.user == "" {
		_, _ = conn.Write([]byte{5, 0})
	} else {
		if !strings.ContainsRune(string(methods), 2) {
			_, _ = conn.Write([]byte{5, 255})
			return ""
		}
		_, _ = conn.Write([]byte{5, 2})
		user := string(read(int(read(2)[1])))
		password := string(read(int(read(1)[0])))
		if user != p.user || password != p.password {
			_, _ = conn.Write([]byte{1, 1})
			return ""
		}
		_, _ = conn.Write([]byte{1, 0})
	}
	host := ""
	switch read(4)[3] {
	case 1:
		host = net.IP(read(4)).String()
	case 3:
		host = string(read(int(read(1)[0])))
	case 4:
		host = net.IP(read(16)).String()
	}
	port := binary.BigEndian.Uint16(read(2))
	return net.JoinHostPort(host, fmt.Sprint(port))
}

// dial connects to a target.
func (p *Proxy) dial(target string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.hosts = append(p.hosts, host)
	p.mu.Unlock()
	address := net.JoinHostPort("127.0.0.1", port)
	if to := p.to.Load(); to != nil {
		address = *to
	}
	far, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	p.keep(far)
	p.used.Add(1)
	return far, nil
}

func join(conn net.Conn, in *bufio.Reader, far net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(far, in); _ = far.Close() })
	both.Go(func() { _, _ = io.Copy(conn, far); _ = conn.Close() })
	both.Wait()
}
