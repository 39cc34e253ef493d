package place

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// shop is a registry with signed artifacts, and what judges them.
type shop struct {
	t        *testing.T
	server   *testenv.OCIServer
	settings *Settings
	sources  *Sources
	trust    *Trust
	keys     map[string]*ecdsa.PrivateKey
}

func newShop(t *testing.T, names ...string) *shop {
	t.Helper()
	s := &shop{t: t, server: testenv.OCI(t), keys: map[string]*ecdsa.PrivateKey{}}
	s.settings = keep([]string{"one", string(v1alpha1.SecretTypeRepoCreds), "url", "oci://" + s.server.Host(), "insecureOCIForceHttp", "true"})
	s.sources = registered(t, s.settings)
	s.trust = NewTrust(s.sources, s.settings, slog.New(slog.DiscardHandler))
	known := map[string]any{}
	for _, name := range append(names, "strange") {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		if s.keys[name] = key; name != "strange" {
			known[name] = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: raw}))
		}
	}
	s.settings.Put("configmaps", &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": ConfigArtifacts}, "data": known,
	}})
	return s
}

// sign puts signatures of a digest under the tag of another one, as cosign does.
func (s *shop) sign(of, under string, names ...string) {
	s.t.Helper()
	var layers []any
	for _, name := range names {
		payload := []byte(`{"critical":{"identity":{},"image":{"docker-manifest-digest":"` + of + `"},"type":"cosign container image signature"}}`)
		sum := sha256.Sum256(payload)
		raw, err := ecdsa.SignASN1(rand.Reader, s.keys[name], sum[:])
		if err != nil {
			s.t.Fatal(err)
		}
		layers = append(layers, map[string]any{
			"mediaType": "application/vnd.dev.cosign.simplesigning.v1+json", "digest": s.server.Blob(payload), "size": len(payload),
			"annotations": map[string]any{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(raw)},
		})
	}
	raw, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": layers,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.Manifest("team/web", strings.Replace(under, ":", "-", 1)+".sig", "application/vnd.oci.image.manifest.v1+json", raw)
}

// claim fetches a version, and returns what is to be judged.
func (s *shop) claim(version string, allowed ...string) trust.Claim {
	s.t.Helper()
	src := v1alpha1.ApplicationSource{RepoURL: "oci://" + s.server.Host() + "/team/web", TargetRevision: version}
	f, err := s.sources.Fetch(s.t.Context(), "default", src, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	return trust.Claim{
		Project: "default", Source: src, Revision: f.Tree.Revision(), Digest: f.Digest, Policy: project.Integrity{Cosign: allowed},
	}
}

func (s *shop) push(version, content string) string {
	return s.server.PushFiles("team/web", version, map[string]string{"a.yaml": content})
}

func TestAnArtifactIsTrustedBySignaturesOfItsDigest(t *testing.T) {
	t.Parallel()
	s := newShop(t, "ours", "theirs")
	good := s.push("1.0.0", "good")
	for name, c := range map[string]struct {
		signers []string
		want    string // "" for trusted
	}{
		"nothing":               {nil, "unsigned (key_id=)"},
		"an unknown key":        {[]string{"strange"}, "signed with key not in keyring"},
		"another project's key": {[]string{"theirs"}, "signed with unallowed key (key_id=theirs)"},
		"two signatures":        {[]string{"strange", "ours"}, ""},
	} {
		s.sign(good, good, c.signers...)
		clear(s.trust.signed)
		signer, err := s.trust.Judge(t.Context(), s.claim("1.0.0", "ours"))
		if c.want == "" && (err != nil || !strings.HasPrefix(signer, "cosign key ours (")) {
			t.Errorf("%s: %q, %v", name, signer, err)
		}
		if c.want != "" && (err == nil || !v1alpha1.Unverified(err.Error()) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), good)) {
			t.Errorf("%s: %q, %v", name, signer, err)
		}
	}
}

