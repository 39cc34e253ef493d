package registry

import (
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/integrity/provenance"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
)

// workshop runs the real helm and gpg in a folder of its own.
type workshop struct {
	t   *testing.T
	dir string
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	for _, tool := range []string{"helm", "gpg"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed: put helm 3 or 4 and GnuPG into PATH")
		}
	}
	dir, err := os.MkdirTemp("", "gpg") //nolint:usetesting // short: the path of a socket has a limit
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{t, dir}
	t.Cleanup(func() {
		w.run("gpgconf", "--kill", "all")
		_ = os.RemoveAll(dir)
	})
	w.gpg("--quick-gen-key", "Ann <ann@example.org>", "rsa2048", "sign", "never")
	w.write("secring.gpg", w.gpg("--export-secret-keys"))
	return w
}

func (w *workshop) run(name string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(name, args...) //nolint:noctx // one of them runs in a cleanup
	cmd.Dir, cmd.Env = w.dir, append(os.Environ(), "GNUPGHOME="+w.dir, "HOME="+w.dir)
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (w *workshop) gpg(args ...string) string {
	w.t.Helper()
	return w.run("gpg", append([]string{"--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"}, args...)...)
}

func (w *workshop) write(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func TestTheProvenanceThatTheRealHelmPushesIsVerified(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	w.run("helm", "create", "web")
	w.run("helm", "package", "web", "--version", "1.2.3+build", "--sign", "--key", "Ann", "--keyring", "secring.gpg")
	keys := integrity.NewKeyring(map[string]string{"ann": w.gpg("--armor", "--export")}, "")
	ann, err := integrity.ReadKey(w.gpg("--armor", "--export"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	servers := registries(t)
	for _, name := range []string{"olareg", "distribution"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servers[name]
			ca := inFile(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
			w.run("helm", "push", "web-1.2.3+build.tgz", "oci://"+server.host()+"/charts", "--ca-file", ca)
			r := open(t, server, "charts/web", "", true)
			found, err := r.Find(t.Context(), artifact.Revision{Chart: "web", Version: "1.2.3+build"}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			tree, err := r.Fetch(t.Context(), "web", found)
			if err != nil {
				t.Fatal(err)
			}
			prov, err := r.Provenance(t.Context(), "web", found)
			if err != nil {
				t.Fatal(err)
			}
			v, fault := provenance.Judge(provenance.Question{
				Text: prov.Text, Keys: keys, Allowed: []string{ann.ID}, Now: time.Now(), Chart: "web", Version: tree.Revision(), File: prov.File, Digest: prov.Archive,
			})
			if fault != nil || v.Signer.Key != ann.ID || tree.Revision() != "1.2.3+build" {
				t.Errorf("%v, %v, at %s", v, fault, tree.Revision())
			}
		})
	}
}
