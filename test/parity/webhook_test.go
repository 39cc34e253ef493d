package parity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-gitops/slipway/internal/webhook"
)

type delivery struct {
	ID      string
	Method  string
	Headers map[string]string
	Payload string // file
	Body    string // of the request, or in httpErrors of the answer
	Request string `json:"requestBody"`
	Status  int
	Max     int64 `json:"maxPayloadBytes"`
	Event   hookEvent
}

type hookEvent struct {
	Kind         string
	Repositories []string
	Ref          string
	Revision     string
	TouchedHead  bool
	Before       string
	After        string
	ChangedFiles *[]string
	Registry     string
	Repository   string
	Tag          string
}

func (e hookEvent) artifact() webhook.Artifact {
	if host, path, ok := strings.Cut(e.Repository, "/"); ok && e.Registry == "" {
		return webhook.Artifact{Registry: host, Repository: path, Tag: e.Tag} // one event spells both in one
	}
	return webhook.Artifact{Registry: e.Registry, Repository: e.Repository, Tag: e.Tag}
}

type hookSource struct {
	RepoURL, Chart, TargetRevision string
}

type hydrator struct {
	Dry, Sync, SyncBranch string
}

type webhookSet struct {
	ApplicationEvents, HTTPErrors, Malformed []delivery
	Revisions                                []struct {
		TargetRevision, Revision string
		TouchedHead, Concerns    bool
	}
	ProviderRefs []struct {
		TargetRevision, Ref, Kind string
		Concerns                  bool
	}
	RepositoryURLs []struct {
		Web, Repo   string
		Same, Error bool
	}
	ChangedFiles []struct {
		ID, Paths, Changed string
		Sources            []string
		Hydrator           *hydrator
		Refresh, Hydrate   bool
	}
	RefreshPaths []struct {
		Source, Paths string
		Hydrator      *hydrator
		Result        []string
	}
	BitbucketCloud struct {
		BodyTemplate string
		Cases        []struct{ Branch, Name, Revision, Before, After string }
		Stored       []string
		Lookups      struct{ Found, NotFound []string }
	}
	Registries struct {
		GHCR struct {
			Handles    map[string]bool
			Signatures []struct {
				Secret, Body, Signature string
				OK                      bool
			}
			Bodies []registryBody
		}
		Harbor struct {
			Authentication struct {
				Cases []struct {
					Secret, Header string
					Handled        bool
				}
			}
			Bodies                []registryBody
			RegistryOfResourceURL []struct {
				URL, Registry string
				Error         bool
			}
		}
		NormalizedURLs []struct{ URL, Result string }
		Refresh        []struct {
			Event             hookEvent
			Source            hookSource
			AllowedNamespaces []string
			Namespace         string
			Refreshed         bool
		}
	}
}

type registryBody struct {
	Body           string
	Event          hookEvent
	Skipped, Error bool
}

func webhooks(t *testing.T) (webhookSet, string) {
	t.Helper()
	root := dir(t, "webhooks")
	var set webhookSet
	loadYAML(t, &set, root, "index.yaml")
	return set, root
}

// deliver sends d to a receiver and returns the answer and the events that came of it.
func deliver(t *testing.T, root string, d delivery, secrets webhook.Secrets) (*httptest.ResponseRecorder, []webhook.Event) {
	t.Helper()
	body := d.Body
	if d.Payload != "" {
		body = string(read(t, filepath.Join(root, d.Payload)))
	}
	if d.Max == 0 {
		d.Max = 50 << 20
	}
	method := d.Method
	if method == "" {
		method = http.MethodPost
	}
	req := httptest.NewRequest(method, "/api/webhook", strings.NewReader(body))
	for k, v := range d.Headers {
		req.Header.Set(k, v)
	}
	var events []webhook.Event
	w := httptest.NewRecorder()
	webhook.NewReceiver(webhook.Config{
		Secrets: func() webhook.Secrets { return secrets }, AllowUnsigned: true, MaxBytes: d.Max,
		Notify: func(e webhook.Event) { events = append(events, e) },
	}).ServeHTTP(w, req)
	return w, events
}

