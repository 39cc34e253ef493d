package place

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// bench is a Helm repository and a registry with charts, keys to sign them with, and what judges them.
type bench struct {
	t        *testing.T
	charts   *testenv.Charts
	registry *testenv.OCIServer
	settings *Settings
	sources  *Sources
	trust    *Trust
	keys     map[string]*openpgp.Entity
}

// newBench has the agent know the keys of people, but that of Eve.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, charts: testenv.NewCharts(t), registry: testenv.OCI(t), keys: map[string]*openpgp.Entity{}}
	b.settings = keep([]string{"one", string(v1alpha1.SecretTypeRepoCreds), "url", "oci://" + b.registry.Host(), "insecureOCIForceHttp", "true"})
	b.sources = registered(t, b.settings)
	b.trust = NewTrust(b.sources, b.settings, slog.New(slog.DiscardHandler))
	life := map[string]uint32{"brief": 60}
	for _, name := range []string{"ann", "bob", "brief", "eve"} {
		key, err := openpgp.NewEntity(name, "", name+"@example.org", &packet.Config{
			Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: life[name], Time: func() time.Time { return time.Now().Add(-30 * time.Second) },
		})
		if err != nil {
			t.Fatal(err)
		}
		b.keys[name] = key
	}
	b.knows("ann", "bob", "brief")
	return b
}

// knows has the agent know the keys of some people and no others.
func (b *bench) knows(names ...string) {
	b.t.Helper()
	data := map[string]any{}
	for _, name := range names {
		var out bytes.Buffer
		w, err := armor.Encode(&out, openpgp.PublicKeyType, nil)
		if err == nil {
			err = b.keys[name].Serialize(w)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			b.t.Fatal(err)
		}
		data[b.id(name)] = out.String()
	}
	b.settings.Put("configmaps", &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": ConfigGPGKeys}, "data": data,
	}})
}

func (b *bench) id(name string) string { return b.keys[name].PrimaryKey.KeyIdString() }

