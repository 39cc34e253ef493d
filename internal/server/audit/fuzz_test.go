package audit

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func FuzzAuditText(f *testing.F) {
	f.Add("Mozilla/5.0", 300)
	f.Add("a\x00b\xff\xfe\u202e"+strings.Repeat("é", 500), 64)
	f.Add("https://ann:secret@host "+strings.Repeat("x", 4000), 100)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 16 + max(limit, -(limit+1))%4096
		out := clean(text, limit)
		if len(out) > limit {
			t.Errorf("%d bytes of at most %d", len(out), limit)
		}
		if strings.ContainsFunc(out, unicode.IsControl) || !utf8.ValidString(out) {
			t.Errorf("%q has what cannot be kept", out)
		}
	})
}
