package registry

import (
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/integrity/cosign"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// signer runs the real cosign with a key of its own.
type signer struct {
	t         *testing.T
	dir, tool string
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	tool, err := exec.LookPath("cosign")
	if err != nil {
		t.Skip("cosign is not installed: put cosign 3 into PATH")
	}
	s := &signer{t, t.TempDir(), tool}
	s.run("generate-key-pair")
	return s
}

func (s *signer) run(args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), s.tool, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "COSIGN_PASSWORD=", "HOME="+s.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("cosign %v: %v\n%s", args, err, out)
	}
}

func (s *signer) public() cosign.Key {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "cosign.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	key, err := cosign.ReadKey("release.pub", string(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	return key
}

func TestWhatTheRealCosignSignsIsVerified(t *testing.T) {
	t.Parallel()
	made := newSigner(t)
	servers := registries(t)
	for _, name := range []string{"olareg", "distribution"} {
		server := servers[name]
		ca := inFile(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
		for layout, options := range map[string][]string{
			"bundle": {"--new-bundle-format=true"}, "tag": {"--new-bundle-format=false"},
		} {
			t.Run(name+" "+layout, func(t *testing.T) {
				t.Parallel()
				digest := push(t, server, "team/"+layout, "1.0.0", testenv.OCITarGzip, testenv.TarGzip(t, map[string]string{"a.yaml": layout}), nil)
				r := open(t, server, "team/"+layout, "", false)
				judged := func(keys ...cosign.Key) (cosign.Key, *cosign.Fault) {
					found, err := r.Find(t.Context(), artifact.Revision{Version: "1.0.0"}, time.Now())
					if err != nil || found.Digest != digest {
						t.Fatal(found, err)
					}
					proofs, err := r.Proofs(t.Context(), digest)
					if err != nil {
						t.Fatal(err)
					}
					q := cosign.Question{Digest: digest, Keys: keys, Allowed: []string{"release.pub"}}
					for _, p := range proofs {
						q.Proofs = append(q.Proofs, cosign.Proof(p))
					}
					return cosign.Judge(q)
				}
				if _, fault := judged(made.public()); fault == nil {
					t.Fatal("it is trusted before it is signed")
				}
				made.run(append(append([]string{"sign", "--yes", "--key", "cosign.key", "--registry-cacert", ca}, offline...),
					append(options, server.host()+"/team/"+layout+"@"+digest)...)...)
				if key, fault := judged(made.public()); fault != nil {
					t.Errorf("%v, %+v", key, fault)
				}
				if _, fault := judged(newSigner(t).public()); fault == nil {
					t.Error("another key is accepted")
				}
			})
		}
	}
}

// offline are the options with which cosign asks no service.
var offline = []string{"--tlog-upload=false", "--use-signing-config=false"}