// prov is a provenance file as Helm makes it.
func (b *bench) prov(by, chart, version string, archive []byte) []byte {
	b.t.Helper()
	var out bytes.Buffer
	sum := sha256.Sum256(archive)
	w, err := clearsign.Encode(&out, b.keys[by].PrivateKey, nil)
	if err == nil {
		_, err = fmt.Fprintf(w, "apiVersion: v2\nname: %s\nversion: %s\n\n...\nfiles:\n  %s-%s.tgz: sha256:%x\n", chart, version, chart, version, sum)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Bytes()
}

// publish puts a chart into the Helm repository, and returns its archive.
func (b *bench) publish(chart, version, content string) []byte {
	files := map[string]string{"templates/a.yaml": content}
	b.charts.Publish(chart, version, files)
	return testenv.PackChart(b.t, chart, version, files)
}

// push puts a chart into the registry, with provenance files.
func (b *bench) push(chart, version string, archive []byte, provs ...[]byte) string {
	layers := []testenv.OCILayer{{MediaType: testenv.OCIChart, Content: archive}}
	for _, p := range provs {
		layers = append(layers, testenv.OCILayer{MediaType: "application/vnd.cncf.helm.chart.provenance.v1.prov", Content: p})
	}
	return b.registry.Push("charts/"+chart, version, nil, layers...)
}

func (b *bench) source(version string) v1alpha1.ApplicationSource {
	return v1alpha1.ApplicationSource{RepoURL: b.charts.URL(), Chart: "web", TargetRevision: version}
}

// claim fetches a source, and returns what is to be judged.
func (b *bench) claim(src v1alpha1.ApplicationSource, allowed ...string) trust.Claim {
	b.t.Helper()
	f, err := b.sources.Fetch(b.t.Context(), "default", src, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	claim := trust.Claim{Project: "default", Source: src, Revision: f.Tree.Revision(), Digest: f.Digest}
	for _, name := range allowed {
		claim.Policy.Helm = append(claim.Policy.Helm, b.id(name))
	}
	return claim
}

// wants compares a judgement: want is "" for trusted by Ann.
func (b *bench) wants(name string, claim trust.Claim, want string) {
	b.t.Helper()
	signer, err := b.trust.Judge(b.t.Context(), claim)
	switch {
	case want == "" && (err != nil || signer != "OpenPGP key "+b.id("ann")+" of ann <ann@example.org> (provenance)"):
		b.t.Errorf("%s: %q, %v", name, signer, err)
	case want != "" && (err == nil || !v1alpha1.Unverified(err.Error()) || !strings.HasPrefix(err.Error(), "HELM/GPG: ") || !strings.Contains(err.Error(), want)):
		b.t.Errorf("%s: %q, %v; want %s", name, signer, err, want)
	}
}

func TestAChartOfAHelmRepositoryIsTrustedByItsProvenance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	archive := b.publish("web", "1.0.0", "good")
	claim := b.claim(b.source("1.0.0"), "ann")
	for _, c := range []struct {
		name string
		prov []byte
		want string
	}{
		{"none", nil, "unsigned (key_id=)"},
		{"a stranger's key", b.prov("eve", "web", "1.0.0", archive), "signed with key not in keyring"},
		{"another project's key", b.prov("bob", "web", "1.0.0", archive), "signed with unallowed key (key_id=" + b.id("bob")},
		{"another version", b.prov("ann", "web", "0.9.0", archive), "signature of another chart"},
		{"another archive", b.prov("ann", "web", "1.0.0", []byte("evil")), "signature of other content"},
		{"text behind it", append(b.prov("ann", "web", "1.0.0", archive), "\nfiles: {}\n"...), "text behind the signed part"},
		{"a huge one", bytes.Repeat([]byte("x"), 300<<10), "more than 256 KiB"},
		{"a good one", b.prov("ann", "web", "1.0.0", archive), ""},
	} {
		if c.prov != nil {
			b.charts.Archive("web-1.0.0.tgz.prov", c.prov)
		}
		clear(b.trust.signed)
		b.wants(c.name, claim, c.want)
	}
}

func TestAnArchiveThatWasReplacedIsNotTrustedByItsOldProvenance(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]string{"a digest in the index": "digest: %s\nurls: [web-1.0.0.tgz]\n", "no digest": "urls: [web-1.0.0.tgz] # %.0s\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			put := func(raw []byte) {
				sum := sha256.Sum256(raw)
				b.charts.Archive("web-1.0.0.tgz", raw)
				b.charts.Entry("web", "1.0.0", fmt.Sprintf(entry, hex.EncodeToString(sum[:])))
			}
			good := testenv.PackChart(t, "web", "1.0.0", map[string]string{"templates/a.yaml": "good"})
			b.charts.Archive("web-1.0.0.tgz.prov", b.prov("ann", "web", "1.0.0", good))
			put(good)
			claim := b.claim(b.source("1.0.0"), "ann")
			b.wants("what was signed", claim, "")
			evil := newBench(t)
			evil.charts, evil.keys = b.charts, b.keys
			evil.knows("ann")
			put(testenv.PackChart(t, "web", "1.0.0", map[string]string{"templates/a.yaml": "evil"}))
			evil.wants("another archive", evil.claim(evil.source("1.0.0"), "ann"), "signature of other content")
			b.wants("what was fetched before", claim, "")
		})
	}
}

func TestAnOldChartIsNotPassedOffAsANewOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.publish("web", "1.0.0", "old")
	b.charts.Archive("web-1.0.0.tgz.prov", b.prov("ann", "web", "1.0.0", old))
	sum := sha256.Sum256(old)
	b.charts.Entry("web", "2.0.0", fmt.Sprintf("digest: %x\nurls: [web-1.0.0.tgz]\n", sum))
	b.wants("its own version", b.claim(b.source("1.0.0"), "ann"), "")
	b.wants("under a new version", b.claim(b.source("2.0.0"), "ann"), "it is of web 1.0.0")
	b.push("web", "2.0.0", old, b.prov("ann", "web", "1.0.0", old))
	registry := v1alpha1.ApplicationSource{RepoURL: "oci://" + b.registry.Host() + "/charts/web", TargetRevision: "2.0.0"}
	b.wants("under a new tag", b.claim(registry, "ann"), "it is of web 1.0.0")
}