func TestATagThatMovesDoesNotMoveTheTrust(t *testing.T) {
	t.Parallel()
	s := newShop(t, "ours")
	good := s.push("1.0.0", "good")
	s.sign(good, good, "ours")
	claim := s.claim("1.0.0", "ours")
	bad := s.push("1.0.0", "bad") // between the fetch and the judgement
	s.sign(good, bad, "ours")     // and the signature of the good one is put beside the bad one
	if signer, err := s.trust.Judge(t.Context(), claim); err != nil || claim.Digest != good {
		t.Errorf("what was fetched: %q, %v", signer, err)
	}
	if signer, err := s.trust.Judge(t.Context(), s.claim("1.0.0", "ours")); err == nil || !strings.Contains(err.Error(), "signature of other content (key_id=ours)") {
		t.Errorf("what the tag is now: %q, %v", signer, err)
	}
}

func TestARegistryThatIsDownChangesNoTrust(t *testing.T) {
	t.Parallel()
	s := newShop(t, "ours")
	good := s.push("1.0.0", "good")
	s.sign(good, good, "ours")
	claim := s.claim("1.0.0", "ours")
	s.server.Break()
	if _, err := s.trust.Judge(t.Context(), claim); err == nil || v1alpha1.Unverified(err.Error()) {
		t.Errorf("nothing is known: %v", err)
	}
	s.server.Mend()
	if _, err := s.trust.Judge(t.Context(), claim); err != nil {
		t.Error(err)
	}
	s.server.Break()
	if _, err := s.trust.Judge(t.Context(), claim); err != nil {
		t.Errorf("it was verified before: %v", err)
	}
	s.settings.Put("configmaps", &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": ConfigArtifacts}, "data": map[string]any{},
	}})
	s.server.Mend()
	if _, err := s.trust.Judge(t.Context(), claim); err == nil || !strings.Contains(err.Error(), "not in keyring") {
		t.Errorf("the key is gone: %v", err)
	}
}

func TestAChartOfAHelmRepositoryHasNoSignatureOfCosign(t *testing.T) {
	t.Parallel()
	s := newShop(t, "ours")
	_, err := s.trust.Judge(t.Context(), trust.Claim{
		Project: "default", Source: v1alpha1.ApplicationSource{RepoURL: "https://charts.example", Chart: "web"}, Revision: "1.0.0", Digest: "sha256:a",
		Policy: project.Integrity{Cosign: []string{"ours"}},
	})
	if err == nil || !v1alpha1.Unverified(err.Error()) || !strings.Contains(err.Error(), "push it to an OCI registry") {
		t.Error(err)
	}
}

// TestABrokenSignatureHidesNoGoodOne has referrers that are gone, too large or not to be read, and one signature whose text is gone.
func TestABrokenSignatureHidesNoGoodOne(t *testing.T) {
	t.Parallel()
	s := newShop(t, "ours")
	good := s.push("1.0.0", "good")
	s.sign(good, good, "ours")
	const bundle = "application/vnd.dev.sigstore.bundle.v0.3+json"
	manifest := func(layer map[string]any) string {
		raw, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": []any{layer}})
		if err != nil {
			t.Fatal(err)
		}
		return s.server.Manifest("team/web", "", "application/vnd.oci.image.manifest.v1+json", raw)
	}
	gone := "sha256:" + strings.Repeat("0", 64)
	var entries []any
	for _, digest := range slices.Concat([]string{
		gone,
		manifest(map[string]any{"mediaType": bundle, "digest": s.server.Blob([]byte("{}")), "size": 0}),
		manifest(map[string]any{"mediaType": bundle, "digest": s.server.Blob([]byte("[]")), "size": 2 << 20}),
		manifest(map[string]any{"mediaType": bundle, "digest": gone, "size": 3}),
	}, slices.Repeat([]string{gone}, 200)) {
		entries = append(entries, map[string]any{
			"mediaType": "application/vnd.oci.image.manifest.v1+json", "artifactType": bundle, "digest": digest, "size": 100,
		})
	}
	raw, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": entries,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.server.Manifest("team/web", strings.Replace(good, ":", "-", 1), "application/vnd.oci.image.index.v1+json", raw)
	before := s.server.RequestCount()
	if signer, err := s.trust.Judge(t.Context(), s.claim("1.0.0", "ours")); err != nil || !strings.HasPrefix(signer, "cosign key ours (") {
		t.Errorf("%q, %v", signer, err)
	}
	if n := s.server.RequestCount() - before; n > 120 {
		t.Errorf("%d requests were made", n)
	}
}
