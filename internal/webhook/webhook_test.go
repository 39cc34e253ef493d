package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/webhook"
)

const (
	hubBody = `{"ref":"refs/heads/main","before":"aa","after":"bb","commits":[{"added":["a/b.yaml"],"removed":["c"]}],` +
		`"repository":{"html_url":"https://git.example/org/repo","default_branch":"main"}}`
	gitlabBody = `{"object_kind":"tag_push","ref":"refs/tags/v1","before":"aa","after":"bb","total_commits_count":1,` +
		`"commits":[{"modified":["x"]}],"project":{"web_url":"https://git.example/org/repo","default_branch":"main"}}`
	cloudBody = `{"push":{"changes":[{"new":{"type":"branch","name":"main","target":{"hash":"bb"}},"old":null},` +
		`{"new":null,"old":{"type":"tag","name":"v1","target":{"hash":"aa"}}}]},` +
		`"repository":{"links":{"html":{"href":"https://bitbucket.org/org/repo"}}}}`
	serverBody = `{"changes":[{"ref":{"id":"refs/heads/main"},"fromHash":"aa","toHash":"bb"}],"repository":{"links":{"clone":` +
		`[{"name":"http","href":"https://git.example/scm/org/repo.git"},{"name":"ssh","href":"ssh://git@git.example:7999/org/repo.git"}]}}}`
	azureBody = `{"eventType":"git.push","resource":{"refUpdates":[{"name":"refs/heads/main","oldObjectId":"aa","newObjectId":"bb"}],` +
		`"repository":{"remoteUrl":"https://dev.azure.com/o/p/_git/r","defaultBranch":"refs/heads/main"}}}`
	ghcrBody = `{"action":"published","package":{"name":"r","package_type":"CONTAINER","owner":{"login":"u"},` +
		`"package_version":{"container_metadata":{"tag":{"name":"1.0.0"}}}}}`
	harborBody = `{"type":"PUSH_ARTIFACT","event_data":{"resources":[{"tag":"v1","resource_url":"h.example/p/r:v1"}],` +
		`"repository":{"repo_full_name":"p/r"}}}`
)

// delivery is one small payload of every sender, with the header that identifies it.
type delivery struct {
	provider      webhook.Provider
	header, value string
	body          string
}

func deliveries() []delivery {
	return []delivery{
		{webhook.GitHub, "X-GitHub-Event", "push", hubBody},
		{webhook.Gogs, "X-Gogs-Event", "push", hubBody},
		{webhook.Gitea, "X-Gitea-Event", "push", hubBody},
		{webhook.GitLab, "X-Gitlab-Event", "Tag Push Hook", gitlabBody},
		{webhook.BitbucketCloud, "X-Hook-UUID", "uuid", cloudBody},
		{webhook.BitbucketServer, "X-Event-Key", "repo:refs_changed", serverBody},
		{webhook.AzureDevOps, "X-Vss-Activityid", "abc", azureBody},
		{webhook.GHCR, "X-GitHub-Event", "package", ghcrBody},
		{webhook.Harbor, "Authorization", "harbor-secret", harborBody},
	}
}

func secrets() webhook.Secrets {
	return webhook.Secrets{
		GitHub: "hub-secret", GitLab: "lab-secret", Gogs: "gogs-secret", BitbucketUUID: "uuid", BitbucketSecret: "cloud-secret",
		BitbucketServer: "server-secret", AzureUsername: "azure", AzurePassword: "azure-secret", Harbor: "harbor-secret",
	}
}

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

// authenticate adds to h what the sender adds when it knows the secret.
func (d delivery) authenticate(h http.Header) {
	switch d.provider {
	case webhook.GitHub, webhook.GHCR:
		h.Set("X-Hub-Signature-256", "sha256="+sign("hub-secret", d.body))
	case webhook.Gitea:
		h.Set("X-Gitea-Signature", sign("gogs-secret", d.body))
	case webhook.Gogs:
		h.Set("X-Gogs-Signature", sign("gogs-secret", d.body))
	case webhook.GitLab:
		h.Set("X-Gitlab-Token", "lab-secret")
	case webhook.BitbucketCloud:
		h.Set("X-Hub-Signature", "sha256="+sign("cloud-secret", d.body))
	case webhook.BitbucketServer:
		h.Set("X-Hub-Signature", "sha256="+sign("server-secret", d.body))
	case webhook.AzureDevOps:
		r := http.Request{Header: h}
		r.SetBasicAuth("azure", "azure-secret")
	}
}

type exchange struct {
	config webhook.Config
	log    bytes.Buffer
	events []webhook.Event
}

