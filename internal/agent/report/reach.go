package report

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// reachable says how requests to one API server went.
type reachable struct {
	good, bad atomic.Int64 // when the last one did, and the last one did not; Unix nanoseconds
}

// silent is how long nothing has worked; 0 where the last request did.
func (r *reachable) silent() time.Duration {
	good, bad := r.good.Load(), r.bad.Load()
	if bad <= good {
		return 0
	}
	return time.Since(time.Unix(0, good))
}

// Observe notes how requests to the agent's own API server go.
func (s *Source) Observe(next http.RoundTripper) http.RoundTripper {
	return place.RoundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		switch {
		case err == nil && resp.StatusCode < http.StatusInternalServerError && resp.StatusCode != http.StatusUnauthorized:
			s.own.good.Store(time.Now().UnixNano())
		case req.Context().Err() == nil:
			s.own.bad.Store(time.Now().UnixNano())
		}
		return resp, err
	})
}

// redaction is what the agent knows of secrets. It is the second lock: what leaves the agent is made of fields that hold none.
type redaction struct {
	version uint64 // of the settings
	made    bool
	known   *redact.Known
}

// Redact returns JSON or a text without the secrets that the agent knows.
func (s *Source) Redact(raw []byte) []byte { return s.Veil.Document(s.secrets().Document(raw)) }

// RedactText returns a message without them, and without those of its addresses.
func (s *Source) RedactText(text string) string {
	return redact.Addresses(s.Veil.Text(s.secrets().Text(text)))
}

func (s *Source) secrets() *redact.Known {
	version := s.Settings.Version()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hide.made || s.hide.version != version {
		s.hide = redaction{version: version, made: true, known: redact.NewKnown(s.Settings.SecretValues()...)}
	}
	return s.hide.known
}
