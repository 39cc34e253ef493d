package trust

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/source"
)

func TestTheNamesThatLedToACommit(t *testing.T) {
	t.Parallel()
	src := func(revision string) v1alpha1.ApplicationSource {
		return v1alpha1.ApplicationSource{RepoURL: "https://git.example/a", TargetRevision: revision}
	}
	app := &v1alpha1.Application{}
	spec, foreign := src("v2"), src("v3")
	foreign.RepoURL = "https://git.example/b"
	app.Spec.Source = &spec
	app.Status.History = []v1alpha1.RevisionHistory{
		{Revision: "c1", Source: src("v1")},
		{Revision: "c2", Source: src("v2.1")},
		{Revision: "c1", Source: foreign},
		{Revisions: []string{"x", "c1"}, Sources: []v1alpha1.ApplicationSource{src("a"), src("v1.0")}},
	}
	got := (&Check{App: app}).names(src("c1"), "c1")
	if want := []Name{{"c1", ""}, {"v2", ""}, {"v1.0", ""}, {"v1", ""}}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	app.Status.History = nil
	for i := range 5000 {
		app.Status.History = append(app.Status.History, v1alpha1.RevisionHistory{Revision: "c1", Source: src(fmt.Sprintf(">=0.%d", i))})
	}
	got = (&Check{App: app}).names(src("c1"), "c1")
	if len(got) != maxNames || got[1].Revision != "v2" || got[2].Revision != ">=0.4999" || got[maxNames-1].Revision != ">=0.4982" {
		t.Errorf("of 5000 deployments: %v", got)
	}
}

func TestWhatWasVerifiedIsReportedAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []*Check{nil, {}} {
		if c.Verdicts() != nil || c.Notes() != nil {
			t.Error("something is reported where nothing was asked for")
		}
	}
	c := &Check{sources: []string{"c1 is signed by Ann"}}
	c.Needed([]string{"b2 is signed by Bob"})
	want := decide.Verdict{Gate: decide.GateSignature, Outcome: decide.Allowed, Message: "c1 is signed by Ann; b2 is signed by Bob"}
	if v := c.Verdicts(); len(v) != 1 || v[0] != want {
		t.Errorf("%v", v)
	}
}

// keyed trusts what is not the revision that it refuses.
type keyed struct{ refuses string }

func (k keyed) Judge(_ context.Context, claim Claim) (string, error) {
	if claim.Revision == k.refuses {
		return "", errors.New("GIT/SSH: Failed verifying revision " + claim.Revision)
	}
	return "SSH key of Ann", nil
}

// at is a tree at a revision.
type at struct {
	source.Tree
	revision string
}

// Revision implements source.Tree.
func (a at) Revision() string { return a.revision }

func TestWhatASourceNeedsFromElsewhereIsVerifiedToo(t *testing.T) {
	t.Parallel()
	p := &v1alpha1.AppProject{}
	p.Name = "shop"
	p.Spec.SourceIntegrity = &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{Policies: []v1alpha1.SourceIntegrityGitPolicy{{
		Repos: []v1alpha1.SourceIntegrityGitRepo{{URL: "https://git.example/*"}},
		GPG:   &v1alpha1.SourceIntegrityGPG{Mode: v1alpha1.GPGModeHead},
	}}}}
	rules, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.Application{}
	app.Spec.Project = "shop"
	c := &Check{Judge: keyed{refuses: "bad"}, Rules: rules, App: app}
	for _, k := range []struct {
		need         need.Need
		at           string
		signer, fail string
	}{
		{need.Need{Kind: need.Git, URL: "https://git.example/base"}, "good", "good is signed by SSH key of Ann", ""},
		{need.Need{Kind: need.Git, URL: "https://git.example/base"}, "bad", "", "GIT/SSH: Failed verifying revision bad"},
		{need.Need{Kind: need.Git, URL: "https://elsewhere.example/base"}, "bad", "", ""},
		{need.Need{Kind: need.File, URL: "https://git.example/raw/values.yaml"}, "good", "", "a file by URL has no signature"},
		{need.Need{Kind: need.File, URL: "https://git.example%2Fraw/../values.yaml"}, "good", "", "write the address without"},
		{need.Need{Kind: need.File, URL: "https://elsewhere.example/values.yaml"}, "good", "", ""},
		{need.Need{Kind: need.Chart, URL: "https://git.example/charts", Name: "web"}, "1.0.0", "", ""},
	} {
		signer, err := c.Need(t.Context(), k.need, supply.Fetched{Tree: at{revision: k.at}})
		if signer != k.signer || (err == nil) != (k.fail == "") || err != nil && !strings.Contains(err.Error(), k.fail) {
			t.Errorf("%s at %s: %q, %v", k.need, k.at, signer, err)
		}
	}
}
