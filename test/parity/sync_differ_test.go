package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// difference is where we do something else on purpose: why, and what instead, in lines that how finds out.
type difference struct {
	why string
	how func(t *testing.T, s syncScenario) []string
	do  []string
}

func differences() map[string]difference {
	return map[string]difference{
		"managed-object-without-name-is-not-named": {
			why: "an object without a name is refused when it is rendered: nothing could be compared with it",
			how: readTargets, do: []string{"Pod has no metadata.name"},
		},
		"prune-propagation-default": {
			why: "kinds that own nothing are deleted in the background: in the foreground each would wait for the garbage collector",
			how: pruneTwoKinds, do: []string{"ConfigMap: delete Background", "Service: delete Foreground"},
		},
		"server-side-apply-option": {
			why: "we always apply server-side, and do so after a write of the whole object too, so that the API server tells what is ours",
			how: writeRows, do: []string{
				"apply: apply server-side", "apply: apply server-side", "apply: apply server-side",
				"replace: PUT, apply server-side", "update: PUT, apply server-side", "create: POST, apply server-side",
			},
		},
		"server-side-apply-and-dry-run": {
			why: "we always apply server-side, dry runs included",
			how: applyRows, do: []string{
				"apply server-side", "apply server-side (dry run)", "apply server-side (dry run)", "apply server-side (dry run)", "apply server-side",
			},
		},
		"client-side-apply-migration-needed": {
			why: "what Argo CD applied passes to us as well: we are not it",
			how: takeOverRows, do: []string{
				"nothing passes", "nothing passes", "kubectl-client-side-apply Update passes", "argocd-controller Apply passes",
				"kubectl-client-side-apply Update and argocd-controller Apply passes", "nothing passes",
			},
		},
		"namespace-created-before-the-rest": {
			why: "a namespace has no health: once it is there nothing waits for it",
			how: runSteps, do: []string{"Succeeded, 2 results: successfully synced (all tasks run)"},
		},
		"wave-callback-fails": {
			why: "nothing outside of the engine is called between waves; what hooks of others would do there, an agent does in hooks of its own",
			how: runSteps, do: []string{"Running, 2 results: waiting for completion of hook /Pod/sync-hook and 1 more resources"},
		},
	}
}

// doesInstead checks that we do what we say we do.
func (s syncScenario) doesInstead(t *testing.T, d difference) {
	t.Helper()
	if d.why == "" || len(d.do) == 0 {
		t.Fatal("no reason, or nothing that is done instead")
	}
	if diff := cmp.Diff(d.do, d.how(t, s)); diff != "" {
		t.Errorf("we differ since %s (-want +got):\n%s", d.why, diff)
	}
}

// runSteps says how each step ends.
func runSteps(t *testing.T, s syncScenario) []string {
	t.Helper()
	world := newSyncWorld(t, s.Given)
	var out []string
	for _, step := range s.Steps {
		world.step(step)
		out = append(out, fmt.Sprintf("%s, %d results: %s", world.phase, len(world.op.States()), world.message))
	}
	return out
}

// readTargets says what is wrong with the objects of the revision.
func readTargets(_ *testing.T, s syncScenario) []string {
	var out []string
	for _, o := range s.Given.Target {
		_, err := object.NewManifest(o.manifest())
		out = append(out, fmt.Sprint(err))
	}
	return out
}

// takeOverRows says of each row whose fields pass to us.
func takeOverRows(t *testing.T, s syncScenario) []string {
	t.Helper()
	var out []string
	for _, row := range decodeCases[struct {
		Managers []struct{ Manager, Operation string }
	}](t, s.Cases) {
		var from []string
		for _, m := range row.Managers {
			if live.Inherits(map[string]any{"manager": m.Manager, "operation": m.Operation}, true, "") {
				from = append(from, m.Manager+" "+m.Operation)
			}
		}
		if len(from) == 0 {
			from = []string{"nothing"}
		}
		out = append(out, strings.Join(from, " and ")+" passes")
	}
	return out
}

// writeRows says which requests write the object of each row.
func writeRows(t *testing.T, s syncScenario) []string {
	t.Helper()
	c := newCluster(t)
	var out []string
	for i, row := range decodeCases[writeCase](t, s.Cases) {
		c.write(t, row, "request-"+itoa(i))
		out = append(out, row.Command+": "+strings.Join(c.sent.last(), ", "))
	}
	return out
}

// applyRows says which requests apply an object with the options of each row.
func applyRows(t *testing.T, s syncScenario) []string {
	t.Helper()
	c := newCluster(t)
	var out []string
	for i, row := range decodeCases[struct {
		Options                     []string
		OperationDryRun, TaskDryRun bool
	}](t, s.Cases) {
		obj := c.own(syncObject{Kind: "Pod", Options: row.Options}, "dry-"+itoa(i))
		if got := c.step(t, diff.Create, row.OperationDryRun || row.TaskDryRun, object.Options{}, obj)[0]; got.Err != nil {
			t.Fatal(got.Message)
		}
		out = append(out, strings.Join(c.sent.last(), ", "))
	}
	return out
}

// pruneTwoKinds says how an object of a kind that owns nothing is deleted, and one of another kind.
func pruneTwoKinds(t *testing.T, _ syncScenario) []string {
	t.Helper()
	c := newCluster(t)
	service := syncObject{Kind: "Service", Name: "pruned"}.manifest()
	service["metadata"].(map[string]any)["namespace"] = c.ns
	service["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}
	var out []string
	for _, obj := range []map[string]any{c.own(syncObject{}, "pruned"), service} {
		var deleted []string
		for _, verb := range []diff.Verb{diff.Create, diff.Delete} {
			if got := c.step(t, verb, false, object.Options{}, obj)[0]; got.Err != nil {
				t.Fatal(got.Message)
			}
			deleted = c.sent.last()
		}
		out = append(out, fmt.Sprintf("%s: %s", obj["kind"], strings.Join(deleted, ", ")))
	}
	return out
}

// requests are the writes that a cluster was asked for.
type requests struct {
	mu   sync.Mutex
	list []string
}

// last returns the writes since it was called before.
func (r *requests) last() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.list
	r.list = nil
	return out
}

func (r *requests) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, what)
}

// passing notes the writes that pass through it.
type passing struct {
	next     http.RoundTripper
	requests *requests
}

// RoundTrip passes a request on.
func (p *passing) RoundTrip(req *http.Request) (*http.Response, error) {
	what := req.Method
	switch {
	case what == http.MethodGet:
		return p.next.RoundTrip(req)
	case req.Header.Get("Content-Type") == "application/apply-patch+yaml":
		what = "apply server-side"
	case what == http.MethodDelete:
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context()) // a RoundTripper leaves what it is given as it is
		req.Body = io.NopCloser(bytes.NewReader(body))
		var options struct{ PropagationPolicy string }
		if err := json.Unmarshal(body, &options); err != nil {
			return nil, err
		}
		what = "delete " + options.PropagationPolicy
	}
	if req.URL.Query().Get("dryRun") != "" {
		what += " (dry run)"
	}
	p.requests.note(what)
	return p.next.RoundTrip(req)
}