func (x *exchange) send(method string, h http.Header, body io.Reader) *httptest.ResponseRecorder {
	if x.config.Secrets == nil {
		x.config.Secrets = func() webhook.Secrets { return webhook.Secrets{} }
	}
	if x.config.Notify == nil {
		x.config.Notify = func(e webhook.Event) { x.events = append(x.events, e) }
	}
	x.config.Log = slog.New(slog.NewTextHandler(&x.log, nil))
	req := httptest.NewRequest(method, "/api/webhook", body)
	req.Header = h
	w := httptest.NewRecorder()
	webhook.NewReceiver(x.config).ServeHTTP(w, req)
	return w
}

func TestASignedDeliveryBecomesEvents(t *testing.T) {
	t.Parallel()
	want := map[webhook.Provider]string{
		webhook.GitHub:          "github push refs/heads/main of https://git.example/org/repo",
		webhook.Gogs:            "gogs push refs/heads/main of https://git.example/org/repo",
		webhook.Gitea:           "gitea push refs/heads/main of https://git.example/org/repo",
		webhook.GitLab:          "gitlab push refs/tags/v1 of https://git.example/org/repo",
		webhook.BitbucketCloud:  "bitbucket push refs/heads/main of https://bitbucket.org/org/repo; bitbucket push refs/tags/v1 of https://bitbucket.org/org/repo",
		webhook.BitbucketServer: "bitbucketserver push refs/heads/main of https://git.example/scm/org/repo.git, ssh://git@git.example:7999/org/repo.git",
		webhook.AzureDevOps:     "azuredevops push refs/heads/main of https://dev.azure.com/o/p/_git/r",
		webhook.GHCR:            "ghcr push ghcr.io/u/r:1.0.0",
		webhook.Harbor:          "harbor push h.example/p/r:v1",
	}
	for _, d := range deliveries() {
		t.Run(string(d.provider), func(t *testing.T) {
			t.Parallel()
			x := &exchange{config: webhook.Config{Secrets: secrets}}
			h := http.Header{}
			h.Set(d.header, d.value)
			d.authenticate(h)
			if w := x.send(http.MethodPost, h, strings.NewReader(d.body)); w.Code != http.StatusOK {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			got := make([]string, len(x.events))
			for i, e := range x.events {
				got[i] = e.String()
			}
			if diff := cmp.Diff(want[d.provider], strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// failing is a body that must not be read.
type failing struct{ t *testing.T }

func (f failing) Read([]byte) (int, error) {
	f.t.Error("the body was read although the headers do not verify the sender")
	return 0, io.EOF
}

func TestADeliveryWithoutProofIsRefusedBeforeItsBodyIsRead(t *testing.T) {
	t.Parallel()
	configured := map[string]func() webhook.Secrets{
		"a secret is configured":  secrets,
		"no secret is configured": func() webhook.Secrets { return webhook.Secrets{} },
	}
	for name, s := range configured {
		for _, d := range deliveries() {
			t.Run(string(d.provider)+", "+name, func(t *testing.T) {
				t.Parallel()
				x := &exchange{config: webhook.Config{Secrets: s}}
				h := http.Header{}
				h.Set(d.header, d.value)
				if d.provider == webhook.Harbor {
					h.Set(d.header, "wrong")
				}
				if w := x.send(http.MethodPost, h, failing{t}); w.Code != http.StatusUnauthorized {
					t.Errorf("status %d: %s", w.Code, w.Body)
				}
			})
		}
	}
}

func TestASignatureOfAnotherBodyOrSecretIsRefused(t *testing.T) {
	t.Parallel()
	for _, d := range deliveries() {
		signed := http.Header{}
		d.authenticate(signed)
		for key := range signed {
			for name, value := range map[string]string{
				"another secret": "sha256=" + sign("other", d.body),
				"no hexadecimal": "sha256=zz",
				"empty sum":      "sha256=",
				"a wrong token":  "lab-secreT",
			} {
				t.Run(fmt.Sprint(d.provider, " ", name), func(t *testing.T) {
					t.Parallel()
					x := &exchange{config: webhook.Config{Secrets: secrets, AllowUnsigned: true}}
					h := http.Header{}
					h.Set(d.header, d.value)
					h.Set(key, value)
					if w := x.send(http.MethodPost, h, strings.NewReader(d.body)); w.Code != http.StatusUnauthorized {
						t.Errorf("status %d: %s", w.Code, w.Body)
					}
					if len(x.events) != 0 {
						t.Errorf("events: %v", x.events)
					}
					if log := x.log.String(); strings.Contains(log, "-secret") || strings.Contains(log, value) {
						t.Errorf("the log tells a secret: %s", log)
					}
				})
			}
		}
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("settings", "secrets", secrets())
	for _, text := range []string{log.String(), fmt.Sprintf("%v %+v %s %#v", secrets(), secrets(), secrets(), secrets())} {
		if strings.Contains(text, "secret\"") || strings.Contains(text, "hub-secret") {
			t.Error(text)
		}
	}
}

func TestSecretsComeFromTheKeysOfArgoCD(t *testing.T) {
	t.Parallel()
	got := webhook.SecretsFrom(map[string][]byte{
		"webhook.github.secret": []byte("hub-secret\n"), "webhook.gitlab.secret": []byte("lab-secret"),
		"webhook.gogs.secret": []byte("gogs-secret"), "webhook.bitbucket.uuid": []byte("uuid"),
		"webhook.bitbucket.secret": []byte("cloud-secret"), "webhook.bitbucketserver.secret": []byte("server-secret"),
		"webhook.azuredevops.username": []byte("azure"), "webhook.azuredevops.password": []byte("azure-secret"),
		"webhook.harbor.secret": []byte("harbor-secret"),
	})
	if got != secrets() {
		t.Error("a secret was not read")
	}
}

func TestACrashIsAnsweredAndLogged(t *testing.T) {
	t.Parallel()
	x := &exchange{config: webhook.Config{AllowUnsigned: true, Notify: func(webhook.Event) { panic("boom") }}}
	h := http.Header{}
	h.Set("X-GitHub-Event", "push")
	if w := x.send(http.MethodPost, h, strings.NewReader(hubBody)); w.Code != http.StatusInternalServerError {
		t.Errorf("status %d", w.Code)
	}
	if !strings.Contains(x.log.String(), "boom") {
		t.Errorf("log: %s", x.log.String())
	}
}

func TestAListOfFilesThatMayBeCutTouchesEverything(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, header, value, body string
		touches                   bool
	}{
		{"all commits are listed", "X-GitHub-Event", "push", hubBody, false},
		{"a forced push", "X-GitHub-Event", "push", `{"forced":true,` + hubBody[1:], true},
		{"Gitea lists fewer commits than it counts", "X-Gitea-Event", "push", `{"total_commits":9,` + hubBody[1:], true},
		{
			"GitLab lists fewer commits than it counts", "X-Gitlab-Event", "Push Hook",
			strings.Replace(gitlabBody, `_count":1`, `_count":30`, 1), true,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			h.Set(c.header, c.value)
			p, err := webhook.Identify(h)
			if err != nil {
				t.Fatal(err)
			}
			events, err := webhook.Decode(p, h, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if len(events[0].ChangedFiles) == 0 {
				t.Error("the files that are listed were dropped")
			}
			if got := events[0].Touches([]string{"elsewhere"}); got != c.touches {
				t.Errorf("a folder that no listed file is in is touched: %v", got)
			}
		})
	}
}

func TestSameRepositoryKnowsTheHabitsOfForges(t *testing.T) {
	t.Parallel()
	cases := []struct {
		a, b string
		want bool
	}{
		{"https://dev.azure.com/o/p/_git/r", "git@ssh.dev.azure.com:v3/o/p/r", true},
		{"https://o@dev.azure.com/o/p/_git/r", "https://dev.azure.com/o/p/_git/r", true},
		{"https://git.example:8443/o/r", "https://git.example/o/r.git", true},
		{"https://git.example/o/r", "git.example:o/r.git/", true},
		{"https://git.example/o/.*", "https://git.example/o/r", false},
		{"https://evil.example/git.example/o/r", "https://git.example/o/r", false},
		{"https://git.example@evil.example/o/r", "https://git.example/o/r", false},
		{"https://git.example", "https://git.example", false},
		{"file:///o/r", "file:///o/r", false},
		{"-oProxyCommand=x@git.example:o/r", "https://git.example/o/r", false},
	}
	for _, c := range cases {
		if got := webhook.SameRepository(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestSameRemoteIsStrictAboutWhereCredentialsGo(t *testing.T) {
	t.Parallel()
	cases := []struct {
		a, b string
		want bool
	}{
		{"https://git.example/o/r", " https://GIT.example:443/o/r.git/", true},
		{"https://user@git.example/o/r", "https://git.example/o/r", true},
		{"git@git.example:o/r", "ssh://git@git.example:22/o/r.git", true},
		{"git@git.example:2222:o/r", "ssh://git@git.example:2222/o/r", true},
		{"https://git.example/o/r", "http://git.example/o/r", false},
		{"https://git.example/o/r", "https://git.example:8443/o/r", false},
		{"https://git.example/o/r", "git@git.example:o/r", false},
		{"git@git.example:o/r", "root@git.example:o/r", false},
		{"https://git.example/o/r", "https://ssh.git.example/o/r", false},
		{"https://git.example@evil.example/o/r", "https://git.example/o/r", false},
		{"https://git.example/o/r", "https://git.example/o/r?x", false},
		{"https://charts.example", "https://Charts.example:443/", true}, // no repository of Git, but of charts
		{"https://charts.example", "http://charts.example", false},
		{"https://charts.example", "https://charts.example/o", false},
		{"https://charts.example", "https://charts.example.evil", false},
		{"ssh://git.example", "ssh://git.example", false},
		{"", "", false},
	}
	for _, c := range cases {
		if got := webhook.SameRemote(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestConcernsFindsCommitsAndRanges(t *testing.T) {
	t.Parallel()
	e := webhook.Event{Kind: webhook.Push, Revision: "v1.4.0", After: "0123456789abcdef0123456789abcdef01234567"}
	for target, want := range map[string]bool{
		"0123456789abcdef0123456789abcdef01234567": true, "0123456": true, "012345": false, "abcdef0": false,
		"~1.4": true, ">=2": false, ">=1.0 <2.0": true, "HEAD": false, strings.Repeat("1.*||", 200) + "1.*": false,
	} {
		if got := e.Concerns(target, ""); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}

func TestATagPrefixIsCutOffBeforeVersionsAreCompared(t *testing.T) {
	t.Parallel()
	e := webhook.Event{Kind: webhook.Push, Revision: "web-1.4.0"}
	for prefix, want := range map[string]bool{"web-": true, "api-": false, "": false} {
		if got := e.Concerns("1.*", prefix); got != want {
			t.Errorf("prefix %q: %v", prefix, got)
		}
	}
}

func TestTouchesLooksAtFilesFoldersAndPatterns(t *testing.T) {
	t.Parallel()
	cases := []struct {
		annotation, file string
		want             bool
	}{
		{"", "other/x", true},
		{".", "apps/web/x", true},
		{".", "apps/webs/x", false},
		{"../lib", "apps/lib/x", true},
		{"/lib", "lib/x/y", true},
		{"/lib", "library/x", false},
		{"/shared/*.yaml", "shared/a.yaml", true},
		{"/shared/*.yaml", "shared/a/b.yaml", false},
		{"/a;/b", "b", true},
		{"/[", "x", false},
		{"../../../..", "x", true},
	}
	for _, c := range cases {
		paths := webhook.Source{Path: "apps/web"}.Paths(c.annotation)
		if got := (webhook.Event{ChangedFiles: []string{c.file}}).Touches(paths); got != c.want {
			t.Errorf("%q (%q) and %s: %v", c.annotation, paths, c.file, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, d := range deliveries() {
		f.Add(d.header, d.value, []byte(d.body))
	}
	f.Add("X-Gogs-Event", "push", []byte(`{"ref":"x","repository":null,"commits":[null]}`))
	f.Add("X-Event-Key", "repo:refs_changed", []byte(`{"changes":[null],"repository":{"links":{"clone":[null]}}}`))
	f.Add("X-Hook-UUID", "x", []byte(`{"push":{"changes":[null,{}]}}`))
	f.Add("X-Hook-UUID", "x", []byte(strings.Replace(cloudBody, `"name":"main"`, `"name":""`, 1)))
	f.Fuzz(func(t *testing.T, header, value string, body []byte) {
		h := http.Header{}
		h.Set(header, value)
		p, err := webhook.Identify(h)
		if err != nil {
			return
		}
		events, err := webhook.Decode(p, h, body)
		if err == nil && len(events) == 0 {
			t.Error("no error and no event")
		}
		for _, e := range events {
			if e.Kind == webhook.Push && (e.Revision == "" || len(e.RepoURLs) == 0) {
				t.Errorf("a push without revision or repository: %v", e)
			}
			e.Concerns(e.Revision, e.Ref)
			e.Touches(webhook.Source{Path: e.Ref}.Paths(e.After))
		}
	})
}

func FuzzSameRepository(f *testing.F) {
	f.Add("https://git.example/o/r", "git@git.example:o/r.git")
	f.Add("%%", "ssh://-x@h:22/[")
	f.Fuzz(func(t *testing.T, a, b string) {
		if webhook.SameRepository(a, b) != webhook.SameRepository(b, a) {
			t.Errorf("%q and %q: the answer depends on the order", a, b)
		}
		u, err := url.Parse(strings.TrimSpace(a))
		root := err == nil && strings.Trim(u.Path, "/") == "" // of a web server, where charts may be
		if webhook.SameRemote(a, b) && !webhook.SameRepository(a, b) && !root {
			t.Errorf("%q and %q: one place, but not one repository", a, b)
		}
	})
}
