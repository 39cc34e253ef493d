package inlet

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"time"
)

// answer writes with a deadline for each piece, and closes the connection where it comes before the end of the request.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	server  *Server
	conn    *conn // nil in tests without a connection
	body    *body // nil where the request has none
	// plexed is true where other requests share the connection.
	plexed bool
	// working is true from the end of the request's body on; headed once the header was written; taken after Hijack.
	working, headed, taken bool
}

// begin is called once the whole request has arrived.
func (a *answer) begin() {
	if a.conn != nil && !a.working {
		a.working = true
		a.conn.gate.work(a.conn)
	}
}

// end is called after the handler.
func (a *answer) end() {
	if a.taken {
		return
	}
	a.head()
	if a.early() && !a.plexed {
		// The connection reads the rest once the answer is sent: net/http would read a part of it, and wait.
		_ = a.control.SetReadDeadline(time.Unix(1, 0)) // not every writer can, in tests
	}
	a.arm() // for what net/http still has to send
	if a.working {
		a.conn.gate.wait(a.conn)
	}
}

// early reports whether the peer has not sent the whole request.
func (a *answer) early() bool { return a.body != nil && !a.body.whole }

// head has an early answer close the connection. net/http would read on to keep the connection, as long as the peer likes.
func (a *answer) head() {
	if a.headed {
		return
	}
	a.headed = true
	if a.early() && !a.plexed {
		a.Header().Set("Connection", "close")
	}
}

func (a *answer) arm() {
	_ = a.control.SetWriteDeadline(time.Now().Add(a.server.cfg.Limits.Answer)) // not every writer can, in tests
}

// disarm ends a deadline that would end the request although nothing is being written: so it is with HTTP/2.
func (a *answer) disarm(err error) {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		a.server.cfg.Ended(ReasonAnswer)
	}
	if a.plexed {
		_ = a.control.SetWriteDeadline(time.Time{})
	}
}

// WriteHeader sends the header. Headers of information may come before it.
func (a *answer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		a.head()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write sends an answer in pieces, each with its own deadline.
func (a *answer) Write(data []byte) (sent int, err error) {
	a.head()
	for {
		next := data[sent:min(sent+piece, len(data))]
		a.arm()
		n, err := a.ResponseWriter.Write(next)
		a.disarm(err)
		if sent += n; err != nil || sent >= len(data) {
			return sent, err
		}
	}
}

// FlushError sends what is there.
func (a *answer) FlushError() error {
	a.head()
	a.arm()
	err := a.control.Flush()
	a.disarm(err)
	return err
}

// Flush sends what is there, for callers that do not check whether it arrived.
func (a *answer) Flush() { _ = a.FlushError() }

// Hijack gives the connection away. Its deadlines are up to the new owner, and it does not make room for others.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := a.control.Hijack()
	if err == nil {
		a.taken = true
		a.begin()
	}
	return c, rw, err
}

// SetReadDeadline bounds the time of the body, which has to keep its rate besides.
func (a *answer) SetReadDeadline(deadline time.Time) error {
	if a.body == nil || a.body.whole {
		return a.control.SetReadDeadline(deadline)
	}
	a.body.bound = deadline
	return nil
}

// Unwrap lets a ResponseController find the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
