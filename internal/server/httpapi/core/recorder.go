package core

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"net/http"
)

// recorder remembers the status of an answer, and where kept is set the answer too.
type recorder struct {
	http.ResponseWriter
	status  int
	written bool
	kept    *bytes.Buffer
	tooMuch bool
}

// maxKept is how much of an answer is kept for an idempotency key.
const maxKept = 256 << 10

// WriteHeader remembers the status.
func (r *recorder) WriteHeader(status int) {
	if !r.written {
		r.status, r.written = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write remembers what is written, where it is to be kept.
func (r *recorder) Write(b []byte) (int, error) {
	if !r.written {
		r.status, r.written = http.StatusOK, true
	}
	if r.kept != nil {
		if r.kept.Len()+len(b) > maxKept {
			r.tooMuch = true
		} else {
			r.kept.Write(b)
		}
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets a ResponseController find the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush sends what is there.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Hijack gives the connection away, for a WebSocket.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.status, r.written = http.StatusSwitchingProtocols, true
	return http.NewResponseController(r.ResponseWriter).Hijack()
}

func writeStatus(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p.Problem) // no client is left
}
