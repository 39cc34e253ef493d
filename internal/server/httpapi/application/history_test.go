package application

import (
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func FuzzHistoryCursor(f *testing.F) {
	for _, text := range []string{"", "e30", "eyJ0IjotMSwiaSI6bnVsbH0", "eyJsIjoiYSIsImQiOnRydWV9", "=", "eyJ0IjoxZTk5OX0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := readHistoryMark(text)
		if err != nil {
			if api.CodeOf(err) != api.CodeInvalid {
				t.Error(err)
			}
			return
		}
		if again, err := readHistoryMark(m.String()); err != nil || again.String() != m.String() {
			t.Errorf("%q is read as %s, and that as %s (%v)", text, m, again, err)
		}
	})
}
