package e2e

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-gitops/slipway/internal/testenv"
	"github.com/slipway-gitops/slipway/internal/testenv/sigstore"
)

// cmdSigstore makes an installation of Sigstore, and writes a ConfigMap with its trust root, private.json: sigstore FILE.
func cmdSigstore(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) == 1, "sigstore FILE")
	s.sigstore = sigstore.New(s.t, sigstore.Log|sigstore.Certs|sigstore.Times)
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "slipway-artifact-keys", "namespace": s.agent.namespace},
		"data": map[string]any{"private.json": s.sigstore.Root()},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), raw, 0o600))
}

// cmdCosign signs the artifact with $DIGEST without a key, in place of the signatures that it has: cosign REPOSITORY ISSUER SUBJECT.
func cmdCosign(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) == 3 && s.registry != nil && s.sigstore != nil, "cosign REPOSITORY ISSUER SUBJECT, after registry and sigstore")
	digest := ts.Getenv("DIGEST")
	payload, annotations := s.sigstore.Tagged(sigstore.Signer{Issuer: args[1], Subjects: []string{args[2]}}, digest)
	raw, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": testenv.OCIManifest, "layers": []any{map[string]any{
		"mediaType": "application/vnd.dev.cosign.simplesigning.v1+json", "digest": s.registry.Blob(payload), "size": len(payload),
		"annotations": annotations,
	}}})
	ts.Check(err)
	s.registry.Manifest(args[0], strings.Replace(digest, ":", "-", 1)+".sig", testenv.OCIManifest, raw)
}
