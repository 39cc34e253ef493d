package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/shell"
)

// Protocols of commands. The one of version 5 can close channels.
const (
	protocol4 = "v4.channel.k8s.io"
	protocol5 = "v5.channel.k8s.io"
)

// Channels of both protocols; the first byte of each message says which.
const (
	channelStdin  = 0
	channelStdout = 1
	channelStderr = 2
	channelStatus = 3
	channelResize = 4
	channelClose  = 255 // of version 5: the next byte is the channel to close
)

// maxMessage is the length, in bytes, of a message of the other end.
const maxMessage = 1 << 20

// size is a terminal's, as clients report it.
type size struct{ Width, Height uint16 }

// socket is a WebSocket to the client of a command.
type socket struct {
	conn *websocket.Conn
	mu   sync.Mutex // of writes
}

// openWebSocket makes the connection, or answers the request and returns nil.
func openWebSocket(w http.ResponseWriter, r *http.Request, q execRequest, terminal *shell.Terminal) *channel {
	known := []string{protocol5, protocol4}
	if !slices.ContainsFunc(websocket.Subprotocols(r), func(p string) bool { return slices.Contains(known, p) }) {
		http.Error(w, fmt.Sprintf("this speaks %v, not %v", known, websocket.Subprotocols(r)), http.StatusBadRequest)
		return nil
	}
	upgrader := websocket.Upgrader{
		HandshakeTimeout: writeLimit, Subprotocols: known,
		CheckOrigin: func(*http.Request) bool { return true }, // only the API server gets here
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil
	}
	cut := context.AfterFunc(r.Context(), func() { _ = conn.Close() }) // it ends what reads
	conn.SetReadLimit(maxMessage)
	s := &socket{conn: conn}
	in, feed := io.Pipe()
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(feed, q.stdin, terminal)
	}()
	c := &channel{stdout: io.Discard, stderr: io.Discard}
	if q.stdin {
		c.stdin = in
	}
	if q.stdout {
		c.stdout = s.channel(channelStdout)
	}
	if q.stderr {
		c.stderr = s.channel(channelStderr)
	}
	c.finish = func(status metav1.Status) {
		defer cut()
		_ = in.Close()
		if text, err := json.Marshal(status); err == nil {
			_ = s.send(channelStatus, text) // the other end may have gone
		}
		done := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		_ = conn.WriteControl(websocket.CloseMessage, done, time.Now().Add(partLimit))
		// A connection that is closed while something of the other end is unread
		// takes back what is in transit to it.
		_ = conn.SetReadDeadline(time.Now().Add(partLimit))
		<-read
		_ = conn.Close()
	}
	return c
}

func (s *socket) send(channel byte, text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	return s.conn.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, text...))
}

// channel returns what writes to one channel.
func (s *socket) channel(number byte) io.Writer { return channelWriter{s, number} }

type channelWriter struct {
	to     *socket
	number byte
}

// Write implements io.Writer.
func (c channelWriter) Write(text []byte) (int, error) {
	if err := c.to.send(c.number, text); err != nil {
		return 0, err
	}
	return len(text), nil
}

// read takes what comes until the other end is gone: in order, so that a size
// counts for what was typed after it.
func (s *socket) read(stdin *io.PipeWriter, wanted bool, terminal *shell.Terminal) {
	defer func() { _ = stdin.Close() }() // it always succeeds
	for {
		_, message, err := s.conn.ReadMessage()
		if err != nil {
			return
		}
		if len(message) == 0 {
			continue
		}
		switch message[0] {
		case channelStdin:
			if wanted {
				_, _ = stdin.Write(message[1:]) // a command that has ended reads no more
			}
		case channelResize:
			var to size
			if terminal != nil && json.Unmarshal(message[1:], &to) == nil {
				terminal.Resize(int(to.Width), int(to.Height))
			}
		case channelClose:
			if s.conn.Subprotocol() == protocol5 && len(message) == 2 && message[1] == channelStdin {
				_ = stdin.Close()
			}
		}
	}
}
