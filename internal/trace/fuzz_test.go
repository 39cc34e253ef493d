package trace_test

import (
	"testing"

	"github.com/slipway-gitops/slipway/internal/trace"
)

func FuzzTraceparent(f *testing.F) {
	for _, text := range []string{"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-00000000000000000000000000000000-0000000000000000-00", "ff-1-2-3", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parent := trace.Parent(trace.Trusted(t.Context(), text))
		if parent == "" {
			if id := trace.ID(text); id != "" {
				t.Errorf("%q is of trace %q, and none is continued", text, id)
			}
			return
		}
		if id := trace.ID(parent); id == "" || id != trace.ID(text) {
			t.Errorf("%q is trace %q here and %q there", text, trace.ID(text), id)
		}
	})
}
