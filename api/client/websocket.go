package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"
)

// maxMessage bounds what one message of a WebSocket may hold, in bytes.
const maxMessage = 1 << 20

// webSocket is the client's end of a WebSocket connection.
type webSocket struct{ conn *websocket.Conn }

// dialWebSocket opens one. The request goes through the proxy and the TLS settings of the client.
func (c *Client) dialWebSocket(ctx context.Context, path string, query url.Values) (*webSocket, error) {
	transport, err := c.http1()
	if err != nil {
		return nil, err
	}
	plain := *c
	plain.http = &http.Client{Transport: transport, CheckRedirect: c.http.CheckRedirect}
	up := &upgrade{c: &plain, r: call{method: http.MethodGet, path: path, query: query}}
	through := &websocket.DialOptions{HTTPClient: &http.Client{Transport: up}}
	conn, answer, err := websocket.Dial(ctx, c.base.String(), through) //nolint:bodyclose // the library closes it
	switch {
	case up.err != nil:
		return nil, up.err
	case err != nil && answer != nil:
		return nil, fmt.Errorf(
			"server %s did not open a WebSocket (%s): let WebSockets through whatever is in front of it", c.base, statusOf(answer))
	case err != nil:
		return nil, fmt.Errorf("open a WebSocket to %s: %w", c.base, err)
	}
	conn.SetReadLimit(maxMessage)
	return &webSocket{conn}, nil
}

// upgrade sends the request of a handshake as the client sends all others: to its path, with its token, and with its errors.
type upgrade struct {
	c   *Client
	r   call
	err error // why the server did not answer, or refused
}

// RoundTrip sends the request.
func (u *upgrade) RoundTrip(r *http.Request) (*http.Response, error) {
	u.r.header = r.Header
	answer, err := u.c.open(r.Context(), u.r)
	u.err = err
	return answer, err
}

// http1 is a transport that speaks HTTP/1.1 only: there is no upgrade in HTTP/2.
func (c *Client) http1() (*http.Transport, error) {
	own, ok := c.http.Transport.(*http.Transport)
	if !ok {
		return nil, errors.New("the client has a transport of another kind")
	}
	t := own.Clone()
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	if t.TLSClientConfig != nil {
		t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	return t, nil
}

// send writes a message. The end of ctx closes the connection.
func (w *webSocket) send(ctx context.Context, kind websocket.MessageType, data []byte) error {
	return w.conn.Write(ctx, kind, data)
}

// errClosed is the end that the other side announced, with its reason.
type errClosed struct{ reason string }

func (e *errClosed) Error() string { return "closed: " + e.reason }

// receive gives the next message, and whether it is text. io.EOF or *errClosed is the end. The end of ctx closes the connection.
func (w *webSocket) receive(ctx context.Context) (text bool, message []byte, err error) {
	kind, message, err := w.conn.Read(ctx)
	var end websocket.CloseError
	switch {
	case err == nil:
		return kind == websocket.MessageText, message, nil
	case errors.As(err, &end) && end.Reason != "":
		return false, nil, &errClosed{strings.ToValidUTF8(end.Reason, "")}
	case errors.Is(err, websocket.ErrMessageTooBig):
		return false, nil, errors.New("a message is larger than any that a server sends")
	}
	return false, nil, io.EOF // the connection is gone, in whatever way
}

// close announces the end and closes the connection.
func (w *webSocket) close() error { return w.conn.Close(websocket.StatusNormalClosure, "") }
