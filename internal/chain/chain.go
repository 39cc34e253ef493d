// Package chain is the chain that the entries of the audit make: how an entry is hashed, what follows from what, and
// whether a chain is whole. The server writes it with this, and a user with an export can verify it with the same code.
package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// timeFormat is how the time of an entry is hashed: databases keep microseconds.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// Entry is one action of a user or a program.
type Entry = api.AuditEntry

// Head is the place of an entry in the chain: the newest one, or the last one before those that are kept. The zero Head
// is before the first entry.
type Head struct {
	ID   int64
	Hash string
	At   time.Time
}

// Link puts an entry behind the head of the chain, and gives it with its number and hashes. It is called in the
// transaction that writes it, with the head that no other transaction can move in the meantime.
func Link(head Head, e Entry) Entry {
	e.ID = head.ID + 1
	e.PrevHash = head.Hash
	e.At = e.At.UTC().Truncate(time.Microsecond)
	e.Hash = hash(e)
	return e
}

// HeadOf is the place of an entry.
func HeadOf(e Entry) Head { return Head{ID: e.ID, Hash: e.Hash, At: e.At} }

// hash is SHA-256, in hex, of the hash before and the entry in canonical form.
func hash(e Entry) string {
	sum := sha256.New()
	sum.Write([]byte(e.PrevHash))
	sum.Write(Canonical(e))
	return hex.EncodeToString(sum.Sum(nil))
}

// Canonical writes all of an entry but its hashes in the one way that it is hashed in: JSON with the keys in order of
// their bytes, without spaces, and numbers as [CanonicalJSON] has them. What is empty is left out.
func Canonical(e Entry) []byte {
	out := map[string]any{
		"id":    e.ID,
		"at":    e.At.UTC().Format(timeFormat),
		"actor": map[string]string{"type": e.Actor.Type, "id": e.Actor.ID},
	}
	for name, value := range map[string]string{
		"ip": e.IP, "userAgent": e.UserAgent, "requestId": e.RequestID, "action": e.Action, "reason": e.Reason, "outcome": e.Outcome,
		"message": e.Message,
	} {
		if value != "" {
			out[name] = value
		}
	}
	if e.Object != (api.Ref{}) {
		out["object"] = map[string]string{"type": e.Object.Type, "id": e.Object.ID, "scope": string(e.Object.Scope)}
	}
	for name, value := range map[string]json.RawMessage{"before": e.Before, "after": e.After} {
		if len(value) > 0 {
			out[name] = json.RawMessage(CanonicalJSON(value))
		}
	}
	return EncodeJSON(out)
}

// CanonicalJSON writes a JSON document in one way, however it came: keys sorted, no spaces, whole numbers in full and
// others as short as they can be. What is no JSON becomes a JSON string, without bytes that no text has: read and written
// again, they would be others.
func CanonicalJSON(raw []byte) []byte {
	v, err := DecodeJSON(raw)
	if err != nil {
		return EncodeJSON(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	return EncodeJSON(v)
}

// DecodeJSON reads one JSON document, and keeps its numbers as they are.
func DecodeJSON(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one JSON document")
	}
	return v, nil
}

// EncodeJSON writes a value that [DecodeJSON] gave, or one made of texts and numbers. Maps are sorted by encoding/json.
func EncodeJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(numbers(v)); err != nil {
		return []byte("null") // of such values there is none that cannot be written
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// numbers puts numbers into the one form that they have here.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case json.Number:
		return number(string(v))
	}
	return v
}

// maxDigits is how long a whole number may be that is written in full.
const maxDigits = 100

func number(s string) json.Number {
	if len(s) <= maxDigits && !strings.ContainsAny(s, ".eE") {
		if n, ok := new(big.Int).SetString(s, 10); ok {
			return json.Number(n.String())
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		return json.Number(s)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return json.Number(strconv.FormatInt(int64(f), 10))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// Fault is a place where the chain does not hold.
type Fault struct {
	// ID is the number of the first entry that does not fit.
	ID  int64
	Why string
}

// Error says where and why.
func (f *Fault) Error() string { return f.Why }

// Verifier goes over a chain, entry by entry.
type Verifier struct {
	last    Head
	checked int64
}

// NewVerifier begins behind an anchor: the zero Head, or the last entry that retention removed.
func NewVerifier(anchor Head) *Verifier { return &Verifier{last: anchor} }

// Checked is how many entries were looked at.
func (v *Verifier) Checked() int64 { return v.checked }

// Head is the place of the last entry that was right.
func (v *Verifier) Head() Head { return v.last }

// Next looks at the next entry. The first one that does not fit is a [Fault]; go no further then.
func (v *Verifier) Next(e Entry) error {
	v.checked++
	want := v.last.ID + 1
	switch {
	case e.ID > want:
		return &Fault{want, fmt.Sprintf("entry %d is missing: after %d comes %d", want, v.last.ID, e.ID)}
	case e.ID < want:
		return &Fault{e.ID, fmt.Sprintf("entry %d comes after entry %d: entries were put in another order or in twice", e.ID, v.last.ID)}
	case e.PrevHash != v.last.Hash:
		return &Fault{e.ID, fmt.Sprintf("entry %d does not follow from entry %d: one of them was replaced", e.ID, v.last.ID)}
	case e.Hash != hash(e):
		return &Fault{e.ID, fmt.Sprintf("entry %d was changed after it was written", e.ID)}
	}
	v.last = HeadOf(e)
	return nil
}

// End looks whether the chain reaches to the head that is known, or through it: entries at the end that are missing show
// by that alone. The zero Head asks for nothing.
func (v *Verifier) End(head Head) error {
	if head.ID > v.last.ID {
		return &Fault{v.last.ID + 1, fmt.Sprintf("the newest entries are missing: the chain ends at %d, and there was an entry %d", v.last.ID,
			head.ID)}
	}
	if head.ID == v.last.ID && head.Hash != "" && head.Hash != v.last.Hash {
		return &Fault{head.ID, fmt.Sprintf("entry %d is another one than the newest was: the chain was rewritten", head.ID)}
	}
	return nil
}
