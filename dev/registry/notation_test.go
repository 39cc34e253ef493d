package registry

import (
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/integrity/notation"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// notary runs the real notation with a certificate of its own.
type notary struct {
	t         *testing.T
	dir, tool string
}

func newNotary(t *testing.T) *notary {
	t.Helper()
	tool, err := exec.LookPath("notation")
	if err != nil {
		t.Skip("notation is not installed: put notation 1 into PATH")
	}
	n := &notary{t, t.TempDir(), tool}
	n.run("", "cert", "generate-test", "--default", "acme.example")
	return n
}

// run runs notation, which trusts the certificate in a file.
func (n *notary) run(ca string, args ...string) {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), n.tool, args...)
	cmd.Env = append(os.Environ(), "HOME="+n.dir, "XDG_CONFIG_HOME="+n.dir, "SSL_CERT_FILE="+ca)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("notation %v: %v\n%s", args, err, out)
	}
}

func (n *notary) stores() *notation.Stores {
	n.t.Helper()
	raw, err := os.ReadFile(filepath.Join(n.dir, "notation", "localkeys", "acme.example.crt"))
	if err != nil {
		n.t.Fatal(err)
	}
	s := notation.ReadStores(map[string]string{"ca.acme": string(raw)})
	if len(s.Faults()) > 0 {
		n.t.Fatal(s.Faults())
	}
	return s
}

func TestWhatTheRealNotationSignsIsVerified(t *testing.T) {
	t.Parallel()
	made := newNotary(t)
	servers := registries(t)
	for _, name := range []string{"olareg", "distribution"} {
		server := servers[name]
		ca := inFile(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
		for repository, options := range map[string][]string{
			"jws": {"--signature-format", "jws"}, "cose": {"--signature-format", "cose"},
			"referrers": {"--force-referrers-tag=false"}, "expiry": {"--expiry", "1h"},
		} {
			t.Run(name+" "+repository, func(t *testing.T) {
				t.Parallel()
				digest := push(t, server, "team/"+repository, "1.0.0", testenv.OCITarGzip, testenv.TarGzip(t, map[string]string{"a.yaml": repository}), nil)
				r := open(t, server, "team/"+repository, "", false)
				judged := func(stores *notation.Stores, identity string, now time.Time) (notation.Verdict, *notation.Fault) {
					found, err := r.Find(t.Context(), artifact.Revision{Version: "1.0.0"}, time.Now())
					if err != nil || found.Digest != digest {
						t.Fatal(found, err)
					}
					envelopes, err := r.Envelopes(t.Context(), digest)
					if err != nil {
						t.Fatal(err)
					}
					q := notation.Question{Digest: digest, Stores: stores, Trusted: []string{"ca:acme"}, Identities: []string{identity}, Now: now}
					for _, e := range envelopes {
						q.Proofs = append(q.Proofs, notation.Proof{MediaType: e.MediaType, Envelope: e.Content})
					}
					return notation.Judge(q)
				}
				const ours = "x509.subject: C=US, ST=WA, O=Notary"
				if _, fault := judged(made.stores(), ours, time.Now()); fault == nil || fault.Code != integrity.Unsigned {
					t.Fatal("it is trusted before it is signed")
				}
				made.run(ca, append(append([]string{"sign"}, options...), server.host()+"/team/"+repository+"@"+digest)...)
				if v, fault := judged(made.stores(), ours, time.Now()); fault != nil || v.Subject != "CN=acme.example,O=Notary,L=Seattle,ST=WA,C=US" {
					t.Errorf("%v, %v", v, fault)
				}
				if _, fault := judged(made.stores(), ours, time.Now().Add(48*time.Hour)); fault == nil {
					t.Error("it is accepted after all has expired")
				}
				if _, fault := judged(made.stores(), "x509.subject: C=US, ST=WA, O=Else", time.Now()); fault == nil || fault.Code != notation.OtherSubject {
					t.Errorf("another subject: %v", fault)
				}
				if _, fault := judged(newNotary(t).stores(), ours, time.Now()); fault == nil || fault.Code != notation.Untrusted {
					t.Errorf("another root of the same name: %v", fault)
				}
			})
		}
	}
}
