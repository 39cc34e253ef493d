package render_test

import (
	"path"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/render"
)

func FuzzPathOfASource(f *testing.F) {
	for _, p := range []string{"app", "../x", "a/../../b", "/etc", "./a//b/", "a/..", "..", "a\x00b", "..\\x", ""} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		clean, err := render.CleanPath(p)
		if err != nil {
			return
		}
		if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || path.Clean(clean) != clean || strings.ContainsRune(clean, 0) {
			t.Errorf("%q is read as %q", p, clean)
		}
	})
}
