package setting

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// everywhere has the same files at every revision of every repository.
type everywhere struct{ source.Tree }

func (e everywhere) Fetch(context.Context, string, v1alpha1.ApplicationSource, time.Time) (engine.Fetched, error) {
	return engine.Fetched{Tree: e.Tree}, nil
}

// always is the project of every name.
type always struct{ rules *project.Rules }

func (a always) Rules(string) (*project.Rules, error) { return a.rules, nil }

// judge trusts the branch "signed" alone.
type judge struct{}

func (judge) Judge(_ context.Context, claim trust.Claim) (string, error) {
	if claim.Project != "shop" || claim.Source.TargetRevision != "signed" {
		return "", errors.New("GIT/SSH: Failed verifying revision " + claim.Revision)
	}
	return "SSH key of Ann", nil
}

// noted are plugins that know all files, and note what runs a program of theirs.
type noted struct {
	render.Plugins
	ran []string
}

func (n *noted) Has(string) bool { return true }

func (n *noted) Names() []string { return []string{"mine"} }

func (n *noted) Claims(context.Context, render.Request) (bool, error) {
	n.ran = append(n.ran, "discovery")
	return true, nil
}

func (n *noted) Announce(context.Context, render.Request) ([]render.Announcement, error) {
	n.ran = append(n.ran, "parameters")
	return []render.Announcement{{Name: "tag"}}, nil
}

func TestNoPluginRunsOnARevisionThatTheProjectWouldNotDeploy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "all.yaml"), []byte("kind: ConfigMap"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := dirtree.Open(dir, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	p := &v1alpha1.AppProject{}
	p.Name, p.Spec.SourceRepos = "shop", []string{"*"}
	p.Spec.SourceIntegrity = &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{Policies: []v1alpha1.SourceIntegrityGitPolicy{{
		Repos: []v1alpha1.SourceIntegrityGitRepo{{URL: "https://git.example/*"}}, GPG: &v1alpha1.SourceIntegrityGPG{Mode: v1alpha1.GPGModeHead},
	}}}}
	rules, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	const why = "no plugin was asked about the files: GIT/SSH: Failed verifying revision 0123456789abcdef"
	for _, c := range []struct {
		url, revision, plugin string
		judge                 trust.Judge
		ran                   []string
		warning               string
	}{
		{"https://git.example/web", "main", "mine", judge{}, nil, why},
		{"https://git.example/web", "main", "", judge{}, nil, why},
		{"https://git.example/web", "signed", "mine", nil, nil, "this engine verifies none"},
		{"https://git.example/web", "signed", "mine", judge{}, []string{"parameters"}, ""},
		{"https://git.example/web", "signed", "", judge{}, []string{"discovery", "parameters"}, ""},
		{"https://elsewhere.example/web", "main", "mine", judge{}, []string{"parameters"}, ""},
	} {
		plugins := &noted{}
		run := Executors(Config{
			Namespace: "argocd", Settings: place.NewSettings(nil), Plugins: plugins, Now: time.Now,
			Engine: &engine.Engine{Sources: everywhere{tree}, Projects: always{rules}, Trust: c.judge},
		})[agentapi.KindRepositoryPaths]
		body, err := json.Marshal(api.RepositoryPathsRequest{RepoURL: c.url, ArgoProject: "shop", Revision: c.revision, Plugin: c.plugin})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := run(t.Context(), agentapi.Command{Kind: agentapi.KindRepositoryPaths, Body: body})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		got := answer.(api.RepositoryPaths)
		if !slices.Equal(plugins.ran, c.ran) || len(got.Items) != 1 || len(got.Plugins) != 1 {
			t.Errorf("%s at %s with plugin %q ran %v: %+v", c.url, c.revision, c.plugin, plugins.ran, got)
		}
		if warned := strings.Join(got.Warnings, "\n"); (warned == "") != (c.warning == "") || !strings.Contains(warned, c.warning) {
			t.Errorf("%s at %s with plugin %q warns %q", c.url, c.revision, c.plugin, warned)
		}
	}
}
