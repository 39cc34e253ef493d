package swarm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/link"
)

// foresees answers what people ask before they deploy: as an agent would that can read the repositories.
func (a *agent) foresees() map[agentapi.Kind]link.Executor {
	return map[agentapi.Kind]link.Executor{
		agentapi.KindPlan:      a.plan,
		agentapi.KindPreview:   a.preview,
		agentapi.KindRevisions: a.revisions,
		agentapi.KindFindings: func(context.Context, agentapi.Command) (any, error) {
			return api.FindingsAnswer{Items: []api.Finding{}}, nil // there is no cluster to look into
		},
		agentapi.KindTips: a.tips,
		agentapi.KindRepositoryRefs: func(_ context.Context, cmd agentapi.Command) (any, error) {
			return refs(cmd)
		},
		agentapi.KindRepositoryPaths: func(_ context.Context, cmd agentapi.Command) (any, error) {
			return paths(cmd)
		},
	}
}

// tips says that every branch is where it was compared.
func (a *agent) tips(_ context.Context, cmd agentapi.Command) (any, error) {
	app, err := a.found(cmd)
	if err != nil {
		return nil, err
	}
	return api.TipsAnswer{Items: []api.RevisionTip{{Tip: app.Status.Sync.Revision, TipSeenAt: time.Now().UTC()}}}, nil
}

// read reads the body of a command.
func read[T any](cmd agentapi.Command) (T, error) {
	var in T
	if len(cmd.Body) == 0 {
		return in, nil
	}
	if err := json.Unmarshal(cmd.Body, &in); err != nil {
		return in, fmt.Errorf("read command: %w", err)
	}
	return in, nil
}

// named are the names of an object.
func named(r *v1alpha1.ResourceStatus) api.ObjectName {
	return api.ObjectName{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// newer is the difference that the next commit makes to an object.
func newer(r *v1alpha1.ResourceStatus) string {
	return fmt.Sprintf("--- live %[1]s/%[2]s\n+++ wanted %[1]s/%[2]s\n@@ -3,4 +3,4 @@\n metadata:\n   labels:\n"+
		"-    app.kubernetes.io/version: v1.0.0\n+    app.kubernetes.io/version: v1.0.1\n   name: %[2]s\n", r.Kind, r.Name)
}

// plan brings what is not in sync to what Git says, in one wave.
func (a *agent) plan(_ context.Context, cmd agentapi.Command) (any, error) {
	app, err := a.found(cmd)
	if err != nil {
		return nil, err
	}
	out := api.SyncPlan{
		Revisions: []string{app.Status.Sync.Revision}, Phases: []api.PlanPhase{}, Guard: api.PlanGuard{Total: len(app.Status.Resources)},
		Windows: api.PlanWindows{Allowed: true, Automatic: true}, Warnings: []string{},
	}
	var wave api.PlanWave
	for i := range app.Status.Resources {
		r := &app.Status.Resources[i]
		if r.Status == v1alpha1.SyncStatusSynced {
			continue
		}
		wave.Items = append(wave.Items, api.PlanItem{ObjectName: named(r), Verb: "update", Reason: "differs", Diff: newer(r)})
	}
	out.Counts.Update, out.Counts.Unchanged = len(wave.Items), len(app.Status.Resources)-len(wave.Items)
	if len(wave.Items) > 0 {
		out.Phases = append(out.Phases, api.PlanPhase{Phase: "Sync", Waves: []api.PlanWave{wave}})
	}
	return out, nil
}

// preview makes all objects of an Application that is not there, and changes the first of one that is.
func (a *agent) preview(_ context.Context, cmd agentapi.Command) (any, error) {
	in, err := read[agentapi.Preview](cmd)
	if err != nil {
		return nil, err
	}
	out := api.Preview{Problems: []api.PreviewProblem{}, Objects: []api.PreviewObject{}, Revisions: []string{}, Quick: in.Quick}
	wrong := func(field, message string) {
		out.Problems = append(out.Problems, api.PreviewProblem{Field: field, Message: message, Level: api.ProblemError})
	}
	var app v1alpha1.Application
	have, missing := a.found(cmd)
	switch err := json.Unmarshal(in.Object, &app); {
	case err != nil:
		wrong("", err.Error())
	case missing == nil && !in.Update:
		wrong("metadata.name", "there is an application "+app.Name+" already: choose another name, or change that one")
	case missing != nil && in.Update:
		return nil, missing
	}
	for _, s := range app.Spec.EffectiveSources() {
		if s.Path != "" && !strings.HasPrefix(s.Path, "apps/") {
			wrong("spec.source.path", fmt.Sprintf("%q does not exist: choose a directory below apps", s.Path))
		}
		out.Revisions = append(out.Revisions, commit(s.RepoURL, s.TargetRevision))
	}
	if out.Valid = len(out.Problems) == 0; !out.Valid || in.Quick {
		out.Revisions = []string{}
		return out, nil
	}
	var objects []v1alpha1.ResourceStatus
	if missing == nil {
		objects = have.Status.Resources
	} else {
		for i := range 6 {
			objects = append(objects, resource(app.Name, i))
		}
	}
	for i := range objects {
		one := api.PreviewObject{ObjectName: named(&objects[i]), Verb: "keep"}
		switch {
		case missing != nil:
			one.Verb, out.Counts.Create = "create", out.Counts.Create+1
			one.Diff = fmt.Sprintf("--- live\n+++ wanted %[1]s/%[2]s\n@@ -0,0 +1,3 @@\n+kind: %[1]s\n+metadata:\n+  name: %[2]s\n", one.Kind,
				one.Name)
		case i == 0:
			one.Verb, one.Diff, out.Counts.Update = "update", newer(&objects[i]), 1
		default:
			out.Counts.Unchanged++
		}
		out.Objects = append(out.Objects, one)
	}
	return out, nil
}

// revisions returns the authors of commits: a member of the team of an Application.
func (a *agent) revisions(_ context.Context, cmd agentapi.Command) (any, error) {
	in, err := read[api.RevisionsRequest](cmd)
	if err != nil {
		return nil, err
	}
	app, err := a.found(cmd)
	if err != nil {
		return nil, err
	}
	people := []string{"Ann Example", "Bob Example", "Cleo Example", "Dan Example"}
	out := api.RevisionsAnswer{Items: []api.RevisionInfo{}}
	for _, id := range in.Revisions {
		sum := sha256.Sum256([]byte(id))
		who := people[int(sum[0])%len(people)]
		out.Items = append(out.Items, api.RevisionInfo{
			Revision: id, Known: true, RepoURL: app.Spec.Source.RepoURL, Date: begin.Add(-time.Duration(sum[1]) * time.Hour),
			Author:  api.RevisionPerson{Name: who, Email: strings.ToLower(who[:3]) + "@example.com"},
			Message: fmt.Sprintf("%s: version 1.%d.%d\n\nMade by the release job.", app.Name, sum[2]%20, sum[3]%10),
		})
	}
	return out, nil
}

// commit is the id of a commit that is made up: the same for the same words.
func commit(words ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(words, "\n"))))[:40]
}

