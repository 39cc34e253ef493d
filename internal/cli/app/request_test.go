package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestFlagsOfASyncThatMakeNoSenseAreSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		f    requestFlags
		want string // "" for none
	}{
		{name: "none"},
		{name: "retry", f: requestFlags{retry: retryFlags{limit: -1, duration: time.Second, factor: 3, refresh: true}}},
		{name: "backoff without retry", f: requestFlags{retry: retryFlags{duration: time.Second}}, want: "add --retry-limit"},
		{name: "negative backoff", f: requestFlags{retry: retryFlags{limit: 1, longest: -1}}, want: "cannot be negative"},
		{name: "local at a revision", f: requestFlags{local: []string{"."}, revisions: []string{"v1"}}, want: "not both"},
		{name: "option without a value", f: requestFlags{options: []string{"Replace"}}, want: "Name=value"},
		{name: "label that is none", f: requestFlags{labels: []string{"a b"}}, want: "name=value"},
		{name: "empty label", f: requestFlags{labels: []string{""}}, want: "name=value"},
		{name: "resource without a kind", f: requestFlags{resources: []string{"web"}}, want: "[GROUP/]KIND"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.f.check()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestFlagsOfASyncBecomeARequest(t *testing.T) {
	t.Parallel()
	f := requestFlags{
		revisions: []string{"v1"}, prune: true, dryRun: true, force: true, replace: true, server: true, applyOnly: true, reason: "why not",
		resources: []string{"apps:Deployment:shop/web", "/ConfigMap:settings"}, labels: []string{"tier=web"}, options: []string{"PruneLast=true"},
		retry: retryFlags{limit: 3, duration: 10 * time.Second, longest: time.Minute, factor: 3, refresh: true},
	}
	got, err := f.plain()
	if err != nil {
		t.Fatal(err)
	}
	want := api.SyncRequest{
		Revisions: []string{"v1"}, Prune: true, DryRun: true, Force: true, Replace: true, ServerSide: true, ApplyOnly: true, Reason: "why not",
		Objects: []api.ObjectName{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, {Kind: "ConfigMap", Name: "settings"}},
		Labels:  []string{"tier=web"}, Options: []string{"PruneLast=true"},
		Retry: &api.SyncRetry{Limit: 3, Duration: "10s", MaxDuration: "1m0s", Factor: 3, Refresh: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got, err := (&requestFlags{}).plain(); err != nil || !cmp.Equal(got, api.SyncRequest{}) {
		t.Errorf("no flags give %+v, %v", got, err)
	}
}

func TestAnOperationTellsOfItsHooksAndWhatFailed(t *testing.T) {
	t.Parallel()
	op := attempt("one", v1alpha1.OperationRunning)
	op.Message = "waiting for completion of hook batch/Job/migrate"
	op.SyncResult.Resources = []v1alpha1.ResourceResult{
		{Group: "batch", Kind: "Job", Namespace: "shop", Name: "migrate", HookType: v1alpha1.HookPreSync, HookPhase: v1alpha1.OperationRunning, SyncPhase: v1alpha1.PhasePreSync},
		{Kind: "ConfigMap", Namespace: "shop", Name: "fine", Status: v1alpha1.ResultSynced},
		{Kind: "Service", Namespace: "shop", Name: "web", Status: v1alpha1.ResultSyncFailed, Message: "no port"},
	}
	var got []string
	for _, h := range happenings(op) {
		got = append(got, h.line)
	}
	want := []string{
		"hook Job.batch shop/migrate, PreSync: Running", "Service shop/web: SyncFailed no port",
		"Running waiting for completion of hook batch/Job/migrate",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
