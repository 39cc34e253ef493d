// Package veil knows the values that were decrypted, and hides them wherever they would be shown.
package veil

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/redact"
)

// Bounds of what is known. The values that were noted first are given up over them.
const (
	maxBytes = 8 << 20
	perBatch = 256 // values that are looked for together
)

// Veil holds decrypted values in memory. It is safe for concurrent use; nil knows none. It shows nothing of them in any form.
type Veil struct {
	mu      sync.Mutex
	batches []*batch
	seen    map[[sha256.Size]byte]bool
	bytes   int
	noted   int
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

// Empty reports whether nothing was decrypted yet.
func (v *Veil) Empty() bool {
	if v == nil {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.batches) == 0
}

// Version is a number that is another one when more is known.
func (v *Veil) Version() int {
	if v == nil {
		return 0
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.noted
}

// shortestPart is how long a part of a text of several lines is at least that is looked for, in bytes.
const shortestPart = 8

// parts are the lines of a value that has several, and what is assigned in them: a value can be a file of settings.
func parts(value string) []string {
	out := []string{value}
	if !strings.Contains(strings.TrimSpace(value), "\n") {
		return out
	}
	for line := range strings.Lines(value) {
		line = strings.TrimSpace(line)
		for _, sign := range []string{": ", "="} {
			if _, set, is := strings.Cut(line, sign); is {
				line = strings.Trim(set, ` "'`)
				break
			}
		}
		if len(line) >= shortestPart && !strings.HasPrefix(line, "-----") {
			out = append(out, line)
		}
	}
	return out
}

// Note takes values that were decrypted.
func (v *Veil) Note(values []string) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, value := range values {
		for _, text := range parts(value) {
			v.note(text)
		}
	}
	for v.bytes > maxBytes && len(v.batches) > 1 {
		for _, text := range v.batches[0].values {
			delete(v.seen, sha256.Sum256([]byte(text)))
			v.bytes -= len(text)
		}
		v.batches = v.batches[1:]
	}
}

// note takes one value. The lock is held.
func (v *Veil) note(text string) {
	sum := sha256.Sum256([]byte(text))
	if v.seen[sum] {
		return
	}
	v.seen[sum] = true
	last := len(v.batches) - 1
	if last < 0 || len(v.batches[last].values) >= perBatch {
		v.batches = append(v.batches, &batch{})
		last++
	}
	v.batches[last].values = append(v.batches[last].values, text)
	v.bytes += len(text)
	v.noted++
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

// Document gives JSON without the decrypted values that do not occur by chance. It is JSON of the same form, and its times stay:
// a value that equals one is no secret, and what reads the document needs it.
func (v *Veil) Document(raw []byte) []byte {
	known := v.all()
	clean := replaced(known, raw)
	if bytes.Equal(clean, raw) {
		return raw
	}
	var doc any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&doc) != nil || decoder.More() {
		return clean
	}
	out, err := json.Marshal(hidden(known, doc))
	if err != nil {
		return clean
	}
	return out
}

func replaced(known []*redact.Known, raw []byte) []byte {
	for _, k := range known {
		raw = k.Document(raw)
	}
	return raw
}

// hidden gives a value of JSON without what is known.
func hidden(known []*redact.Known, value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, inner := range value {
			if clean, is := hidden(known, key).(string); is {
				key = clean
			}
			out[key] = hidden(known, inner)
		}
		return out
	case []any:
		for i, inner := range value {
			value[i] = hidden(known, inner)
		}
		return value
	case json.Number:
		if clean := string(replaced(known, []byte(value))); clean != value.String() {
			return clean
		}
	case string:
		if _, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return value
		}
		return string(replaced(known, []byte(value)))
	}
	return value
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
