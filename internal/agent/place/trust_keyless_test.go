package place

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/testenv"
	"github.com/slipway-gitops/slipway/internal/testenv/sigstore"
)

// roots puts trust roots beside the keys.
func (s *shop) roots(roots map[string]string) {
	data := map[string]any{}
	for name, text := range s.settings.Config(ConfigArtifacts) {
		data[name] = text
	}
	for name, text := range roots {
		data[name] = text
	}
	s.settings.Put("configmaps", &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": ConfigArtifacts}, "data": data,
	}})
}

// byIdentity has a project ask for identities.
func byIdentity(t *testing.T, claim trust.Claim, identities string) trust.Claim {
	t.Helper()
	p := &v1alpha1.AppProject{}
	p.Annotations = map[string]string{
		v1alpha1.AnnotationSourceIntegrity: `{oci: {policies: [{repos: [{url: "*"}], cosign: {keyless: [` + identities + `]}}]}}`,
	}
	rules, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if claim.Policy, err = rules.Integrity(claim.Source); err != nil {
		t.Fatal(err)
	}
	return claim
}

// put puts signatures by identities beside a digest: under its tag, or as bundles that refer to it.
func (s *shop) put(under string, made *sigstore.Sigstore, of string, who sigstore.Signer, asBundle bool) {
	s.t.Helper()
	doc := map[string]any{"schemaVersion": 2, "mediaType": testenv.OCIManifest}
	tag := strings.Replace(under, ":", "-", 1)
	if asBundle {
		const kind = "application/vnd.dev.sigstore.bundle.v0.3+json"
		bundle := made.JSON(made.Bundle(who, "0.3", of, sigstore.PredicateSign))
		doc["artifactType"] = kind
		doc["layers"] = []any{map[string]any{"mediaType": kind, "digest": s.server.Blob(bundle), "size": len(bundle)}}
		raw, err := json.Marshal(doc)
		if err != nil {
			s.t.Fatal(err)
		}
		referring := map[string]any{
			"mediaType": testenv.OCIManifest, "artifactType": kind, "digest": s.server.Manifest("team/web", "", testenv.OCIManifest, raw), "size": len(raw),
		}
		doc = map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []any{referring}}
	} else {
		payload, annotations := made.Tagged(who, of)
		doc["layers"] = []any{map[string]any{
			"mediaType": "application/vnd.dev.cosign.simplesigning.v1+json", "digest": s.server.Blob(payload), "size": len(payload), "annotations": annotations,
		}}
		tag += ".sig"
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.Manifest("team/web", tag, doc["mediaType"].(string), raw)
}

func TestAnArtifactIsTrustedByTheIdentityThatSignedItsDigest(t *testing.T) {
	t.Parallel()
	made := sigstore.New(t, sigstore.Log|sigstore.Certs|sigstore.Times)
	who := sigstore.Workflow()
	const allowed = `{root: private.json, issuer: "https://token.example", subjectRegexp: 'https://git\.example/team/.*@refs/tags/v[0-9.]+'}`
	for _, asBundle := range []bool{false, true} {
		s := newShop(t, "ours")
		good := s.push("1.0.0", "good")
		claim := byIdentity(t, s.claim("1.0.0"), allowed)
		judged := func(want string) {
			t.Helper()
			clear(s.trust.signed)
			signer, err := s.trust.Judge(t.Context(), claim)
			if err == nil || signer != "" || !v1alpha1.Unverified(err.Error()) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), good) {
				t.Errorf("want %s: %q, %v", want, signer, err)
			}
		}
		judged("unknown trust root (root=private.json); add the root to the agent")
		s.roots(map[string]string{"private.json": made.Root(), "broken": "{"})
		judged("unsigned (identity=)")
		s.sign(good, good, "ours")
		judged("signed with a key, not by an identity")
		s.put(good, made, "sha256:"+strings.Repeat("b", 64), who, asBundle)
		if asBundle {
			s.sign(good, good) // no signature of a key any more
		}
		judged("signature of other content")
		foreign := who
		foreign.Subjects = []string{who.Subjects[0] + "-evil"}
		s.put(good, made, good, foreign, asBundle)
		judged("signed by unallowed identity (identity=" + foreign.Subjects[0] + ", issuer=https://token.example, root=private.json)")
		s.put(good, made, good, who, asBundle)
		clear(s.trust.signed)
		if signer, err := s.trust.Judge(t.Context(), claim); err != nil ||
			!strings.HasPrefix(signer, "cosign identity "+who.Subjects[0]+" of issuer https://token.example (root private.json, ") {
			t.Errorf("%q, %v", signer, err)
		}
		if _, err := s.trust.Judge(t.Context(), s.claim("1.0.0", "ours")); err == nil || !strings.Contains(err.Error(), "signed with key not in keyring") {
			t.Errorf("an identity where a key is asked for: %v", err)
		}
		s.roots(map[string]string{"private.json": sigstore.New(t, sigstore.Log).Root()})
		if _, err := s.trust.Judge(t.Context(), claim); err == nil || !strings.Contains(err.Error(), "signature that no trust root proves") {
			t.Errorf("the root is another one: %v", err)
		}
	}
}

func TestTrustRootsThatCannotBeUsedAreNamed(t *testing.T) {
	t.Parallel()
	data := map[string]string{"broken": "{", "good": sigstore.New(t, sigstore.Log).Root(), "key": "x"}
	got := readArtifactTrust(data)
	if len(got.roots) != 1 || got.roots[0].Name != "good" || len(got.faults) != 2 ||
		!strings.Contains(got.faults[0], "root broken of slipway-artifact-keys is not used: it is no trust root") ||
		!strings.Contains(got.faults[1], "key key of slipway-artifact-keys is not used") {
		t.Errorf("%+v", got.faults)
	}
	if other := readArtifactTrust(map[string]string{"good": data["good"], "key": "x"}); other.edition == got.edition {
		t.Error("other roots have the same edition")
	}
	for i := range maxArtifactRoots + 5 {
		data[strings.Repeat("a", i+1)] = data["good"]
	}
	if got := readArtifactTrust(data); len(got.roots) != maxArtifactRoots || !strings.Contains(strings.Join(got.faults, "\n"), "more than 20") {
		t.Errorf("%d roots, %v", len(got.roots), got.faults)
	}
}
