package outward

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// maxConnect bounds the answer of a proxy, in bytes.
const maxConnect = 64 << 10

// ProxyRefused is the answer of a proxy that opens no tunnel.
type ProxyRefused struct{ Code int }

// Error names the status.
func (r *ProxyRefused) Error() string { return "the proxy answers with " + Status(r.Code) }

// Connect has an HTTP proxy open a tunnel to a host and its port, over a connection to the proxy, and returns the tunnel. User and
// password are those in the address of the proxy. early reports that something came with the answer, which the tunnel gives first. The
// end of ctx ends the connection while the proxy is asked; the caller closes it after an error. The error of a *ProxyRefused is safe to
// show, others may have words of the proxy.
func Connect(ctx context.Context, conn net.Conn, proxy *url.URL, target string) (tunnel net.Conn, early bool, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	req := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{"User-Agent": {"slipway"}},
	}
	if proxy.User != nil {
		password, _ := proxy.User.Password()
		login := base64.StdEncoding.EncodeToString([]byte(proxy.User.Username() + ":" + password))
		req.Header.Set("Proxy-Authorization", "Basic "+login)
	}
	if err := req.Write(conn); err != nil {
		return nil, false, err
	}
	in := bufio.NewReader(io.LimitReader(conn, maxConnect))
	resp, err := http.ReadResponse(in, req)
	if err != nil {
		return nil, false, err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, false, &ProxyRefused{resp.StatusCode}
	}
	if in.Buffered() == 0 {
		return conn, false, nil
	}
	begun, _ := in.Peek(in.Buffered())
	return &begunConn{Conn: conn, begun: append([]byte{}, begun...)}, true, nil
}

// begunConn is a connection of which a part was read already.
type begunConn struct {
	net.Conn
	begun []byte
}

// Read implements io.Reader.
func (c *begunConn) Read(p []byte) (int, error) {
	if len(c.begun) > 0 {
		n := copy(p, c.begun)
		c.begun = c.begun[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}
