package e2e

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// cmdRegistry makes an OCI registry, or has it answer with errors: registry [USER:PASSWORD], registry break, registry mend. Its
// address is in $REGISTRY.
func cmdRegistry(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) < 2, "registry [USER:PASSWORD | break | mend]")
	switch {
	case len(args) == 1 && (args[0] == "break" || args[0] == "mend"):
		need(ts, s.registry != nil, "registry, before registry "+args[0])
		if args[0] == "break" {
			s.registry.Break()
		} else {
			s.registry.Mend()
		}
		return
	case len(args) == 1:
		user, password, _ := strings.Cut(args[0], ":")
		s.registry = testenv.OCI(s.t, testenv.OCITokens(user, password))
	default:
		s.registry = testenv.OCI(s.t)
	}
	ts.Setenv("REGISTRY", "oci://"+s.registry.Host())
	ts.Setenv("REGISTRY_HOST", s.registry.Host())
}

// cmdArtifact pushes an artifact, whose digest is in $DIGEST then: artifact REPOSITORY TAG DIR.
func cmdArtifact(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) == 3 && s.registry != nil, "artifact REPOSITORY TAG DIR, after registry")
	fresh, err := readDir(ts.MkAbs(args[2]))
	ts.Check(err)
	files := make(map[string]string, len(fresh))
	for name, change := range fresh {
		files[name] = expand(ts, change.Content)
	}
	ts.Setenv("DIGEST", s.registry.PushFiles(args[0], args[1], files))
}