func TestWebhookEventsAgree(t *testing.T) {
	t.Parallel()
	set, root := webhooks(t)
	for _, d := range set.ApplicationEvents {
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			w, events := deliver(t, root, d, webhook.Secrets{})
			if w.Code != d.Status {
				t.Fatalf("status %d, want %d: %s", w.Code, d.Status, w.Body)
			}
			if d.Event.Kind == "ignored" {
				if len(events) != 0 {
					t.Errorf("not ignored: %v", events)
				}
				return
			}
			if len(events) != 1 {
				t.Fatalf("events %v, want one", events)
			}
			got := events[0]
			want := webhook.Event{
				Provider: got.Provider, Kind: webhook.Kind(d.Event.Kind), RepoURLs: d.Event.Repositories, Ref: d.Event.Ref,
				Revision: d.Event.Revision, TouchedHead: d.Event.TouchedHead, Before: got.Before, After: got.After,
				ChangedFiles: got.ChangedFiles, Partial: got.Partial, Artifact: d.Event.artifact(),
			}
			if d.Event.Before != "" {
				want.Before, want.After = d.Event.Before, d.Event.After
			}
			if d.Event.ChangedFiles != nil || got.Kind == webhook.Push {
				want.ChangedFiles = nil
				if d.Event.ChangedFiles != nil {
					want.ChangedFiles = *d.Event.ChangedFiles
				}
			}
			sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
			if diff := cmp.Diff(want, got, sorted); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWebhookErrorsAgree(t *testing.T) {
	t.Parallel()
	set, root := webhooks(t)
	for _, d := range set.HTTPErrors {
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			want := d.Body
			d.Body = d.Request
			w, _ := deliver(t, root, d, webhook.Secrets{})
			if got := strings.TrimSpace(w.Body.String()); w.Code != d.Status || want != "" && got != want {
				t.Errorf("status %d %q, want %d %q", w.Code, got, d.Status, want)
			}
		})
	}
	for _, d := range set.Malformed {
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			if w, _ := deliver(t, root, d, webhook.Secrets{}); w.Code >= 500 {
				t.Errorf("status %d", w.Code)
			}
		})
	}
}

func TestWebhookRevisionsAgree(t *testing.T) {
	t.Parallel()
	set, root := webhooks(t)
	for _, c := range set.Revisions {
		e := webhook.Event{Kind: webhook.Push, Revision: c.Revision, TouchedHead: c.TouchedHead}
		if got := e.Concerns(c.TargetRevision, ""); got != c.Concerns {
			t.Errorf("push of %s, source at %q: %v", c.Revision, c.TargetRevision, got)
		}
	}
	for _, c := range set.ProviderRefs {
		d := delivery{
			Headers: map[string]string{"X-GitHub-Event": "push"},
			Body:    fmt.Sprintf(`{"ref":%q,"repository":{"html_url":"https://git.example/o/r","default_branch":"other"}}`, c.Ref),
		}
		switch c.Kind {
		case "tag":
			d = delivery{
				Headers: map[string]string{"X-Gitlab-Event": "Tag Push Hook"},
				Body:    fmt.Sprintf(`{"object_kind":"tag_push","ref":%q,"project":{"web_url":"https://git.example/o/r"}}`, c.Ref),
			}
		case "short":
			d = delivery{
				Headers: map[string]string{"X-Hook-UUID": "x"},
				Body:    fmt.Sprintf(`{"push":{"changes":[{"new":{"name":%q}}]},"repository":{"links":{"html":{"href":"https://git.example/o/r"}}}}`, c.Ref),
			}
		}
		_, events := deliver(t, root, d, webhook.Secrets{})
		if len(events) != 1 || events[0].Concerns(c.TargetRevision, "") != c.Concerns {
			t.Errorf("%s ref %s, source at %q: want %v, got %v", c.Kind, c.Ref, c.TargetRevision, c.Concerns, events)
		}
	}
}

func TestWebhookRepositoriesAgree(t *testing.T) {
	t.Parallel()
	set, root := webhooks(t)
	for _, c := range set.RepositoryURLs {
		if _, err := webhook.ParseRepository(c.Web); c.Error && err == nil {
			t.Errorf("%s: no error", c.Web)
		}
		if got := webhook.SameRepository(c.Web, c.Repo); got != c.Same {
			t.Errorf("%s and %s: %v", c.Web, c.Repo, got)
		}
	}
	cloud := set.BitbucketCloud
	stored := func(url string) bool {
		for _, s := range cloud.Stored {
			if webhook.SameRemote(s, url) {
				return true
			}
		}
		return false
	}
	for _, url := range cloud.Lookups.Found {
		if !stored(url) {
			t.Errorf("%q is not found", url)
		}
	}
	for _, url := range cloud.Lookups.NotFound {
		if stored(url) {
			t.Errorf("%q is found", url)
		}
	}
	// The changed files and the main branch are asked from Bitbucket's API upstream. This engine makes no request because
	// of a payload: it compares the trees itself, so it is only told that the files are unknown.
	for _, c := range cloud.Cases {
		body := strings.NewReplacer("BRANCH", c.Branch, "NAME", c.Name).Replace(cloud.BodyTemplate)
		_, events := deliver(t, root, delivery{Headers: map[string]string{"X-Hook-UUID": "x"}, Body: body}, webhook.Secrets{})
		if len(events) != 1 || events[0].Revision != c.Revision || events[0].ChangedFiles != nil || !events[0].TouchedHead ||
			c.After != "" && (events[0].Before != c.Before || events[0].After != c.After) {
			t.Errorf("%s of %s: %+v", c.Branch, c.Name, events)
		}
	}
}

