package swarm

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// simulated is one agent with some Applications, without a link.
func simulated(t *testing.T) *agent {
	t.Helper()
	a, err := newAgent(Options{Seed: 1, Applications: 200}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask carries out a command of an agent as its link would.
func ask[T any](t *testing.T, a *agent, kind agentapi.Kind, name string, body any) (T, error) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	got, err := a.foresees()[kind](t.Context(), agentapi.Command{
		Kind: kind, Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: Namespace, Name: name}, Body: raw,
	})
	if err != nil {
		return out, err
	}
	if raw, err = json.Marshal(got); err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

func TestAPlanHasWhatIsNotInSync(t *testing.T) {
	t.Parallel()
	a := simulated(t)
	planned := 0
	for i := range 200 {
		app, err := a.found(at(AppName(i)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ask[api.SyncPlan](t, a, agentapi.KindPlan, AppName(i), api.SyncRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Counts.Update+got.Counts.Unchanged != len(app.Status.Resources) || (got.Counts.Update > 0) != (len(got.Phases) > 0) {
			t.Errorf("the plan of %s is %+v", app.Name, got)
		}
		planned += got.Counts.Update
	}
	if planned == 0 {
		t.Error("no application of 200 has anything to sync")
	}
	if _, err := ask[api.SyncPlan](t, a, agentapi.KindPlan, "none", nil); err == nil {
		t.Error("there is a plan for what is not there")
	}
}

func TestAPreviewIsOfWhatIsNewOrChanged(t *testing.T) {
	t.Parallel()
	a := simulated(t)
	there, err := a.found(at(AppName(0)))
	if err != nil {
		t.Fatal(err)
	}
	object := func(name, path string) json.RawMessage {
		return json.RawMessage(`{"metadata":{"name":"` + name + `"},"spec":{"source":{"repoURL":"https://git.example.com/a.git","path":"` + path + `"}}}`)
	}
	for _, c := range []struct {
		name, app, path string
		quick, update   bool
		valid           bool
		counts          api.PreviewCounts
	}{
		{name: "a new one", app: "fresh", path: "apps/fresh", valid: true, counts: api.PreviewCounts{Create: 6}},
		{name: "while somebody types", app: "fresh", path: "apps/fresh", quick: true, valid: true},
		{name: "a wrong path", app: "fresh", path: "deploy"},
		{name: "a name that is taken", app: AppName(0), path: "apps/a"},
		{name: "a change", app: AppName(0), path: "apps/a", update: true, valid: true, counts: api.PreviewCounts{Update: 1, Unchanged: len(there.Status.Resources) - 1}},
	} {
		got, err := ask[api.Preview](t, a, agentapi.KindPreview, c.app, agentapi.Preview{Object: object(c.app, c.path), Quick: c.quick, Update: c.update})
		if err != nil || got.Valid != c.valid || got.Counts != c.counts || (len(got.Problems) == 0) != c.valid {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func at(name string) agentapi.Command {
	return agentapi.Command{Target: agentapi.Target{Namespace: Namespace, Name: name}}
}

func TestARepositoryCanBeGoneThroughToWhatIsDeployed(t *testing.T) {
	t.Parallel()
	a := simulated(t)
	refs, err := ask[api.RepositoryRefs](t, a, agentapi.KindRepositoryRefs, "", api.RepositoryRefsRequest{RepoURL: "https://git.example.com/a.git", Search: "v1.1"})
	if err != nil || len(refs.Tags) != 2 || len(refs.Branches) != 0 || len(refs.Tags[0].Commit) != 40 {
		t.Errorf("references with v1.1 are %+v, %v", refs, err)
	}
	path := ""
	for {
		got, err := ask[api.RepositoryPaths](t, a, agentapi.KindRepositoryPaths, "", api.RepositoryPathsRequest{Path: path})
		if err != nil || len(got.Items) == 0 {
			t.Fatalf("%q has %+v, %v", path, got, err)
		}
		last := got.Items[len(got.Items)-1]
		for _, x := range got.Items {
			if x.Type == "directory" {
				last = x
			}
		}
		if last.Type == "file" {
			if got.Tool != "kustomize" || strings.Count(path, "/") != 3 {
				t.Errorf("at its end, %q, there is %+v", path, got)
			}
			break
		}
		path = last.Path
	}
	if _, err := ask[api.RepositoryPaths](t, a, agentapi.KindRepositoryPaths, "", api.RepositoryPathsRequest{Path: "none"}); err == nil {
		t.Error("a directory that is not there has something in it")
	}
	commits, err := ask[api.RevisionsAnswer](t, a, agentapi.KindRevisions, AppName(1), api.RevisionsRequest{Revisions: []string{refs.Tags[0].Commit}})
	if err != nil || len(commits.Items) != 1 || commits.Items[0].Author.Name == "" || !strings.Contains(commits.Items[0].Message, AppName(1)) {
		t.Errorf("commits are %+v, %v", commits, err)
	}
}

func TestLogsAreOfThePodsThatAreMeant(t *testing.T) {
	t.Parallel()
	a := simulated(t)
	all, err := a.podsOf(at(AppName(0)), api.ResourceRef{})
	if err != nil || len(all) < podsOfEach {
		t.Fatalf("pods are %q, %v", all, err)
	}
	one, err := a.podsOf(at(AppName(0)), api.ResourceRef{Kind: "Pod", Namespace: AppName(0), Name: all[1]})
	if err != nil || len(one) != 1 || one[0] != all[1] {
		t.Errorf("one pod is %q, %v", one, err)
	}
	if _, err := a.podsOf(at(AppName(0)), api.ResourceRef{Kind: "ConfigMap", Name: AppName(0)}); err == nil {
		t.Error("a ConfigMap has pods")
	}
	lines := func(in api.Logs, pods []string) []string {
		var out bytes.Buffer
		if err := writeLogs(t.Context(), &out, in, pods); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	}
	if got := lines(api.Logs{Tail: 5}, one); len(got) != 5 || strings.HasPrefix(got[0], one[0]) {
		t.Errorf("the last lines of one pod are %q", got)
	}
	got := lines(api.Logs{Search: "level=error"}, all)
	if len(got) != 6*len(all) || !strings.HasPrefix(got[0], all[0]+"/main level=error") {
		t.Errorf("errors of all pods are %d lines, the first %q", len(got), got[0])
	}
	if got := lines(api.Logs{Search: "level=error", Invert: true, Timestamps: true}, one); len(got) != logLines-6 || !strings.HasPrefix(got[0], "2026-11-01T08:") {
		t.Errorf("what is no error is %d lines, the first %q", len(got), got[0])
	}
}