func TestAChartOfARegistryIsTrustedByTheProvenanceInItsManifest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	archive := testenv.PackChart(t, "web", "1.0.0", map[string]string{"templates/a.yaml": "good"})
	good := b.prov("ann", "web", "1.0.0", archive)
	for _, c := range []struct {
		name  string
		provs [][]byte
		want  string
	}{
		{"none", nil, "unsigned"},
		{"a stranger's key", [][]byte{b.prov("eve", "web", "1.0.0", archive)}, "not in keyring"},
		{"another archive", [][]byte{b.prov("ann", "web", "1.0.0", []byte("evil"))}, "signature of other content"},
		{"two of them", [][]byte{b.prov("eve", "web", "1.0.0", archive), good}, "2 provenance files"},
		{"a huge one", [][]byte{bytes.Repeat([]byte("x"), 300<<10)}, "more than 256 KiB"},
		{"a good one", [][]byte{good}, ""},
	} {
		digest := b.push("web", "1.0.0", archive, c.provs...)
		for _, src := range []v1alpha1.ApplicationSource{
			{RepoURL: "oci://" + b.registry.Host() + "/charts", Chart: "web", TargetRevision: "1.0.0"},
			{RepoURL: "oci://" + b.registry.Host() + "/charts/web", TargetRevision: "1.0.0"},
			{RepoURL: "oci://" + b.registry.Host() + "/charts/web", TargetRevision: digest},
		} {
			b.wants(fmt.Sprintf("%s, %s %s", c.name, src.Chart, src.TargetRevision), b.claim(src, "ann"), c.want)
		}
	}
	b.registry.PushFiles("charts/web", "1.0.1", map[string]string{"a.yaml": "no chart"})
	b.wants("no chart", b.claim(v1alpha1.ApplicationSource{RepoURL: "oci://" + b.registry.Host() + "/charts/web", TargetRevision: "1.0.1"}, "ann"), "unsigned")
}

func TestARepositoryThatIsDownChangesNoTrustInAChart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	archive := b.publish("web", "1.0.0", "good")
	b.charts.Archive("web-1.0.0.tgz.prov", b.prov("ann", "web", "1.0.0", archive))
	claim := b.claim(b.source("1.0.0"), "ann")
	b.charts.Break()
	if _, err := b.trust.Judge(t.Context(), claim); err == nil || v1alpha1.Unverified(err.Error()) {
		t.Errorf("nothing is known: %v", err)
	}
	b.charts.Mend()
	b.wants("it is back", claim, "")
	b.charts.Break()
	b.wants("it was verified before", claim, "")
	b.charts.Mend()
	b.knows("bob")
	b.wants("the key is gone", claim, "not in keyring")
}

func TestTrustInAChartEndsWithItsKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	archive := b.publish("web", "1.0.0", "good")
	b.charts.Archive("web-1.0.0.tgz.prov", b.prov("brief", "web", "1.0.0", archive))
	claim := b.claim(b.source("1.0.0"), "brief")
	if _, err := b.trust.Judge(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	for about, answer := range b.trust.signed {
		now := time.Now()
		if !answer.holds(now) || answer.holds(now.Add(time.Minute)) {
			t.Errorf("%s: until %s", about, answer.until)
		}
	}
}

func TestOneKindOfSignatureNeverStandsForAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	archive := b.publish("web", "1.0.0", "good")
	prov := b.prov("ann", "web", "1.0.0", archive)
	b.charts.Archive("web-1.0.0.tgz.prov", prov)
	b.push("web", "1.0.0", archive, prov)
	for name, src := range map[string]v1alpha1.ApplicationSource{
		"a Helm repository": b.source("1.0.0"),
		"a registry":        {RepoURL: "oci://" + b.registry.Host() + "/charts", Chart: "web", TargetRevision: "1.0.0"},
	} {
		claim := b.claim(src, "ann")
		b.wants(name, claim, "")
		claim.Policy.Cosign = []string{b.id("ann")}
		if _, err := b.trust.Judge(t.Context(), claim); err == nil || !strings.HasPrefix(err.Error(), "OCI/COSIGN: ") {
			t.Errorf("%s, by both: %v", name, err)
		}
		claim.Policy = project.Integrity{Cosign: []string{b.id("ann")}}
		if _, err := b.trust.Judge(t.Context(), claim); err == nil || !strings.HasPrefix(err.Error(), "OCI/COSIGN: ") {
			t.Errorf("%s, by cosign alone: %v", name, err)
		}
	}
}
