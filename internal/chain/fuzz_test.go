package chain

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzCanonicalJSON(f *testing.F) {
	for _, text := range []string{`{"b":1,"a":[1.0,1e2,-0,1e400,0.1e-7]}`, `{"a":1,"a":2}`, `"\ud800"`, "\xff", `1 2`, `123456789012345678901234567890`, `-0.0`, `1E1`, `9007199254740993.0`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once := CanonicalJSON(raw)
		if !json.Valid(once) {
			t.Fatalf("%q became %q", raw, once)
		}
		if twice := CanonicalJSON(once); !bytes.Equal(once, twice) {
			t.Errorf("%q is written as %q, and that as %q", raw, once, twice)
		}
		if json.Valid(raw) {
			var spaced bytes.Buffer
			if err := json.Indent(&spaced, raw, " ", "\t"); err == nil && !bytes.Equal(CanonicalJSON(spaced.Bytes()), once) {
				t.Errorf("%q is written in another way with spaces", raw)
			}
		}
	})
}
