package security

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

func (k *walk) judge(q *request, out *httptest.ResponseRecorder) {
	k.t.Helper()
	fail := func(format string, args ...any) {
		k.t.Helper()
		k.t.Errorf("%s\n  of %s: %d %.700s\n  %s", fmt.Sprintf(format, args...), q.route, out.Code, out.Body, q.curl())
	}
	if !q.actor.everywhere() || q.refused {
		k.since = append(k.since, fmt.Sprintf("%d %.300s", out.Code, q.curl()))
	}
	unread := q.wire != nil && unread(out)
	refused := out.Code >= 400 && out.Code < 500 || unread
	switch {
	case !unread && out.Code >= 500 && out.Code != http.StatusServiceUnavailable:
		fail("the server broke down")
	case q.actor.code != 0 && q.route.access != "public" && out.Code != q.actor.code && !refused && !redirected(out):
		fail("whoever proves nothing is answered %d", q.actor.code)
	case q.refused && !refused && !redirected(out):
		fail("this has to be refused")
	}
	if !unread {
		judgeForm(out, fail)
	}
	k.judgeText(q, out, fail)
	if q.route.id == "create-job" && out.Code < 300 {
		k.jobs = true
		k.settle()
	}
	for _, c := range k.arrived() {
		k.ordered = append(k.ordered, c.Origin)
		if said := k.judgeCommand(q, c); said != "" {
			fail("%s: the agent got %s of %v: %s", said, c.Kind, c.Target, c.Body)
		}
	}
	k.ordered = k.ordered[max(0, len(k.ordered)-200):]
	k.judgeAudit(q, out, fail)
}

// settle waits until no job runs: what one does belongs to the request that began it.
func (k *walk) settle() {
	k.t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	late := time.After(limit)
	for len(k.rows("", "SELECT id FROM bulk_job WHERE finished_at = 0")) > 0 {
		select {
		case <-ticker.C:
		case <-late:
			k.t.Fatal("a job does not end")
		}
	}
}

// judgeForm looks at what every answer has to have.
func judgeForm(out *httptest.ResponseRecorder, fail func(string, ...any)) {
	if out.Code >= 400 {
		media, _, _ := mime.ParseMediaType(out.Header().Get("Content-Type"))
		var p api.Problem
		if media != "application/problem+json" || json.Unmarshal(out.Body.Bytes(), &p) != nil || p.Detail == "" || p.Code == "" && out.Code != http.StatusMethodNotAllowed {
			fail("the answer is no problem: %s", media)
		}
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
		if out.Header().Get(name) != want {
			fail("the answer has no %s: %s", name, want)
		}
	}
	if out.Header().Get("X-Request-Id") == "" {
		fail("the answer has no X-Request-Id")
	}
}

// redirected is true for an answer that says where the same is, in one spelling: what is asked there is judged there.
func redirected(out *httptest.ResponseRecorder) bool { return out.Code >= 300 && out.Code < 400 }

// judgeText looks for what the other tenant has.
func (k *walk) judgeText(q *request, out *httptest.ResponseRecorder, fail func(string, ...any)) {
	k.t.Helper()
	if q.actor.everywhere() {
		return
	}
	text := out.Body.String() + fmt.Sprint(out.Header())
	if strings.Contains(text, planted) {
		fail("the answer holds what only the other tenant may read")
	}
	// What was sent may come back where it was kept: once it was sent, it is no sign.
	if !k.named && !q.mentions() && (strings.Contains(text, theirOrg) || strings.Contains(text, theirProject)) {
		fail("the answer names the other tenant")
	}
}

// judgeCommand says what is wrong with a command that came to the agent, as the agent reads it; "" where nothing is.
func (k *walk) judgeCommand(q *request, c agentapi.Command) string {
	if q.actor.everywhere() {
		return ""
	}
	if q.refused || !slices.ContainsFunc(q.actor.grants, func(api.Permission) bool { return true }) {
		return "this may not be asked of an agent"
	}
	var body any
	if len(c.Body) > 0 && json.Unmarshal(c.Body, &body) != nil {
		return "the body cannot be read"
	}
	if name := nameIn(body); name != "" && name != c.Target.Name {
		return fmt.Sprintf("it is about %q, and the object is %q", c.Target.Name, name)
	}
	projects := projectsIn(body)
	for _, p := range projects {
		if p != ourProject {
			return fmt.Sprintf("it says project %q", p)
		}
	}
	switch {
	case strings.HasPrefix(c.Target.Name, theirProject) && !fresh(c.Kind, body):
		return "it is about what the other tenant has"
	case c.Target.Name != ourProject && c.Target.Name != ourProject+"s" && len(projects) == 0:
		return "it is about nothing of ours, and says no project"
	}
	return ""
}

// fresh is true for what the agent refuses where something of this name is there already.
func fresh(kind agentapi.Kind, body any) bool {
	says, _ := body.(map[string]any)
	create, _ := says["create"].(bool)
	update, _ := says["update"].(bool)
	return create || kind == agentapi.KindPreview && !update
}

// nameIn is the name of the object in the body of a command; "" where there is none.
func nameIn(body any) string { return textAt(body, "object", "metadata", "name") }

func kindIn(body any) string { return textAt(body, "object", "kind") }

// textAt is the text at a path; "" where there is none.
func textAt(v any, path ...string) string {
	for _, name := range path {
		inside, _ := v.(map[string]any)
		v = inside[name]
	}
	text, _ := v.(string)
	return text
}

// projectsIn are the projects that an agent reads in the body of a command, by the exact names of the fields.
func projectsIn(body any) []string {
	var out []string
	if kindIn(body) == "AppProject" {
		return nil // it is one, by its name
	}
	for _, path := range [][]string{
		{"project"}, {"argoProject"}, {"fields", "project"}, {"object", "spec", "project"}, {"object", "spec", "template", "spec", "project"},
	} {
		if text := textAt(body, path...); text != "" {
			out = append(out, text)
		}
	}
	return out
}
