package httpapi_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// shown is what an agent sends that shows a tree.
func shown(t *testing.T, events ...string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := agentapi.NewTreeWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(events); i += 2 {
		if err := w.Write(events[i], []byte(events[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestALiveTreeComesAsEventsAndSaysWhyItEnds(t *testing.T) {
	t.Parallel()
	const (
		tree  = `{"nodes":[{"id":"/Pod/web/a","kind":"Pod","name":"a"}]}`
		patch = `{"remove":["/Pod/web/a"]}`
		first = ": welcome\n\n" + "event: tree\ndata: " + tree + "\n\n"
	)
	whole := shown(t, "tree", tree, "later", `{}`, "patch", patch)
	for _, c := range []struct {
		name  string
		says  []string
		fails error
		want  string
	}{
		{
			"in pieces",
			[]string{whole[:20], whole[20:21], whole[21:]},
			nil,
			first + "event: patch\ndata: " + patch + "\n\nevent: error\ndata: the agent does not show this tree any more: ask again\n\n",
		},
		{
			"the agent goes away",
			[]string{shown(t, "tree", tree)},
			api.Errorf(api.CodeUnavailable, "agent account.prod is not connected\nany more"),
			first + "event: error\ndata: agent account.prod is not connected any more\n\n",
		},
		{
			"lines within JSON are no lines of events",
			[]string{shown(t, "tree", "{\r\"nodes\":[]}")},
			api.Errorf(api.CodeUnavailable, "over"),
			": welcome\n\nevent: tree\ndata: { \"nodes\":[]}\n\nevent: error\ndata: over\n\n",
		},
		{
			"no JSON",
			[]string{shown(t, "tree", "{")},
			nil,
			": welcome\n\nevent: error\ndata: the agent sends something that is no tree: see its version, and ask again\n\n",
		},
		{
			"no tree at all",
			[]string{strings.Repeat("\xff", 100)},
			nil,
			": welcome\n\nevent: error\ndata: the agent sends something that is no tree: see its version, and ask again\n\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			end := newFar(c.says...)
			end.fail = c.fails
			close(end.say)
			d, server := serve(t, end)
			code, text, header := get(t, server, "bob", app+"/tree/events", "text/event-stream")
			if code != http.StatusOK || text != c.want || header.Get("Content-Type") != "text/event-stream" {
				t.Errorf("%d %s\n%s\nis not\n%s", code, header.Get("Content-Type"), text, c.want)
			}
			<-end.closed
			if len(d.opened) != 1 || d.opened[0].Kind != string(agentapi.KindTreeWatch) || d.opened[0].By.ID != "bob" || d.opened[0].Name != "web" {
				t.Errorf("asked for %+v", d.opened)
			}
		})
	}
}

// An agent that sends a few bytes must not make the server keep very many.
func TestAnEventThatIsTooLargeEndsALiveTree(t *testing.T) {
	t.Parallel()
	most := `{"nodes":["` + strings.Repeat("x", agentapi.MaxTreeEvent-64) + `"]`
	end := newFar(shown(t, "tree", most+"}"))
	close(end.say)
	_, server := serve(t, end)
	if _, text, _ := get(t, server, "bob", app+"/tree/events", ""); !strings.Contains(text, "event: tree\n") {
		t.Errorf("the largest event is not sent: %.200s", text)
	}
	bomb := newFar(shown(t, strings.Repeat("x", 2*agentapi.MaxTreeEvent), `{}`))
	close(bomb.say)
	_, server = serve(t, bomb)
	if _, text, _ := get(t, server, "bob", app+"/tree/events", ""); !strings.Contains(text, "no tree: see its version") {
		t.Errorf("an event that is too large: %.200s", text[max(0, len(text)-200):])
	}
}

func TestALiveTreeIsForWhoMaySeeTheApplication(t *testing.T) {
	t.Parallel()
	d, server := serve(t, newFar())
	code, text, _ := get(t, server, "eve", app+"/tree/events", "")
	if code != http.StatusNotFound && code != http.StatusForbidden || len(d.opened) != 0 {
		t.Errorf("%d %s, %d streams", code, text, len(d.opened))
	}
}
