package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/slipway-gitops/slipway/api"
)

// talk opens a WebSocket to a server that does what say does with its end.
func talk(t *testing.T, say func(ctx context.Context, conn *websocket.Conn) error) *webSocket {
	t.Helper()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer slp_secret" || r.URL.Path != "/api/v1/shell" || r.URL.Query().Get("pod") != "web" {
			t.Errorf("asked %s with %v", r.URL, r.Header)
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.CloseNow() }()
		if err := say(r.Context(), conn); err != nil {
			t.Error(err)
		}
	})
	s, err := c.dialWebSocket(t.Context(), "/api/v1/shell", map[string][]string{"pod": {"web"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMessagesOfAWebSocketGoBothWays(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70000)
	s := talk(t, func(ctx context.Context, conn *websocket.Conn) error {
		kind, said, err := conn.Read(ctx)
		if err != nil || kind != websocket.MessageBinary || string(said) != "ls\n" {
			t.Errorf("the server got %q, %v", said, err)
		}
		return errors.Join(conn.Write(ctx, websocket.MessageText, []byte("one, two")), conn.Write(ctx, websocket.MessageBinary, []byte(long)),
			conn.Close(websocket.StatusNormalClosure, "the pod is gone"))
	})
	if err := s.send(t.Context(), websocket.MessageBinary, []byte("ls\n")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one, two", long} {
		text, got, err := s.receive(t.Context())
		if err != nil || string(got) != want || text != (want == "one, two") {
			t.Fatalf("got %.40q, %v, want %.40q", got, err, want)
		}
	}
	_, _, err := s.receive(t.Context())
	var end *errClosed
	if !errors.As(err, &end) || end.reason != "the pod is gone" {
		t.Errorf("got %v, want the reason of the end", err)
	}
}

func TestAWebSocketThatIsCutEnds(t *testing.T) {
	t.Parallel()
	s := talk(t, func(_ context.Context, conn *websocket.Conn) error { return conn.CloseNow() })
	if _, _, err := s.receive(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

func TestAMessageThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	s := talk(t, func(ctx context.Context, conn *websocket.Conn) error {
		_ = conn.Write(ctx, websocket.MessageBinary, make([]byte, maxMessage+1)) // the client closes the connection in the midst of it
		return nil
	})
	if _, data, err := s.receive(t.Context()); err == nil || errors.Is(err, io.EOF) || len(data) > 0 {
		t.Errorf("got %d bytes, %v", len(data), err)
	}
}

func TestARefusedWebSocketSaysWhy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"by the server", func(w http.ResponseWriter, _ *http.Request) {
			problem(w, api.Problem{Code: api.CodeForbidden, Detail: "terminals are disabled on this agent"})
		}, "terminals are disabled on this agent"},
		{"by a proxy", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, "let WebSockets through"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, test.answer).dialWebSocket(t.Context(), "/api/v1/shell", nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
