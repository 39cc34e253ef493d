package security

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	largeObjects = 110
	largeObject  = 100 << 10 // bytes of each
)

// An application of more than 10 MB is more than a message of the link, and more than one answer.
func TestEverythingAboutALargeApplicationIsAnswered(t *testing.T) {
	t.Parallel()
	config := testenv.Cluster(t)
	c := &cluster{t: t, w: newWorld(t), ns: testenv.Namespace(t), p: plants{}, core: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config)}
	c.repo = testenv.Git(t).NewRepo("large")
	files := map[string]string{}
	for i := range largeObjects {
		line := fmt.Sprintf("    a line of object %d that nobody needs, with <signs> & \"others\" that JSON may write longer\n", i)
		files[fmt.Sprintf("all/large-%03d.yaml", i)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large-%03d}\ndata:\n  text: |\n%s", i, strings.Repeat(line, largeObject/len(line)))
	}
	c.repo.Commit(files, "begin")
	made := into[api.AgentRegistration](t, c.w.must(c.w.admin, "POST", "/agents", `{"name":"prod"}`))
	c.startAgent(newTap(t, strings.TrimPrefix(c.w.url, "http://")), made.Token)
	c.application("large", "all", nil)
	app := "/agents/account.prod/applications/" + c.ns + "/large"
	c.settled(app, `"OutOfSync"`)

	all(t, c.w, app+"/manifests?", largeObjects)
	all(t, c.w, app+"/diff?", largeObjects)
	for _, body := range []string{`{}`, `{"dryRun":true}`} {
		if out := c.w.do(c.w.admin, "POST", app+"/plan", body); out.StatusCode != http.StatusOK {
			t.Errorf("plan %s: %.300s", body, out)
		}
	}
	detail := into[api.ApplicationDetail](t, c.w.must(c.w.admin, "GET", app, ""))
	request, err := json.Marshal(api.PreviewRequest{Resource: detail.Resource})
	if err != nil {
		t.Fatal(err)
	}
	if out := c.w.do(c.w.admin, "POST", "/agents/account.prod/applications/preview?manifests=true", string(request)); out.StatusCode != http.StatusOK || !strings.Contains(out.text, "only a part") {
		t.Errorf("preview: %.300s", out)
	}

	c.w.must(c.w.admin, "POST", app+"/sync", `{}`)
	c.settled(app, `"Synced"`)
	all(t, c.w, app+"/manifests?live=true&", largeObjects)
	all(t, c.w, app+"/diff?ignored=true&", 0)
	c.w.must(c.w.admin, "PUT", "/settings", `{"auditRetentionDays":365,"commandRetentionDays":30,"badges":true}`)
	everyRead(t, c.w, app)
	if out := c.w.do(c.w.admin, "GET", app+"/manifests?cursor=%2FConfigMap%2F"+c.ns+"%2Fgone", ""); out.StatusCode != http.StatusConflict || !strings.Contains(out.text, "without cursor") {
		t.Errorf("a cursor that leads nowhere: %.300s", out)
	}
}

// all reads an answer to its end, and counts what is in it.
func all(t *testing.T, w *world, path string, want int) {
	t.Helper()
	seen, cursor, pages := map[string]bool{}, "", 0
	for {
		began := time.Now()
		out := w.do(w.admin, "GET", path+"cursor="+url.QueryEscape(cursor), "")
		if out.StatusCode != http.StatusOK {
			t.Errorf("GET %s after %q, %s: %d %.300s", path, cursor, time.Since(began), out.StatusCode, out.text)
			return
		}
		part := into[struct {
			Items      []json.RawMessage `json:"items"`
			NextCursor string            `json:"nextCursor"`
		}](t, out.text)
		for _, item := range part.Items {
			seen[string(item)] = true
		}
		if len(out.text) > 10<<20 {
			t.Errorf("one answer has %d bytes", len(out.text))
		}
		if pages++; part.NextCursor == "" || pages > 100 {
			break
		}
		cursor = part.NextCursor
	}
	if len(seen) != want {
		t.Errorf("%s: %d objects on %d pages, want %d", path, len(seen), pages, want)
	}
	if want > 0 && pages < 2 {
		t.Errorf("%s: all is on one page: the test does not test what it should", path)
	}
}

// everyRead asks for everything that is read of an application, one of its objects included.
func everyRead(t *testing.T, w *world, app string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "api", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for path, methods := range doc.Paths {
		rest, ok := strings.CutPrefix(path, "/api/v1/agents/{agent}/applications/{namespace}/{name}")
		if _, get := methods["get"]; !ok || !get || strings.Contains(rest, "{") || strings.HasSuffix(rest, "/events") && !strings.Contains(rest, "resource") || rest == "/terminal" || rest == "/logs" {
			continue // streams have no end, and pods no logs
		}
		query := ""
		if strings.HasPrefix(rest, "/resource") {
			query = "?version=v1&kind=ConfigMap&resourceName=large-007"
		}
		if rest == "/revisions" {
			query = "?revision=main"
		}
		asked++
		if out := w.do(w.admin, "GET", app+rest+query, ""); out.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %d %.300s", rest, out.StatusCode, out.text)
		}
	}
	if asked < 8 {
		t.Errorf("only %d reads were found", asked)
	}
}