// refs are the branches and tags of every repository.
func refs(cmd agentapi.Command) (any, error) {
	in, err := read[api.RepositoryRefsRequest](cmd)
	if err != nil {
		return nil, err
	}
	list := func(names ...string) []api.RepositoryRef {
		out := []api.RepositoryRef{}
		for _, name := range names {
			if strings.Contains(name, in.Search) {
				out = append(out, api.RepositoryRef{Name: name, Commit: commit(in.RepoURL, name)})
			}
		}
		return out
	}
	return api.RepositoryRefs{
		Default: "main", Branches: list("main", "release-1", "release-2", "staging"), Tags: list("v1.2.0", "v1.1.1", "v1.1.0", "v1.0.0"),
	}, nil
}

// paths are the directories of every repository: apps/NAME/overlays/production and the like, for each Application of an agent
// by its number.
func paths(cmd agentapi.Command) (any, error) {
	in, err := read[api.RepositoryPathsRequest](cmd)
	if err != nil {
		return nil, err
	}
	at := strings.Trim(in.Path, "/")
	out := api.RepositoryPaths{Revision: commit(in.RepoURL, in.Revision), Path: at, Items: []api.RepositoryPath{}}
	add := func(kind, tool string, names ...string) {
		for _, name := range names {
			out.Items = append(out.Items, api.RepositoryPath{Path: strings.TrimPrefix(at+"/"+name, "/"), Type: kind, Tool: tool})
		}
	}
	levels := strings.Split(at, "/")
	switch {
	case at == "":
		add("directory", "", "apps")
		add("file", "", "README.md")
	case levels[0] != "apps" || len(levels) > 4:
		return nil, &agentapi.Error{Code: agentapi.CodeNotFound, Message: fmt.Sprintf("%q does not exist", at)}
	case len(levels) == 1:
		for i := range 10 * Teams {
			add("directory", "", AppName(i))
		}
	case len(levels) == 2:
		add("directory", "kustomize", "base")
		add("directory", "", "overlays")
	case len(levels) == 3 && levels[2] == "overlays":
		add("directory", "kustomize", "production", "staging", "test")
	default:
		out.Tool, out.Details = "kustomize", &api.SourceDetails{Kustomize: &api.KustomizeDetails{Resources: []string{"../../base"}}}
		add("file", "", "kustomization.yaml")
	}
	slices.SortStableFunc(out.Items, func(x, y api.RepositoryPath) int { return strings.Compare(x.Type, y.Type) })
	return out, nil
}
