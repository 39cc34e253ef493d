package oci_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/oci"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// loopback allows what tests start.
func loopback(t testing.TB) *outward.Policy {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return &outward.Policy{Allow: allow}
}

// remote opens one over a repository of a server, with what change makes of the options.
func remote(t testing.TB, s *testenv.OCIServer, repo string, change ...func(*oci.Options)) *oci.Remote {
	t.Helper()
	address, _, err := oci.ParseAddress(oci.Scheme + s.Host() + "/" + repo)
	if err != nil {
		t.Fatal(err)
	}
	store, err := archive.Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	o := oci.Options{Address: address, PlainHTTP: strings.HasPrefix(s.URL(), "http://"), Outbound: loopback(t), Store: store}
	if !o.PlainHTTP {
		o.Access.CA = s.CA()
	}
	for _, c := range change {
		c(&o)
	}
	r, err := oci.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func chart(o *oci.Options) { o.Chart = true }

func as(user, password string) func(*oci.Options) {
	return func(o *oci.Options) { o.Access.Username, o.Access.Password = user, password }
}

func find(t testing.TB, r *oci.Remote, version string) artifact.Found {
	t.Helper()
	f, err := r.Find(t.Context(), artifact.Revision{Version: version}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func fetch(t testing.TB, r *oci.Remote, f artifact.Found) source.Tree {
	t.Helper()
	tree, err := r.Fetch(t.Context(), "", f)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// deploy finds a version and reads a file of it.
func deploy(ctx context.Context, r *oci.Remote, version, file string) (string, error) {
	f, err := r.Find(ctx, artifact.Revision{Version: version}, time.Now())
	if err != nil {
		return "", err
	}
	tree, err := r.Fetch(ctx, "", f)
	if err != nil {
		return "", err
	}
	raw, err := tree.ReadFile(file)
	return string(raw), err
}

func TestAnArtifactIsFoundByTagRangeAndDigest(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	digests := map[string]string{}
	for _, tag := range []string{"1.0.0", "1.2.0", "1.9.0-rc.1", "2.0.0", "v3.0.0", "latest", "1.2.0_build.7", "4"} {
		digests[tag] = s.PushFiles("team/web", tag, map[string]string{"a.yaml": tag})
	}
	s.PushFiles("team/web", "sha256-"+strings.Repeat("a", 64)+".sig", map[string]string{"x": "y"})
	r := remote(t, s, "team/web")
	for version, tag := range map[string]string{
		"1.0.0": "1.0.0", "latest": "latest", "1.x": "1.2.0_build.7", "~1.0": "1.0.0", ">=1.0.0-0 <2": "1.9.0-rc.1", "": "v3.0.0", "*": "v3.0.0",
		"3.0.0": "v3.0.0", "4": "4", "1.2.0+build.7": "1.2.0_build.7",
	} {
		want := digests[tag]
		if version == "" || version == "*" { // "4" is the highest version
			want = digests["4"]
		}
		got := find(t, r, version)
		if got.Digest != want {
			t.Errorf("%q is %v, want %s (%s)", version, got, tag, want)
		}
		tree := fetch(t, r, got)
		if tree.Revision() != want {
			t.Errorf("revision %s, want the digest %s", tree.Revision(), want)
		}
	}
	pinned := find(t, r, digests["2.0.0"])
	if pinned.Digest != digests["2.0.0"] {
		t.Errorf("a digest stands for %v", pinned)
	}
	if got, err := deploy(t.Context(), r, digests["2.0.0"], "a.yaml"); err != nil || got != "2.0.0" {
		t.Errorf("%q, %v", got, err)
	}
	for version, want := range map[string]string{"9.9.9": "v3.0.0", ">5": "v3.0.0", "none": "neither a version nor a range", "sha256:12": "no whole digest"} {
		if _, err := r.Find(t.Context(), artifact.Revision{Version: version}, time.Now()); !errors.Is(err, artifact.ErrNoVersion) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %v with %q", version, err, artifact.ErrNoVersion, want)
		}
	}
}

func TestAChartHasItsVersionAsRevisionAndItsDirectoryAsRoot(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	s.Push("charts/web", "1.2.3_7", map[string]string{"org.opencontainers.image.title": "web"},
		testenv.OCILayer{MediaType: testenv.OCIChart, Content: testenv.TarGzip(t, map[string]string{"web/Chart.yaml": "name: web", "web/templates/x.yaml": "x"})},
		testenv.OCILayer{MediaType: "application/vnd.cncf.helm.chart.provenance.v1.prov", Content: []byte("signed")})
	for name, opts := range map[string][]func(*oci.Options){"chart": {chart}, "address": nil} {
		r := remote(t, s, "charts/web", opts...)
		found := find(t, r, "~1.2")
		tree := fetch(t, r, found)
		want := found.Digest
		if name == "chart" {
			want = "1.2.3+7"
		}
		if raw, err := tree.ReadFile("Chart.yaml"); err != nil || string(raw) != "name: web" || tree.Revision() != want {
			t.Errorf("%s: %q at %s, %v", name, raw, tree.Revision(), err)
		}
	}
	s.PushFiles("charts/web", "2.0.0", map[string]string{"a": "b"})
	if _, err := deploy(t.Context(), remote(t, s, "charts/web", chart), "2.0.0", "a"); !errors.Is(err, oci.ErrArtifact) || !strings.Contains(err.Error(), "no Helm chart") {
		t.Errorf("%v", err)
	}
}

func TestAnnotationsExplainARevision(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	const of = "org.opencontainers.image."
	s.Push("a", "1.0.0", map[string]string{
		of + "title": "Web\x1b[31m", of + "version": "1.0.0", of + "description": "What people see", of + "authors": "Ann <ann@example.org>",
		of + "revision": "0123abc", of + "source": "https://git.example.org/web", of + "created": "2026-11-20T10:00:00+01:00",
	}, testenv.OCILayer{MediaType: testenv.OCITarGzip, Content: testenv.TarGzip(t, map[string]string{"a": "b"})})
	r := remote(t, s, "a")
	found := find(t, r, "1.0.0")
	for range 2 { // from the registry, then from disk
		explained, ok := fetch(t, r, found).(source.Explained)
		if !ok {
			t.Fatal("the tree explains nothing")
		}
		got, err := explained.Change()
		if err != nil || strings.Contains(got.Subject, "\x1b") || !strings.HasPrefix(got.Subject, "Web") ||
			!strings.HasSuffix(got.Subject, "1.0.0: What people see (revision 0123abc, source https://git.example.org/web)") ||
			got.Author != "Ann <ann@example.org>" || !got.At.Equal(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v, %v", got, err)
		}
		s.Break()
	}
}

func TestSignInWorksInEveryWay(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "b"}
	for name, c := range map[string]struct {
		server []testenv.OCIOption
		client func(*oci.Options)
		want   error
	}{
		"anonymous":                       {nil, as("", ""), nil},
		"anonymous token":                 {[]testenv.OCIOption{testenv.OCITokens("", "")}, as("", ""), nil},
		"password":                        {[]testenv.OCIOption{testenv.OCIBasicAuth("ann", "s3cret")}, as("ann", "s3cret"), nil},
		"password over TLS":               {[]testenv.OCIOption{testenv.OCITLS(), testenv.OCIBasicAuth("ann", "s3cret")}, as("ann", "s3cret"), nil},
		"wrong password":                  {[]testenv.OCIOption{testenv.OCIBasicAuth("ann", "s3cret")}, as("ann", "other"), web.ErrAuth},
		"no password":                     {[]testenv.OCIOption{testenv.OCIBasicAuth("ann", "s3cret")}, as("", ""), registrylogin.ErrNoSecret},
		"token":                           {[]testenv.OCIOption{testenv.OCITokens("ann", "s3cret")}, as("ann", "s3cret"), nil},
		"token over TLS":                  {[]testenv.OCIOption{testenv.OCITLS(), testenv.OCITokens("ann", "s3cret")}, as("ann", "s3cret"), nil},
		"wrong password of a token":       {[]testenv.OCIOption{testenv.OCITokens("ann", "s3cret")}, as("ann", "other"), web.ErrAuth},
		"no password of a token":          {[]testenv.OCIOption{testenv.OCITokens("ann", "s3cret")}, as("", ""), registrylogin.ErrNoSecret},
		"token service on this machine":   {[]testenv.OCIOption{testenv.OCIRealm("http://localhost:1/token")}, as("ann", "s3cret"), registrylogin.ErrService},
		"token service at metadata":       {[]testenv.OCIOption{testenv.OCIRealm("http://169.254.169.254/token")}, as("ann", "s3cret"), registrylogin.ErrService},
		"token service of somebody else":  {[]testenv.OCIOption{testenv.OCIRealm("https://auth.example.org/token")}, as("ann", "s3cret"), registrylogin.ErrService},
		"token service without TLS":       {[]testenv.OCIOption{testenv.OCITLS(), testenv.OCIRealm("http://127.0.0.1:1/")}, as("ann", "s3cret"), registrylogin.ErrService},
		"token service at no address":     {[]testenv.OCIOption{testenv.OCIRealm("file:///etc/passwd")}, as("ann", "s3cret"), registrylogin.ErrService},
		"an authority that is not known":  {[]testenv.OCIOption{testenv.OCITLS()}, func(o *oci.Options) { o.Access.CA = nil }, web.ErrTLS},
		"without looking at certificates": {[]testenv.OCIOption{testenv.OCITLS()}, func(o *oci.Options) { o.Access.CA, o.Access.Insecure = nil, true }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testenv.OCI(t, c.server...)
			s.PushFiles("team/web", "1.0.0", files)
			_, err := deploy(t.Context(), remote(t, s, "team/web", c.client), "1.0.0", "a")
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "other\"")) {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestOneTokenServesUntilItIsRefused(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t, testenv.OCITokens("ann", "s3cret"))
	for i := range 5 {
		s.PushFiles("team/web", fmt.Sprintf("1.0.%d", i), map[string]string{"a": fmt.Sprint(i)})
	}
	r := remote(t, s, "team/web", as("ann", "s3cret"))
	tokens := func() (n int) {
		for _, line := range s.Seen() {
			if strings.Contains(line, "/token") {
				n++
				if !strings.Contains(line, "scope=repository%3Ateam%2Fweb%3Apull&") {
					t.Errorf("the token is for more than pulling: %s", line)
				}
			}
		}
		return n
	}
	for i := range 5 {
		fetch(t, r, find(t, r, fmt.Sprintf("1.0.%d", i)))
	}
	if n := tokens(); n != 1 {
		t.Errorf("%d tokens, want 1", n)
	}
	s.DropTokens()
	find(t, r, "1.0.1")
	if n := tokens(); n != 1 {
		t.Errorf("%d tokens after the first was refused, want 1", n)
	}
}

func TestABlobElsewhereGetsNoCredential(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t, testenv.OCIBasicAuth("ann", "s3cret"))
	layer := testenv.TarGzip(t, map[string]string{"a": "b"})
	s.Push("web", "1.0.0", nil, testenv.OCILayer{MediaType: testenv.OCITarGzip, Content: layer})
	var got http.Header
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		_, _ = w.Write(layer)
	}))
	t.Cleanup(storage.Close)
	to := storage.URL
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, to+"/bucket?X-Amz-Signature=1", http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	r := remote(t, s, "web", as("ann", "s3cret"))
	if text, err := deploy(t.Context(), r, "1.0.0", "a"); err != nil || text != "b" {
		t.Errorf("%q, %v", text, err)
	}
	if got == nil || got.Get("Authorization") != "" {
		t.Errorf("the storage got %v", got)
	}
	// A policy that allows the registry by name does not allow what it redirects to.
	to = strings.Replace(storage.URL, "127.0.0.1", "localhost", 1)
	if _, err := deploy(t.Context(), remote(t, s, "web", as("ann", "s3cret"), func(o *oci.Options) {
		o.Outbound.Deny, _ = outward.ReadList([]string{"localhost"})
	}), "1.0.0", "a"); !errors.Is(err, web.ErrRefused) {
		t.Errorf("a redirect to this machine: %v, want %v", err, web.ErrRefused)
	}
}

func TestAnIndexOfOneArtifactAndItsProofIsFollowed(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	inner := s.PushFiles("web", "", map[string]string{"a": "b"})
	index, _ := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": testenv.OCIIndex, "manifests": []map[string]any{
		{"mediaType": testenv.OCIManifest, "digest": inner, "size": 10},
		{"mediaType": testenv.OCIManifest, "digest": "sha256:" + strings.Repeat("2", 64), "size": 10, "annotations": map[string]string{"vnd.docker.reference.type": "attestation-manifest"}, "platform": map[string]string{"os": "unknown", "architecture": "unknown"}},
	}})
	outer := s.Manifest("web", "1", testenv.OCIIndex, index)
	r := remote(t, s, "web")
	found := find(t, r, "1")
	if tree := fetch(t, r, found); tree.Revision() != outer {
		t.Errorf("%s, want %s", tree.Revision(), outer)
	}
}

func TestTagsAreReadInPagesAndWithinBounds(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	digest := s.PushFiles("web", "0.0.1", map[string]string{"a": "b"})
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/tags/list") {
			return false
		}
		var from int
		_, _ = fmt.Sscan(r.URL.Query().Get("last"), &from)
		tags := make([]string, 0, 1000)
		for i := from; i < from+1000; i++ {
			tags = append(tags, fmt.Sprintf("1.%d.0", i))
		}
		if from+1000 < 100_000 {
			w.Header().Set("Link", fmt.Sprintf(`<https://other.example/v2/web/tags/list?last=%d,&n=1000>; rel="next"`, from+1000))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"tags": tags})
		return true
	})
	r := remote(t, s, "web")
	began := time.Now()
	_, err := r.Find(t.Context(), artifact.Revision{Version: ">=1.0.0"}, time.Now())
	if !errors.Is(err, artifact.ErrNoVersion) || !strings.Contains(err.Error(), "no tag 1.99999.0") { // the highest of all pages
		t.Errorf("%v", err)
	}
	t.Logf("100,000 tags took %v; the digest is %s", time.Since(began), digest)
	n := s.RequestCount()
	if _, err := r.Find(t.Context(), artifact.Revision{Version: ">=1.5.0"}, began); !errors.Is(err, artifact.ErrNoVersion) {
		t.Error(err)
	}
	if more := s.RequestCount() - n; more != 1 {
		t.Errorf("%d requests for what was listed already, want the one for the tag", more)
	}
}

func TestWhatWasDeployedStaysWhileTheRegistryIsDown(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	s.PushFiles("web", "1.0.0", map[string]string{"a": "b"})
	dir := t.TempDir()
	again := func(o *oci.Options) { // as after a restart
		var err error
		if o.Store, err = archive.Open(dir, 0); err != nil {
			t.Fatal(err)
		}
	}
	r := remote(t, s, "web", again)
	fetch(t, r, find(t, r, "1.0.0"))
	s.Break()
	r = remote(t, s, "web", again)
	if _, err := r.Find(t.Context(), artifact.Revision{Version: "1.0.0"}, time.Now()); !errors.Is(err, web.ErrServer) {
		t.Errorf("%v, want %v", err, web.ErrServer)
	}
	found, ok := r.Recall(artifact.Revision{Version: "1.0.0"})
	if !ok {
		t.Fatal("nothing is known of what was deployed")
	}
	fetch(t, r, found)
	if _, ok := remote(t, s, "web", again, as("somebody", "else")).Recall(artifact.Revision{Version: "1.0.0"}); ok {
		t.Error("another credential gets what this one read")
	}
}

func TestATagThatMovesIsNoticed(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	first := s.PushFiles("web", "1.0.0", map[string]string{"a": "b"})
	var log bytes.Buffer
	var changes []artifact.Change
	pool := artifact.NewPool(artifact.PoolOptions{
		Log: slog.New(slog.NewTextHandler(&log, nil)), Changed: func(c artifact.Change) { changes = append(changes, c) },
	})
	repo := pool.Get(remote(t, s, "web"))
	rev := artifact.Revision{Version: "1.0.0"}
	defer repo.Follow(rev)()
	if _, err := repo.Resolve(t.Context(), rev, time.Now()); err != nil {
		t.Fatal(err)
	}
	second := s.PushFiles("web", "1.0.0", map[string]string{"a": "c"})
	found, err := repo.Resolve(t.Context(), rev, time.Now())
	if err != nil || found.Digest != second {
		t.Fatalf("%v, %v", found, err)
	}
	if !strings.Contains(log.String(), "published again") || !strings.Contains(log.String(), first) || !strings.Contains(log.String(), second) {
		t.Errorf("nothing is said: %s", log.String())
	}
	if m, ok := repo.Moved(rev); !ok || m.Before.Digest != first || m.After.Digest != second {
		t.Errorf("%+v, %t", m, ok)
	}
}

