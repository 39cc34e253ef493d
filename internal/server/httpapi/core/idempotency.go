package core

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"maps"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

const (
	// keyTime is how long an idempotency key is remembered.
	keyTime = 24 * time.Hour
	maxKey  = 200
)

// once answers a request with an idempotency key: the first time by doing it, later with what was answered then.
func (h *Core) once(w http.ResponseWriter, r *http.Request, c *Call, key string, body []byte, next http.HandlerFunc) error {
	if len(key) > maxKey {
		return api.Errorf(api.CodeInvalid, "the Idempotency-Key is longer than %d bytes: send a shorter one, such as a UUID", maxKey)
	}
	// What one token may do another one of the same principal may not: each has answers of its own.
	on := c.Who.Grounds()
	place := Digest(c.Who.Principal.Type, c.Who.Principal.ID, on.Session, on.Token, key)
	kept, err := h.cfg.Keeper.Claim(r.Context(), place, h.fingerprint(r.Method, r.URL.RequestURI(), string(body)), h.Now().Add(keyTime))
	if err != nil {
		return err
	}
	if kept != nil {
		// The earlier answer is returned to a caller who may still request it.
		c.kept = true
		now := &held{header: http.Header{}}
		if next(now, r); !c.replays {
			return now.pass(w)
		}
		return replay(w, kept)
	}
	out := &recorder{ResponseWriter: w, kept: &bytes.Buffer{}}
	done := false
	defer func() { //nolint:contextcheck // it has to outlive the request
		// The client may have gone; its next try has to find this.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 10*time.Second)
		defer cancel()
		if !done || !lasting(out.status) {
			err = h.cfg.Keeper.Release(ctx, place)
		} else {
			err = h.cfg.Keeper.Keep(ctx, place, h.keep(c.Route, out))
		}
		if err != nil {
			h.Log.Error("keep answer", "request_id", c.ID, "err", err)
		}
	}()
	next(out, r)
	done = true
	return nil
}

// errReplays ends a request whose answer is kept, after its rights were asked for.
var errReplays = api.Errorf(api.CodeConflict, "the answer is kept")

// held is an answer that is not sent yet.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (h *held) Header() http.Header { return h.header }

// Write implements http.ResponseWriter.
func (h *held) Write(b []byte) (int, error) { return h.body.Write(b) }

// WriteHeader implements http.ResponseWriter.
func (h *held) WriteHeader(status int) { h.status = cmp.Or(h.status, status) }

// pass sends it.
func (h *held) pass(w http.ResponseWriter) error {
	maps.Copy(w.Header(), h.header)
	w.WriteHeader(cmp.Or(h.status, http.StatusOK))
	_, _ = w.Write(h.body.Bytes()) // the client may have gone
	return nil
}

// lasting is true for an answer that stays the same when it is asked again.
func lasting(status int) bool { return status >= 200 && status < 300 }

func (h *Core) keep(route *Route, out *recorder) Kept {
	answer := Kept{Status: out.status, Header: map[string]string{}}
	for _, key := range []string{"Content-Type", "Etag", "Location"} {
		if value := out.Header().Get(key); value != "" {
			answer.Header[key] = value
		}
	}
	if !route.Secret && !out.tooMuch {
		answer.Body = out.kept.Bytes()
	}
	return answer
}

func replay(w http.ResponseWriter, kept *Kept) error {
	if len(kept.Body) == 0 && kept.Status != http.StatusNoContent {
		return api.Errorf(api.CodeConflict,
			"this was done already, and its answer is not kept because it is secret or large: read the object, or make another")
	}
	for key, value := range kept.Header {
		w.Header().Set(key, value)
	}
	w.Header().Set("Idempotency-Replayed", "true")
	w.WriteHeader(kept.Status)
	_, _ = w.Write(kept.Body) // the client may have gone
	return nil
}

// fingerprint distinguishes requests. A body may hold a password: without the key, which is not in the database, a
// reader of it cannot try passwords against it.
func (h *Core) fingerprint(parts ...string) string {
	return combined(hmac.New(sha256.New, h.cfg.FingerprintKey), parts)
}

// Digest is one text for several, however long. None of them may be a secret.
func Digest(parts ...string) string { return combined(sha256.New(), parts) }

func combined(sum hash.Hash, parts []string) string {
	for _, part := range parts {
		one := sha256.Sum256([]byte(part))
		sum.Write(one[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}
