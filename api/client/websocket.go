package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6455 says so; nothing is kept secret by it
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Kinds of frames (RFC 6455, 5.2).
const (
	frameMore   = 0x0
	frameText   = 0x1
	frameBinary = 0x2
	frameClose  = 0x8
	framePing   = 0x9
	framePong   = 0xa

	final1   = 0x80 // the frame ends its message
	masked   = 0x80 // clients mask what they send
	length16 = 126
	length64 = 127
	// maxFrame bounds what one frame may hold, and what one message may.
	maxFrame = 1 << 20
)

// webSocket is the client's end of a WebSocket connection: what a terminal needs of RFC 6455.
type webSocket struct {
	conn io.ReadWriteCloser
	in   *bufio.Reader
	out  sync.Mutex
}

// dialWebSocket opens one. The request goes through the proxy and the TLS settings of the client.
func (c *Client) dialWebSocket(ctx context.Context, path string, query url.Values) (*webSocket, error) {
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make key of a WebSocket: %w", err)
	}
	nonce := base64.StdEncoding.EncodeToString(key)
	r := call{method: http.MethodGet, path: path, query: query, header: http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {nonce},
	}}
	plain := *c
	transport, err := c.http1()
	if err != nil {
		return nil, err
	}
	plain.http = &http.Client{Transport: transport, CheckRedirect: c.http.CheckRedirect}
	answer, err := plain.open(ctx, r)
	if err != nil {
		return nil, err
	}
	conn, ok := answer.Body.(io.ReadWriteCloser)
	sum := sha1.Sum([]byte(nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as above
	if !ok || answer.StatusCode != http.StatusSwitchingProtocols ||
		answer.Header.Get("Sec-Websocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) {
		_ = answer.Body.Close() // it is not what was asked for
		return nil, fmt.Errorf("server %s did not open a WebSocket (%s): let WebSockets through whatever is in front of it", c.base, statusOf(answer))
	}
	return &webSocket{conn: conn, in: bufio.NewReader(conn)}, nil
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

// send writes a frame that is a whole message.
func (w *webSocket) send(kind byte, data []byte) error {
	head := make([]byte, 0, 14)
	head = append(head, final1|kind)
	switch n := len(data); {
	case n < length16:
		head = append(head, masked|byte(n)) //nolint:gosec // below 126
	case n <= 0xffff:
		head = append(head, masked|length16)
		head = binary.BigEndian.AppendUint16(head, uint16(n)) //nolint:gosec // below 65536
	default:
		head = append(head, masked|length64)
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	var mask [4]byte
	if _, err := rand.Read(mask[:]); err != nil {
		return fmt.Errorf("mask a frame: %w", err)
	}
	frame := append(head, mask[:]...)
	for i, b := range data {
		frame = append(frame, b^mask[i%4])
	}
	w.out.Lock()
	defer w.out.Unlock()
	_, err := w.conn.Write(frame)
	return err
}

// errClosed is the end that the other side said, with its reason.
type errClosed struct{ reason string }

func (e *errClosed) Error() string { return "closed: " + e.reason }

// receive gives the next message, and whether it is text. io.EOF or *errClosed is the end.
func (w *webSocket) receive() (text bool, message []byte, err error) {
	for {
		last, kind, data, err := w.frame()
		if err != nil {
			return false, nil, err
		}
		switch kind {
		case framePing:
			if err := w.send(framePong, data); err != nil {
				return false, nil, err
			}
			continue
		case framePong:
			continue
		case frameClose:
			return false, nil, closed(data)
		case frameText, frameBinary:
			text = kind == frameText
		case frameMore:
		default:
			return false, nil, fmt.Errorf("a frame of kind %d: the server speaks something else", kind)
		}
		if len(message)+len(data) > maxFrame {
			return false, nil, errors.New("a message is larger than anything that is one")
		}
		message = append(message, data...)
		if last {
			return text, message, nil
		}
	}
}

func closed(data []byte) error {
	const code = 2
	if len(data) <= code {
		return io.EOF
	}
	return &errClosed{strings.ToValidUTF8(string(data[code:]), "")}
}

func (w *webSocket) frame() (last bool, kind byte, data []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return false, 0, nil, io.EOF // the connection is gone, in whatever way
	}
	if head[1]&masked != 0 || head[0]&0x70 != 0 {
		return false, 0, nil, errors.New("a frame that a server may not send")
	}
	n := uint64(head[1] &^ masked)
	switch n {
	case length16:
		var more [2]byte
		_, err = io.ReadFull(w.in, more[:])
		n = uint64(binary.BigEndian.Uint16(more[:]))
	case length64:
		var more [8]byte
		_, err = io.ReadFull(w.in, more[:])
		n = binary.BigEndian.Uint64(more[:])
	}
	if err != nil {
		return false, 0, nil, io.EOF
	}
	if n > maxFrame {
		return false, 0, nil, errors.New("a frame is larger than anything that is one")
	}
	data = make([]byte, n)
	if _, err := io.ReadFull(w.in, data); err != nil {
		return false, 0, nil, io.EOF
	}
	return head[0]&final1 != 0, head[0] & 0x0f, data, nil
}

// close says that it is over and goes.
func (w *webSocket) close() error {
	normal := []byte{0x03, 0xe8} // 1000
	return errors.Join(w.send(frameClose, normal), w.conn.Close())
}
