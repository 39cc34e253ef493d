package agent

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slipway-gitops/slipway/internal/agent/link"
)

// reachable says how requests to one API server went.
type reachable struct {
	good, bad atomic.Int64 // when the last one did, and the last one did not; Unix nanoseconds
}

// state is a word of agentapi.Connection.
func (r *reachable) state() string {
	good, bad := r.good.Load(), r.bad.Load()
	switch {
	case good == 0 && bad == 0:
		return "Unknown"
	case bad > good:
		return "Failed"
	}
	return "Successful"
}

// silent is how long nothing has worked; 0 where the last request did.
func (r *reachable) silent() time.Duration {
	good, bad := r.good.Load(), r.bad.Load()
	if bad <= good {
		return 0
	}
	return time.Since(time.Unix(0, good))
}

// observe returns what notes how requests to a server go.
func (s *linkSource) observe(server string) func(http.RoundTripper) http.RoundTripper {
	s.mu.Lock()
	r := s.reached[server]
	if r == nil {
		r = &reachable{}
		s.reached[server] = r
	}
	s.mu.Unlock()
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			switch {
			case err == nil && resp.StatusCode < http.StatusInternalServerError && resp.StatusCode != http.StatusUnauthorized:
				r.good.Store(time.Now().UnixNano())
			case req.Context().Err() == nil:
				r.bad.Store(time.Now().UnixNano())
			}
			return resp, err
		})
	}
}

// Lengths of secrets that are looked for in what leaves the agent. A short one would be found in words that are none.
const (
	shortestSecret = 10
	shortestLine   = 24 // of those that have several
)

// redaction replaces known secrets wherever they appear. It is the second lock: what leaves the agent is made of fields that
// hold none.
type redaction struct {
	version  uint64 // of the settings
	made     bool
	replacer *strings.Replacer // nil for no secrets
}

// Redact returns JSON or a text without the secrets that the agent knows.
func (s *linkSource) Redact(raw []byte) []byte {
	if len(raw) == 0 {
		return raw
	}
	if r := s.redactor(); r != nil {
		return []byte(r.Replace(string(raw)))
	}
	return raw
}

func (s *linkSource) redactText(text string) string {
	return link.CleanText(string(s.Redact([]byte(text))))
}

func (s *linkSource) redactor() *strings.Replacer {
	settings := s.agent.settings
	version := settings.version.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hide.made || s.hide.version != version {
		s.hide = redaction{version: version, made: true, replacer: settings.replacer()}
	}
	return s.hide.replacer
}

// replacer replaces the values of all Secrets; nil where there are none.
func (s *settings) replacer() *strings.Replacer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pairs []string
	add := func(value string) {
		if len(value) < shortestSecret {
			return
		}
		pairs = append(pairs, value, "***")
		if quoted, err := json.Marshal(value); err == nil && string(quoted[1:len(quoted)-1]) != value {
			pairs = append(pairs, string(quoted[1:len(quoted)-1]), "***")
		}
	}
	for _, sec := range s.secrets {
		for field, raw := range sec.data {
			if link.PublicField(field) || field == "username" {
				continue
			}
			if field == "config" {
				for _, v := range configValues(raw) {
					add(v)
				}
				continue
			}
			value := strings.TrimSpace(string(raw))
			add(value)
			if strings.Contains(value, "\n") {
				for line := range strings.Lines(value) {
					if line = strings.TrimSpace(line); len(line) >= shortestLine && !strings.HasPrefix(line, "-----") {
						add(line)
					}
				}
			}
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// configValues returns what is secret in the connection of a cluster.
func configValues(raw []byte) []string {
	var in struct {
		Password        string `json:"password"`
		BearerToken     string `json:"bearerToken"`
		TLSClientConfig struct {
			KeyData string `json:"keyData"`
		} `json:"tlsClientConfig"`
		Exec struct {
			Env map[string]string `json:"env"`
		} `json:"execProviderConfig"`
	}
	_ = json.Unmarshal(raw, &in) // what can be read counts
	out := []string{in.Password, in.BearerToken, in.TLSClientConfig.KeyData}
	for _, v := range in.Exec.Env {
		out = append(out, v)
	}
	return out
}
