package audit

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
)

// An export is whole as it was written, and nothing that was changed in it passes.
func FuzzAuditExport(f *testing.F) {
	var head chain.Head
	var whole bytes.Buffer
	for _, action := range []string{"user.create", "project.update", "agent.delete"} {
		e := chain.Link(head, api.AuditEntry{At: time.Unix(1, 0), Actor: api.Principal{Type: "user", ID: "ann"}, Action: action, After: json.RawMessage(`{"a":1.50}`)})
		head = chain.HeadOf(e)
		line, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		whole.Write(append(line, '\n'))
	}
	f.Add(whole.Bytes(), 0, byte(0))
	f.Add(whole.Bytes(), 100, byte('x'))
	f.Add([]byte("{\"id\":1}\n{\"id\":1}"), 3, byte(1))
	f.Fuzz(func(t *testing.T, raw []byte, at int, change byte) {
		_, _ = check(bytes.NewReader(raw), "") // never panics
		changed := bytes.Clone(whole.Bytes())
		at = max(at, -(at+1)) % len(changed)
		changed[at] ^= change
		var was, is []any
		for i, text := range [][]byte{whole.Bytes(), changed} {
			for line := range bytes.Lines(text) {
				var v any
				_ = json.Unmarshal(line, &v)
				if i == 0 {
					was = append(was, v)
				} else {
					is = append(is, v)
				}
			}
		}
		same, _ := json.Marshal(was)
		now, _ := json.Marshal(is)
		if out, err := check(bytes.NewReader(changed), head.Hash); err == nil && out.OK && !bytes.Equal(same, now) {
			t.Errorf("byte %d was changed by %d, and the export passes", at, change)
		}
	})
}
