package legible_test

import (
	"testing"

	"github.com/slipway-gitops/slipway/internal/legible"
)

func TestALinkLeadsToAPageOrAMail(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		link string
		want bool
	}{
		{"https://status.example.org/x?y=1#z", true},
		{"http://10.0.0.1:3000", true},
		{"HTTPS://status.example.org", true},
		{"mailto:ops@example.org?subject=Banner", true},
		{"", false},
		{"status.example.org", false},
		{"/applications", false},
		{"//status.example.org", false},
		{"https:", false},
		{"https:///path", false},
		{`https:\\status.example.org`, false},
		{"mailto:", false},
		{"javascript:alert(1)", false},
		{" javascript:alert(1)", false},
		{"java\nscript:alert(1)", false},
		{"data:text/html,x", false},
		{"file:///etc/passwd", false},
		{"https://status.example.org@elsewhere.example.org", false},
		{"https://user:secret@example.org", false},
		{"https://example.org/\u202egro.live", false},
		{"https://example.org/\u200b", false},
	} {
		if got := legible.Link(tt.link); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.link, got, tt.want)
		}
	}
}