func TestWebhookChangedFilesAgree(t *testing.T) {
	t.Parallel()
	set, _ := webhooks(t)
	for _, c := range set.RefreshPaths {
		source := webhook.Source{Path: c.Source, Hydrated: c.Hydrator != nil && c.Source == c.Hydrator.Sync}
		if diff := cmp.Diff(c.Result, source.Paths(c.Paths), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s %q: %s", c.Source, c.Paths, diff)
		}
	}
	for _, c := range set.ChangedFiles {
		e := webhook.Event{Kind: webhook.Push, Revision: "master", TouchedHead: true, ChangedFiles: []string{c.Changed}}
		var refresh, hydrate bool
		if h := c.Hydrator; h != nil {
			sync := webhook.Source{Path: h.Sync, Hydrated: true}
			refresh = e.Concerns(h.SyncBranch, "") && e.Touches(sync.Paths(c.Paths))
			hydrate = !refresh && e.Touches(webhook.Source{Path: h.Dry}.Paths(c.Paths))
		}
		for _, s := range c.Sources {
			refresh = refresh || e.Concerns("HEAD", "") && e.Touches(webhook.Source{Path: s}.Paths(c.Paths))
		}
		if (refresh || hydrate) != c.Refresh || hydrate != c.Hydrate {
			t.Errorf("%s: refresh %v, hydrate %v", c.ID, refresh || hydrate, hydrate)
		}
	}
}

func TestWebhookRegistriesAgree(t *testing.T) {
	t.Parallel()
	set, root := webhooks(t)
	reg := set.Registries
	ghcr := map[string]string{"X-GitHub-Event": "package"}
	harbor := map[string]string{"Authorization": "s"}
	for event, handled := range reg.GHCR.Handles {
		h := http.Header{}
		h.Set("X-GitHub-Event", event)
		if p, _ := webhook.Identify(h); (p == webhook.GHCR) != handled {
			t.Errorf("event %q is for %q", event, p)
		}
	}
	for _, c := range reg.GHCR.Signatures {
		d := delivery{Headers: map[string]string{"X-GitHub-Event": "package"}, Body: c.Body}
		switch c.Signature {
		case "none":
		case "valid":
			mac := hmac.New(sha256.New, []byte(c.Secret))
			mac.Write([]byte(c.Body))
			d.Headers["X-Hub-Signature-256"] = "sha256=" + hex.EncodeToString(mac.Sum(nil))
		default:
			d.Headers["X-Hub-Signature-256"] = c.Signature
		}
		if w, _ := deliver(t, root, d, webhook.Secrets{GitHub: c.Secret}); (w.Code == http.StatusOK) != c.OK {
			t.Errorf("secret %q, signature %s: status %d", c.Secret, c.Signature, w.Code)
		}
	}
	for _, c := range reg.GHCR.Bodies {
		checkRegistryBody(t, root, ghcr, c)
	}
	for _, c := range reg.Harbor.Bodies {
		checkRegistryBody(t, root, harbor, c)
	}
	for _, c := range reg.Harbor.Authentication.Cases {
		d := delivery{Headers: map[string]string{"Authorization": c.Header}, Body: reg.Harbor.Bodies[0].Body}
		if _, events := deliver(t, root, d, webhook.Secrets{Harbor: c.Secret}); (len(events) == 1) != c.Handled {
			t.Errorf("secret %q, header %q: %v", c.Secret, c.Header, events)
		}
	}
	for _, c := range reg.Harbor.RegistryOfResourceURL {
		body := fmt.Sprintf(`{"type":"PUSH_ARTIFACT","event_data":{"resources":[{"tag":"x","resource_url":%q}],"repository":{"repo_full_name":"p/r"}}}`, c.URL)
		want := registryBody{Body: body, Error: c.Error, Event: hookEvent{Registry: c.Registry, Repository: "p/r", Tag: "x"}}
		checkRegistryBody(t, root, harbor, want)
	}
	for _, c := range reg.NormalizedURLs {
		e := webhook.Event{Kind: webhook.Registry, Artifact: webhook.Artifact{Registry: "ghcr.io", Repository: "user/repo", Tag: "1"}}
		if got := e.ConcernsArtifact(c.URL, "", "1"); got != (c.Result == "ghcr.io/user/repo") {
			t.Errorf("%q is the same artifact: %v", c.URL, got)
		}
	}
	for _, c := range reg.Refresh {
		if len(c.AllowedNamespaces) > 0 && !c.Refreshed {
			continue // which namespaces are followed is decided before sources are looked at
		}
		e := webhook.Event{Kind: webhook.Registry, Artifact: c.Event.artifact()}
		if got := e.ConcernsArtifact(c.Source.RepoURL, c.Source.Chart, c.Source.TargetRevision); got != c.Refreshed {
			t.Errorf("%+v and %+v: %v", c.Event, c.Source, got)
		}
	}
}

func checkRegistryBody(t *testing.T, root string, headers map[string]string, c registryBody) {
	t.Helper()
	w, events := deliver(t, root, delivery{Headers: headers, Body: c.Body}, webhook.Secrets{Harbor: "s"})
	switch {
	case c.Error:
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d, want an error", c.Body, w.Code)
		}
	case c.Skipped:
		if w.Code != http.StatusOK || len(events) != 0 {
			t.Errorf("%s: status %d, events %v, want none", c.Body, w.Code, events)
		}
	default:
		if len(events) != 1 || events[0].Artifact != c.Event.artifact() {
			t.Errorf("%s: status %d, events %v", c.Body, w.Code, events)
		}
	}
}
