// Package veil knows the values that were decrypted, and hides them wherever they would be shown.
package veil

import (
	"crypto/sha256"
	"sync"

	"github.com/slipway-gitops/slipway/internal/redact"
)

// Bounds of what is known. The values that were noted first are given up over them.
const (
	maxBytes = 32 << 20
	perBatch = 256 // values that are looked for together
)

// Veil holds decrypted values in memory. It is safe for concurrent use; nil knows none. It shows nothing of them in any form.
type Veil struct {
	mu      sync.Mutex
	batches []*batch
	seen    map[[sha256.Size]byte]bool
	bytes   int
}

// batch is some values. Only the last one grows: what is made of the others is made once.
type batch struct {
	values []string
	known  *redact.Known
	of     int // how many values known is made of
}

// New returns a Veil that knows nothing yet.
func New() *Veil { return &Veil{seen: map[[sha256.Size]byte]bool{}} }

// String keeps what is known out of every log.
func (v *Veil) String() string { return "veil" }

// GoString is String.
func (v *Veil) GoString() string { return "veil" }

// Note takes values that were decrypted.
func (v *Veil) Note(values []string) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, text := range values {
		sum := sha256.Sum256([]byte(text))
		if v.seen[sum] {
			continue
		}
		v.seen[sum] = true
		last := len(v.batches) - 1
		if last < 0 || len(v.batches[last].values) >= perBatch {
			v.batches = append(v.batches, &batch{})
			last++
		}
		v.batches[last].values = append(v.batches[last].values, text)
		v.bytes += len(text)
	}
	for v.bytes > maxBytes && len(v.batches) > 1 {
		for _, text := range v.batches[0].values {
			delete(v.seen, sha256.Sum256([]byte(text)))
			v.bytes -= len(text)
		}
		v.batches = v.batches[1:]
	}
}

// all returns what finds the values that are known.
func (v *Veil) all() []*redact.Known {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make([]*redact.Known, 0, len(v.batches))
	for _, b := range v.batches {
		if b.of != len(b.values) {
			b.known, b.of = redact.NewKnown(b.values...), len(b.values)
		}
		out = append(out, b.known)
	}
	return out
}

// Text gives a message without decrypted values.
func (v *Veil) Text(s string) string {
	for _, k := range v.all() {
		s = k.Text(s)
	}
	return s
}

// Document gives JSON without the decrypted values that do not occur by chance.
func (v *Veil) Document(raw []byte) []byte {
	for _, k := range v.all() {
		raw = k.Document(raw)
	}
	return raw
}

// Error gives an error whose text has no decrypted value. What it wraps stays.
func (v *Veil) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := v.Text(text); clean != text {
		return &hiddenError{text: clean, err: err}
	}
	return err
}

// hiddenError is an error with another text.
type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }
