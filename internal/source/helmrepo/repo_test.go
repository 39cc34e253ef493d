package helmrepo_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/helmrepo"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// open opens a repository with a cache of its own, or the one in dir.
func open(t testing.TB, address, dir string, a web.Access) *helmrepo.Repo {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.0/8", "::1", "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		dir = t.TempDir()
	}
	store, err := archive.Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := helmrepo.New(address, a, helmrepo.Options{Policy: &outward.Policy{Private: true, Allow: allow}, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func find(t testing.TB, r *helmrepo.Repo, chart, version string) artifact.Found {
	t.Helper()
	f, err := r.Find(t.Context(), artifact.Revision{Chart: chart, Version: version}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func fetch(t testing.TB, r *helmrepo.Repo, chart string, f artifact.Found) source.Tree {
	t.Helper()
	tree, err := r.Fetch(t.Context(), chart, f)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func read(t testing.TB, tree source.Tree, name string) string {
	t.Helper()
	b, err := tree.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAChartIsFoundAndRead(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]struct {
		serve  []testenv.ChartsOption
		access func(*testenv.Charts) web.Access
	}{
		"plain": {nil, func(*testenv.Charts) web.Access { return web.Access{} }},
		"TLS and a password": {
			[]testenv.ChartsOption{testenv.ChartsTLS(), testenv.ChartsBasicAuth("robot", "hunter2")},
			func(c *testenv.Charts) web.Access {
				return web.Access{Username: "robot", Password: "hunter2", CA: c.CA()}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			charts := testenv.NewCharts(t, opts.serve...)
			charts.Publish("app", "1.0.0", map[string]string{"values.yaml": "one"})
			digest := charts.Publish("app", "1.1.0", map[string]string{"values.yaml": "two", "templates/a.yaml": "a"})
			charts.Publish("other", "3.0.0", nil)
			r := open(t, charts.URL()+"/", "", opts.access(charts))
			f := find(t, r, "app", "1.x")
			if f != (artifact.Found{Version: "1.1.0", Digest: digest}) {
				t.Fatalf("found %v, want 1.1.0 with %s", f, digest)
			}
			tree := fetch(t, r, "app", f)
			if read(t, tree, "values.yaml") != "two" || read(t, tree, "templates/a.yaml") != "a" || tree.Revision() != "1.1.0" {
				t.Errorf("the chart is another one, at %s", tree.Revision())
			}
			for range 3 {
				fetch(t, r, "app", find(t, r, "app", "*"))
			}
			if charts.Sent() != 1 || charts.Asked("app-1.1.0.tgz") != 1 {
				t.Errorf("the index was sent %d times, the archive asked for %d times", charts.Sent(), charts.Asked("app-1.1.0.tgz"))
			}
		})
	}
}

func TestANewVersionAppearsAndAMissingOneIsExplained(t *testing.T) {
	t.Parallel()
	charts := testenv.NewCharts(t)
	charts.Publish("app", "1.0.0", nil)
	r := open(t, charts.URL(), "", web.Access{})
	find(t, r, "app", "")
	charts.Publish("app", "1.1.0", nil)
	if f, _ := r.Find(t.Context(), artifact.Revision{Chart: "app"}, time.Time{}); f.Version != "1.0.0" {
		t.Errorf("what is known is %v", f)
	}
	if f := find(t, r, "app", ""); f.Version != "1.1.0" {
		t.Errorf("the newest is %v", f)
	}
	for rev, want := range map[artifact.Revision]string{{Chart: "app", Version: "2.x"}: "1.1.0", {Chart: "none"}: `no chart "none"`} {
		_, err := r.Find(t.Context(), rev, time.Time{})
		if !errors.Is(err, artifact.ErrNoVersion) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), charts.URL()) {
			t.Errorf("%v: %v", rev, err)
		}
	}
}

func TestContentIsUsedOnlyWithItsDigest(t *testing.T) {
	t.Parallel()
	charts := testenv.NewCharts(t)
	first := charts.Publish("app", "1.0.0", map[string]string{"values.yaml": "one"})
	r := open(t, charts.URL(), "", web.Access{})
	one := fetch(t, r, "app", find(t, r, "app", "1.0.0"))
	charts.Archive("app-1.0.0.tgz", testenv.PackChart(t, "app", "1.0.0", map[string]string{"values.yaml": "two"}))
	if f := find(t, r, "app", "1.0.0"); f.Digest != first || read(t, fetch(t, r, "app", f), "values.yaml") != "one" {
		t.Error("the content changed, and the index did not")
	}
	if _, err := open(t, charts.URL(), "", web.Access{}).Fetch(t.Context(), "app", artifact.Found{Version: "1.0.0", Digest: first}); !errors.Is(err, archive.ErrDigest) {
		t.Errorf("other content than the index promises: %v, want %v", err, archive.ErrDigest)
	}
	charts.Publish("app", "1.0.0", map[string]string{"values.yaml": "three"})
	f := find(t, r, "app", "1.0.0")
	if f.Digest == first || read(t, fetch(t, r, "app", f), "values.yaml") != "three" || read(t, one, "values.yaml") != "one" {
		t.Errorf("a version that was published again is %v", f)
	}
}

func TestARepositoryThatIsDownLeavesWhatWasDeployed(t *testing.T) {
	t.Parallel()
	charts := testenv.NewCharts(t)
	charts.Publish("app", "1.0.0", map[string]string{"values.yaml": "one"})
	dir := t.TempDir()
	r := open(t, charts.URL(), dir, web.Access{})
	f := find(t, r, "app", "1.0.0")
	fetch(t, r, "app", f)
	charts.Break()
	again := open(t, charts.URL(), dir, web.Access{}) // the agent was restarted
	if _, err := again.Find(t.Context(), artifact.Revision{Chart: "app", Version: "1.0.0"}, time.Time{}); !errors.Is(err, web.ErrServer) {
		t.Fatalf("%v, want %v", err, web.ErrServer)
	}
	recalled, ok := again.Recall(artifact.Revision{Chart: "app", Version: "1.0.0"})
	if !ok || recalled != f || read(t, fetch(t, again, "app", recalled), "values.yaml") != "one" {
		t.Errorf("recalled is %v, %v; want %v", recalled, ok, f)
	}
	if _, ok := open(t, charts.URL(), dir, web.Access{Username: "other"}).Recall(artifact.Revision{Chart: "app", Version: "1.0.0"}); ok {
		t.Error("another credential reads what this one has fetched")
	}
	charts.Mend()
	find(t, again, "app", "1.0.0")
	if charts.Sent() != 1 {
		t.Errorf("the index was sent %d times", charts.Sent())
	}
}

func TestAddressesOfArchives(t *testing.T) {
	t.Parallel()
	charts := testenv.NewCharts(t, testenv.ChartsBasicAuth("robot", "hunter2"))
	raw := testenv.PackChart(t, "app", "1.0.0", map[string]string{"values.yaml": "one"})
	charts.Archive("deep/app.tgz", raw)
	open1 := testenv.NewCharts(t)
	open1.Archive("app.tgz", raw)
	guarded := testenv.NewCharts(t, testenv.ChartsBasicAuth("robot", "hunter2"))
	guarded.Archive("app.tgz", raw)
	for version, url := range map[string]string{
		"1.0.0": "deep/app.tgz", "1.0.1": charts.URL() + "/deep/app.tgz", "1.0.2": "/charts/deep/app.tgz", "1.0.3": open1.URL() + "/app.tgz",
		"2.0.0": guarded.URL() + "/app.tgz", "2.0.1": "ftp://example.org/app.tgz", "2.0.2": "http://169.254.169.254/x", "2.0.3": "none.tgz",
	} {
		charts.Entry("app", version, "urls: ["+url+"]\n")
	}
	charts.Entry("app", "2.0.4", "digest: short\nurls: [deep/app.tgz]\n")
	charts.Entry("app", "2.0.5", "urls: []\n")
	a := web.Access{Username: "robot", Password: "hunter2"}
	r := open(t, charts.URL(), "", a)
	for _, version := range []string{"1.0.0", "1.0.1", "1.0.2", "1.0.3"} {
		if tree := fetch(t, r, "app", find(t, r, "app", version)); read(t, tree, "values.yaml") != "one" {
			t.Errorf("%s is another chart", version)
		}
	}
	for version, want := range map[string]error{
		"2.0.0": web.ErrAuth, "2.0.1": helmrepo.ErrIndex, "2.0.2": web.ErrRefused, "2.0.3": web.ErrNotFound, "2.0.5": helmrepo.ErrIndex,
	} {
		if _, err := r.Fetch(t.Context(), "app", find(t, r, "app", version)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", version, err, want)
		}
	}
	if _, err := r.Find(t.Context(), artifact.Revision{Chart: "app", Version: "2.0.4"}, time.Now()); !errors.Is(err, helmrepo.ErrIndex) {
		t.Errorf("a malformed digest: %v", err)
	}
	a.PassCredentials = true
	r = open(t, charts.URL(), "", a)
	fetch(t, r, "app", find(t, r, "app", "2.0.0"))
}

func TestAnIndexDoesNotLeadTheCredentialToOtherPaths(t *testing.T) {
	t.Parallel()
	charts := testenv.NewCharts(t, testenv.ChartsBasicAuth("robot", "hunter2"))
	raw := testenv.PackChart(t, "app", "1.0.0", map[string]string{"values.yaml": "one"})
	charts.Archive("deep/app.tgz", raw)
	charts.Entry("app", "1.0.0", "urls: [deep/app.tgz]\n")
	for version, url := range map[string]string{
		"2.0.0": "../app.tgz", "2.0.1": "/secret", "2.0.2": strings.TrimSuffix(charts.URL(), "/charts") + "/charts/../secret", "2.0.3": "%2e%2e/secret",
	} {
		charts.Entry("app", version, "urls: [\""+url+"\"]\n")
	}
	a := web.Access{Username: "robot", Password: "hunter2", Within: []string{charts.URL()}}
	r := open(t, charts.URL(), "", a)
	fetch(t, r, "app", find(t, r, "app", "1.0.0"))
	for _, version := range []string{"2.0.0", "2.0.1", "2.0.2", "2.0.3"} {
		_, err := r.Fetch(t.Context(), "app", find(t, r, "app", version))
		if !errors.Is(err, web.ErrAuth) || !strings.Contains(err.Error(), "is not sent there") || !strings.Contains(err.Error(), "passCredentials") {
			t.Errorf("%s: %v", version, err)
		}
	}
	a.Within = []string{strings.TrimSuffix(charts.URL(), "/charts")}
	wider := open(t, charts.URL(), "", a)
	if _, err := wider.Fetch(t.Context(), "app", find(t, wider, "app", "2.0.1")); errors.Is(err, web.ErrAuth) {
		t.Errorf("a credential for the whole host is not sent to all of it: %v", err)
	}
}

func TestHostileChartsAreRefused(t *testing.T) {
	t.Parallel()
	pack := func(h tar.Header, content string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		h.Size = int64(len(content))
		_ = w.WriteHeader(&h)
		_, _ = io.WriteString(w, content)
		_ = w.Close()
		_ = z.Close()
		return b.Bytes()
	}
	charts := testenv.NewCharts(t)
	archives := map[string][]byte{
		"1.0.0": pack(tar.Header{Name: "app/../../x"}, "x"),
		"1.0.1": pack(tar.Header{Name: "app/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""),
		"1.0.2": pack(tar.Header{Name: "app/Chart.yaml"}, strings.Repeat("\x00", 30<<20)),
		"1.0.3": pack(tar.Header{Name: "README.md"}, "no chart"),
		"1.0.4": []byte("<html>"),
	}
	for version, raw := range archives {
		charts.Archive(version, raw)
		charts.Entry("app", version, "urls: ["+version+"]\n")
	}
	r := open(t, charts.URL(), "", web.Access{})
	for version := range archives {
		if _, err := r.Fetch(t.Context(), "app", find(t, r, "app", version)); !errors.Is(err, archive.ErrArchive) {
			t.Errorf("%s: %v, want %v", version, err, archive.ErrArchive)
		}
	}
}

func TestChartsAndVersionsAreListed(t *testing.T) {
	t.Parallel()
	charts := testenv.NewCharts(t)
	for i := range 30 {
		charts.Publish("app", fmt.Sprintf("1.%d.0", i), nil)
	}
	charts.Publish("web-api", "1.0.0", nil)
	charts.Publish("api-web", "1.0.0", nil)
	r := open(t, charts.URL(), "", web.Access{})
	names, more, err := r.Charts(t.Context(), "API", 10)
	if err != nil || more || fmt.Sprint(names) != "[api-web web-api]" {
		t.Errorf("%v, %v, %v", names, more, err)
	}
	if _, more, _ := r.Charts(t.Context(), "", 2); !more {
		t.Error("there are more charts")
	}
	got, err := r.Releases(t.Context(), "app", 10)
	if err != nil || len(got.Versions) != 10 || !got.Truncated {
		t.Fatalf("%d versions, %v", len(got.Versions), err)
	}
	if v := got.Versions[0]; v.Version != "1.29.0" || v.AppVersion != "7" || v.Description != "Chart app." || time.Since(v.Created) > time.Minute {
		t.Errorf("the first is %+v", v)
	}
}

// indexOf serves a text as the index.
func indexOf(t testing.TB, text string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
	t.Cleanup(s.Close)
	return s.URL
}

func TestIndexesOfOtherProgramsAreRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"indented lists":  "entries:\n    app:\n        - version: 1.0.0\n          urls: [a.tgz]\n        - urls:\n            - b.tgz\n          version: '1.1.0'\n",
		"quoted":          "\"entries\":\n  \"app\": # a comment\n  - \"version\": \"1.1.0\"\n    urls: [a.tgz]\n  - version: 1.0.0\n",
		"CRLF and a mark": "\xef\xbb\xbfapiVersion: v1\r\nentries:\r\n  app:\r\n  - version: 1.1.0\r\n    urls: [a.tgz]\r\n  - version: 1.0.0\r\n",
		"JSON":            `{"apiVersion":"v1","entries":{"other":[],"app":[{"version":"1.0.0","x":{"version":"9.0.0"}},{"urls":["a.tgz"],"description":"}]\"","version":"1.1.0"}]},"generated":"x"}`,
		"texts in blocks": "entries:\n  app:\n  - description: |\n      entries:\n      app:\n      - version: 9.0.0\n    version: 1.1.0\n    urls: [a.tgz]\n  - version: 1.0.0\n    dependencies:\n    - name: x\n      version: 8.0.0\n",
		"flow entries":    "entries:\n  app:\n  - {version: 1.1.0, urls: [a.tgz]}\n  - {version: 1.0.0}\n",
		"comments":        "---\n# entries:\nentries:\n\n  # app\n  app:\n\n  - version: 1.1.0\n    urls: [a.tgz]\n\n  - version: 1.0.0\n# end\ngenerated: x\n",
		"anchors inside":  "entries:\n  app:\n  - version: 1.1.0\n    urls: &u [a.tgz]\n    sources: *u\n  - version: 1.0.0\n",
		"one bad version": "entries:\n  app:\n  - version: [nonsense]\n  - version: 1.1.0\n    urls: [a.tgz]\n  - version: 1.0.0\n",
	} {
		r := open(t, indexOf(t, text), "", web.Access{})
		got, err := r.Releases(t.Context(), "app", 10)
		if err != nil || len(got.Versions) != 2 || got.Versions[0].Version != "1.1.0" || got.Versions[1].Version != "1.0.0" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if f := find(t, r, "app", "*"); f.Version != "1.1.0" {
			t.Errorf("%s: found %v", name, f)
		}
	}
}

func TestAHostileIndexIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"nothing":           {"", "empty"},
		"a page":            {"<!doctype html>\n<p>Zaubernuss</p>\n", "no entries"},
		"a long line":       {"entries:\n  app:\n  - version: " + strings.Repeat("x", 2<<20), "KiB"},
		"a long version":    {"entries:\n  app:\n  - version: 1.0.0\n" + strings.Repeat("    x: "+strings.Repeat("y", 1000)+"\n", 2000), "KiB"},
		"an anchor":         {"x: &a []\nentries: *a\n", "anchor"},
		"a chart by anchor": {"entries:\n  app: &a\n  - version: 1.0.0\n  other: *a\n", "anchor"},
		"one line":          {"entries: {app: [{version: 1.0.0}]}\n", "one line"},
		"tabs":              {"entries:\n \tapp:\n", "tabs"},
		"a chart twice":     {"entries:\n  app:\n  - version: 1.0.0\n  app:\n  - version: 2.0.0\n", "twice"},
		"JSON cut off":      {`{"entries":{"app":[`, "too early"},
		"other JSON":        {`{"message":"Zaubernuss"}`, "no entries"},
	} {
		r := open(t, indexOf(t, c.text), "", web.Access{})
		_, err := r.Find(t.Context(), artifact.Revision{Chart: "app", Version: "1.0.0"}, time.Now())
		if !errors.Is(err, helmrepo.ErrIndex) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Zaubernuss") {
			t.Errorf("%s: %v, want %v with %q", name, err, helmrepo.ErrIndex, c.want)
		}
	}
	bomb := "entries:\n  app:\n  - version: 1.0.0\n    a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'l'; i++ {
		bomb += fmt.Sprintf("    %c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	if _, err := open(t, indexOf(t, bomb), "", web.Access{}).Find(t.Context(), artifact.Revision{Chart: "app", Version: "1.0.0"}, time.Now()); !errors.Is(err, helmrepo.ErrIndex) {
		t.Errorf("a bomb of anchors: %v", err)
	}
}

func TestAVersionOfAnIndexIsBounded(t *testing.T) {
	t.Parallel()
	long := "1.0.0-" + strings.Repeat("a", 20_000)
	text := "entries:\n  app:\n  - version: 1.0.0\n    description: 'a & b *c*'\n    urls: [a.tgz]\n  - version: " + long + "\n" +
		"  - version: 2.0.0\n    a: &a " + strings.Repeat("x", 5000) + "\n    b: [" + strings.Repeat("*a,", 2000) + "*a]\n"
	r := open(t, indexOf(t, text), "", web.Access{})
	got, err := r.Releases(t.Context(), "app", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range got.Versions {
		if len(v.Version) > 256 {
			t.Errorf("a version of %d bytes is kept", len(v.Version))
		}
	}
	if f := find(t, r, "app", "1.0.0"); f.Version != "1.0.0" {
		t.Errorf("signs that are no anchors: %v", f)
	}
	if _, err := r.Find(t.Context(), artifact.Revision{Chart: "app", Version: "2.0.0"}, time.Now()); !errors.Is(err, helmrepo.ErrIndex) || !strings.Contains(err.Error(), "aliases are written out") {
		t.Errorf("a version with aliases: %v", err)
	}
}

func TestAnAddressIsShownWithoutItsQuery(t *testing.T) {
	t.Parallel()
	r := open(t, "https://charts.example.org/team?sig=s3cret", "", web.Access{})
	if r.URL() != "https://charts.example.org/team" || !strings.Contains(r.Scope(), "team") {
		t.Errorf("it is %s, of scope %s", r.URL(), r.Scope())
	}
	if other := open(t, "https://charts.example.org/team?sig=other", "", web.Access{}); other.Scope() == r.Scope() {
		t.Error("two addresses have one scope")
	}
}

func FuzzIndex(f *testing.F) {
	f.Add("entries:\n  app:\n  - version: 1.0.0\n    urls: [a]\n")
	f.Add(`{"entries":{"app":[{"version":"1.0.0"}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		r := open(t, indexOf(t, text), "", web.Access{})
		names, _, err := r.Charts(t.Context(), "", 10)
		if err != nil {
			return
		}
		for _, name := range names {
			got, err := r.Releases(t.Context(), name, 10)
			if err != nil || len(got.Versions) == 0 {
				continue
			}
			found, err := r.Find(t.Context(), artifact.Revision{Chart: name, Version: got.Versions[0].Version}, time.Time{})
			if err == nil && found.Version == "" {
				t.Fatalf("%q has a version without a name", name)
			}
			if _, err := r.Fetch(t.Context(), name, found); err == nil || errors.Is(err, fs.ErrExist) {
				t.Fatal("there is no archive")
			}
		}
	})
}