func TestAddressesAreReadInEverySpelling(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0", 64)
	for raw, want := range map[string][2]string{
		"oci://ghcr.io/org/app":            {"oci://ghcr.io/org/app", ""},
		"OCI://GHCR.io/org/app/":           {"oci://ghcr.io/org/app", ""},
		"ghcr.io/org/app":                  {"oci://ghcr.io/org/app", ""},
		"oci://ghcr.io:443/org/app:1.2.3":  {"oci://ghcr.io/org/app", "1.2.3"},
		"oci://localhost:5000/a@" + digest: {"oci://localhost:5000/a", digest},
		"oci://h/a:1.0@" + digest:          {"oci://h/a", digest},
		"oci://registry.example.org":       {"oci://registry.example.org", ""},
		"oci://[::1]:5000/a":               {"oci://[::1]:5000/a", ""},
	} {
		a, version, err := oci.ParseAddress(raw)
		if err != nil || a.String() != want[0] || version != want[1] {
			t.Errorf("%s: %s %s, %v", raw, a, version, err)
		}
	}
	for _, raw := range []string{
		"", "oci://", "https://ghcr.io/a", "oci://user:pass@ghcr.io/a", "oci://ghcr.io/Org/app", "oci://ghcr.io/../x", "oci://ghcr.io/a b", "oci://ghcr.io/a?x=1",
		"oci://ghcr.io/a:b:c", "oci://ghcr.io/a@sha256:12", "oci://ghcr.io/" + strings.Repeat("a", 300), "oci://gh cr.io/a", "oci://ghcr.io/a//b", "oci://ghcr.io:x/a",
	} {
		if a, version, err := oci.ParseAddress(raw); err == nil {
			t.Errorf("%q is read as %s %s", raw, a, version)
		}
	}
	base, _, _ := oci.ParseAddress("ghcr.io/charts")
	if a, err := base.Join("web"); err != nil || a.String() != "oci://ghcr.io/charts/web" {
		t.Errorf("%s, %v", a, err)
	}
	if _, err := base.Join("../other"); err == nil {
		t.Error("a chart leads elsewhere")
	}
}

func TestVersionsAreListed(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	for _, tag := range []string{"1.0.0", "1.10.0_1", "1.2.0", "latest", "sha256-" + strings.Repeat("a", 64) + ".sig"} {
		s.PushFiles("web", tag, map[string]string{"a": tag})
	}
	got, err := remote(t, s, "web", chart).Releases(t.Context(), "", 3)
	if err != nil || !got.Truncated || len(got.Versions) != 3 || got.Versions[0].Version != "1.10.0+1" || got.Versions[2].Version != "1.0.0" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPingSaysWhetherTheCredentialIsAccepted(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t, testenv.OCITokens("ann", "s3cret"))
	root := func(o *oci.Options) { o.Address.Path = "" }
	if err := remote(t, s, "x", root, as("ann", "s3cret")).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := remote(t, s, "x", root, as("ann", "wrong")).Ping(t.Context()); !errors.Is(err, web.ErrAuth) {
		t.Errorf("%v, want %v", err, web.ErrAuth)
	}
}
