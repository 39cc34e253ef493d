package dora_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/dora"
)

// start is a Wednesday.
var start = time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC)

func at(hours float64) time.Time { return start.Add(time.Duration(hours * float64(time.Hour))) }

// sync is a deployment of a revision that was committed an hour before, ended then, and healthy after some minutes; never where minutes are 0.
func sync(hours float64, revision string, minutes int) dora.Operation {
	o := dora.Operation{
		Application: "account.prod/argocd/shop", Service: "org.acme.shop", Action: api.LedgerSync, Phase: "Succeeded", Revision: revision, Changed: true, Automatic: true,
		Committed: at(hours - 1), Detected: at(hours - 0.5), Rendered: at(hours - 0.25), Applied: at(hours), Finished: at(hours),
	}
	if minutes > 0 {
		o.Healthy = at(hours).Add(time.Duration(minutes) * time.Minute)
	}
	return o
}

func as(o dora.Operation, action, phase string) dora.Operation {
	o.Action, o.Phase = action, phase
	return o
}

// elsewhere is an operation at a commit that changed nothing of what the application renders.
func elsewhere(o dora.Operation) dora.Operation {
	o.Rendered = o.Detected.Add(-48 * time.Hour)
	return o
}

func TestDeliveriesAreJudged(t *testing.T) {
	t.Parallel()
	type figures struct {
		Deployments, Changes, Failures, Unrestored, Lead, Restores int64
	}
	for _, c := range []struct {
		name string
		list []dora.Operation
		want figures
	}{
		{"nothing", nil, figures{}},
		{"one that is healthy", []dora.Operation{sync(1, "a", 5)}, figures{Deployments: 1, Changes: 1, Lead: 1}},
		{"the same again is no change", []dora.Operation{sync(1, "a", 5), sync(2, "a", 5)}, figures{Deployments: 2, Changes: 1, Lead: 1}},
		{"what was there before is no change", []dora.Operation{sync(-5, "a", 5), sync(2, "a", 5)}, figures{Deployments: 1}},
		{"a failure, and its retry", []dora.Operation{as(sync(1, "a", 0), "sync", "Failed"), sync(2, "a", 5)}, figures{Deployments: 1, Changes: 1, Failures: 1, Lead: 1, Restores: 1}},
		{"a failure that lasts", []dora.Operation{sync(1, "a", 5), as(sync(2, "b", 0), "sync", "Error")}, figures{Deployments: 1, Changes: 2, Failures: 1, Unrestored: 1, Lead: 1}},
		{
			"a rollback",
			[]dora.Operation{sync(1, "a", 5), sync(2, "b", 5), as(sync(3, "a", 6), "rollback", "Succeeded")},
			figures{Deployments: 3, Changes: 2, Failures: 1, Lead: 2, Restores: 1},
		},
		{"never healthy", []dora.Operation{sync(1, "a", 0)}, figures{Deployments: 1, Changes: 1, Failures: 1, Unrestored: 1}},
		{"healthy late", []dora.Operation{sync(1, "a", 90)}, figures{Deployments: 1, Changes: 1, Failures: 1, Lead: 1, Restores: 1}},
		{"not healthy before the next", []dora.Operation{sync(1, "a", 0), sync(1.5, "b", 5)}, figures{Deployments: 2, Changes: 2, Failures: 1, Lead: 1, Restores: 1}},
		{"still in time", []dora.Operation{sync(47.5, "a", 0)}, figures{Deployments: 1, Changes: 1}},
		{"drift is put back at a commit that was about others", []dora.Operation{sync(1, "a", 5), elsewhere(sync(40, "b", 5))}, figures{Deployments: 2, Changes: 1, Lead: 1}},
		{"a partial sync", []dora.Operation{sync(1, "a", 5), as(sync(2, "b", 5), "partial", "Succeeded"), sync(3, "b", 5)}, figures{Deployments: 3, Changes: 2, Lead: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := dora.Report(c.list, start, at(48), at(48), api.GroupService, false)
			have := figures{got.Deployments, got.Changes, got.Failures, got.Unrestored, got.LeadTime.Count, got.Restore.Count}
			if diff := cmp.Diff(c.want, have); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
			if len(got.Series) != 2 {
				t.Errorf("%d days, want 2", len(got.Series))
			}
		})
	}
}

func TestWeeksBeginOnMonday(t *testing.T) {
	t.Parallel()
	got := dora.Report([]dora.Operation{sync(1, "a", 5), sync(24*5+1, "b", 5)}, start, at(24*10), at(24*10), "", true)
	if len(got.Series) != 2 || got.Series[0].From != start.AddDate(0, 0, -2) || got.Series[0].Deployments != 1 || got.Series[1].Deployments != 1 {
		t.Errorf("weeks are %+v", got.Series)
	}
	if got.PerDay != 0.2 || got.LeadTime.P50 == nil || *got.LeadTime.P50 != 3900 {
		t.Errorf("%v a day, lead time %v", got.PerDay, got.LeadTime)
	}
}

func TestServiceLevelsAreThoseOfTheWay(t *testing.T) {
	t.Parallel()
	got := dora.Levels([]dora.Operation{sync(1, "a", 5), sync(2, "a", 5), sync(3, "b", 10)}, start, at(24), at(24))
	if len(got.Applications) != 1 || got.All.Deliveries != 2 {
		t.Fatalf("levels are %+v", got)
	}
	for name, c := range map[string]struct {
		have api.Quantiles
		want float64
	}{
		"detected": {got.All.Detected, 1800}, "rendered": {got.All.Rendered, 900}, "applied": {got.All.Applied, 900}, "healthy": {got.All.Healthy, 600}, "whole": {got.All.Whole, 4200},
	} {
		if c.have.P99 == nil || *c.have.P99 != c.want {
			t.Errorf("%s is %+v, want %v s", name, c.have, c.want)
		}
	}
}

func TestAnApplicationWithVeryManyChangesIsMeasuredInTime(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	list := make([]dora.Operation, 200_000)
	for i := range list {
		list[i] = sync(float64(i)/1000, fmt.Sprint(i), 0) // none is healthy, so each failed
	}
	got := dora.Report(list, start, at(200), at(400), "", false)
	if got.Changes != int64(len(list)) || got.Failures != got.Changes {
		t.Errorf("%d changes, %d failures", got.Changes, got.Failures)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestTheGroupsWithMostDeploymentsAreShown(t *testing.T) {
	t.Parallel()
	var list []dora.Operation
	for i := range 150 {
		for n := range 1 + i%3 {
			o := sync(1+float64(n), fmt.Sprint(n), 5)
			o.Application = fmt.Sprintf("account.prod/argocd/a%03d", i)
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b dora.Operation) int { return a.Finished.Compare(b.Finished) })
	got := dora.Report(list, start, at(48), at(48), api.GroupApplication, false)
	if len(got.Groups) != 100 || got.More != 50 {
		t.Fatalf("%d groups and %d more", len(got.Groups), got.More)
	}
	for i, g := range got.Groups {
		if want := int64(3 - i/50); g.Deployments != want || len(g.Series) != 2 {
			t.Errorf("group %d, %s, has %d deployments, want %d", i, g.Name, g.Deployments, want)
		}
	}
}
