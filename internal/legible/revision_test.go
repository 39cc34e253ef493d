package legible_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/legible"
)

func TestARevisionIsCutWhereItIsACommitOrADigest(t *testing.T) {
	t.Parallel()
	commit, digest := strings.Repeat("0123456789", 4), "sha256:"+strings.Repeat("fedcba98", 8)
	for in, want := range map[string]string{
		commit: "0123456", digest: "fedcba9", "": "", "1.10.12-rc1": "1.10.12-rc1", "sha256:": "sha256:",
		strings.Repeat("x", 40): strings.Repeat("x", 40), "sha256:" + commit: "sha256:" + commit,
	} {
		if got := legible.Revision(in, 7); got != want {
			t.Errorf("%s is shown as %s, want %s", in, got, want)
		}
	}
}
