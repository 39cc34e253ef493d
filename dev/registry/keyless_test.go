package registry

import (
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/integrity/cosign"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/testenv"
	"github.com/slipway-gitops/slipway/internal/testenv/sigstore"
)

// services writes what cosign needs to sign with an installation: its addresses, and its root.
func services(t *testing.T, made *sigstore.Sigstore) (config, root, address string) {
	t.Helper()
	served := httptest.NewServer(made.Handler())
	t.Cleanup(served.Close)
	at := func(path string) []any {
		return []any{map[string]any{
			"url": served.URL + path, "majorApiVersion": 1, "operator": "example",
			"validFor": map[string]any{"start": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)},
		}}
	}
	raw, err := json.Marshal(map[string]any{
		"mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
		"caUrls":    at(""), "rekorTlogUrls": at(""), "tsaUrls": at("/api/v1/timestamp"), "oidcUrls": at("/oidc"),
		"rekorTlogConfig": map[string]any{"selector": "ANY"}, "tsaConfig": map[string]any{"selector": "ANY"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return inFile(t, "signing.json", string(raw)), inFile(t, "root.json", made.Root()), served.URL
}

func TestWhatTheRealCosignSignsWithoutAKeyIsVerified(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("cosign")
	if err != nil {
		t.Skip("cosign is not installed: put cosign 3 into PATH")
	}
	made := sigstore.New(t, sigstore.Log|sigstore.Certs|sigstore.Times)
	config, root, address := services(t, made)
	who := sigstore.Workflow()
	server := registries(t)["olareg"]
	ca := inFile(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	for layout, options := range map[string][]string{
		"bundle": {"--new-bundle-format=true", "--signing-config", config, "--trusted-root", root},
		"tag": {
			"--new-bundle-format=false", "--use-signing-config=false", "--fulcio-url", address, "--rekor-url", address,
			"--timestamp-server-url", address + "/api/v1/timestamp", "--trusted-root", root,
		},
	} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			digest := push(t, server, "keyless/"+layout, "1.0.0", testenv.OCITarGzip, testenv.TarGzip(t, map[string]string{"a.yaml": layout}), nil)
			artifactAt := server.host() + "/keyless/" + layout + "@" + digest
			run := func(args ...string) ([]byte, error) {
				cmd := exec.CommandContext(t.Context(), tool, args...)
				home := t.TempDir()
				cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home)
				return cmd.CombinedOutput()
			}
			args := append([]string{"sign", "--yes", "--identity-token", made.Token(who), "--registry-cacert", ca}, options...)
			if out, err := run(append(args, artifactAt)...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			trusted, err := cosign.ReadRoot("ours", made.Root())
			if err != nil {
				t.Fatal(err)
			}
			r := open(t, server, "keyless/"+layout, "", false)
			if found, err := r.Find(t.Context(), artifact.Revision{Version: "1.0.0"}, time.Now()); err != nil || found.Digest != digest {
				t.Fatal(found, err)
			}
			proofs, err := r.Proofs(t.Context(), digest)
			if err != nil || len(proofs) != 1 {
				t.Fatal(len(proofs), err)
			}
			q := cosign.Keyless{
				Digest: digest, Proofs: []cosign.Proof{cosign.Proof(proofs[0])}, Roots: []cosign.Root{trusted}, Named: []string{"ours"},
				Allows: func(i cosign.Identity) bool { return i.Subject == who.Subjects[0] && i.Issuer == who.Issuer },
			}
			got, fault := cosign.JudgeKeyless(q)
			if fault != nil {
				t.Fatal(fault)
			}
			t.Log(got)
			for name, subject := range map[string]string{"": who.Subjects[0], "another subject": who.Subjects[0] + "0"} {
				out, err := run("verify", "--trusted-root", root, "--certificate-identity", subject, "--certificate-oidc-issuer", who.Issuer,
					"--registry-cacert", ca, options[0], artifactAt)
				if (err == nil) != (name == "") {
					t.Errorf("cosign judges %q otherwise: %v\n%s", name, err, out)
				}
			}
		})
	}
}
