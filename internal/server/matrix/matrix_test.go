package matrix

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
)

func at(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }

// place is an application with one pod that is ready.
func place(id, environment, version string, since time.Time) Place {
	return Place{Environment: environment, ServiceApplication: api.ServiceApplication{
		ID: id, Deployed: api.Deployed{Tag: version, Version: version, Since: since}, Sync: "Synced", Health: "Healthy", Ready: 1, Total: 1,
	}}
}

func TestACellSaysWhatAllItsApplicationsHave(t *testing.T) {
	t.Parallel()
	bad := place("b", "account.prod", "1.0.0", at(3))
	bad.Health, bad.Sync, bad.Ready = "Degraded", "OutOfSync", 0
	row := Row(api.Service{Meta: api.Meta{ID: "account.shop", Name: "shop", Scope: "account"}}, []Place{
		place("c", "", "1.0.0", at(1)), bad, place("a", "account.prod", "1.0.0", at(2)), place("d", "account.dev", "1.0.0", at(4)),
	})
	var order []string
	for _, c := range row.Cells {
		order = append(order, c.Environment)
	}
	if diff := cmp.Diff([]string{"account.dev", "account.prod", ""}, order); diff != "" {
		t.Fatalf("environments (-want +got):\n%s", diff)
	}
	prod := row.Cells[1]
	if prod.Health != "Degraded" || prod.Sync != "OutOfSync" || prod.Ready != 1 || prod.Total != 2 || prod.Mixed || !prod.Since.Equal(at(3)) {
		t.Errorf("the cell is %+v", prod)
	}
	if len(prod.Applications) != 2 || prod.Applications[0].ID != "a" {
		t.Errorf("the applications are %+v", prod.Applications)
	}
	if row.Drift != nil {
		t.Errorf("all run the same, and it drifts: %+v", row.Drift)
	}
}

func TestAnEnvironmentIsBehindWhatIsNewest(t *testing.T) {
	t.Parallel()
	commit := func(environment, version string, since time.Time) Place {
		p := place(environment, environment, version, since)
		p.Deployed = api.Deployed{Commit: version, Version: version, Since: since}
		return p
	}
	for _, test := range []struct {
		name   string
		places []Place
		want   []api.ServiceDrift
	}{
		{"semantic versions count before time", []Place{place("a", "account.dev", "1.9.0", at(5)), place("b", "account.prod", "1.10.0", at(1))}, []api.ServiceDrift{
			{Environment: "account.dev", Version: "1.9.0", Behind: "account.prod", Newest: "1.10.0", By: "version"},
		}},
		{"other versions by when they were healthy", []Place{place("a", "account.dev", "main-7", at(5)), place("b", "account.prod", "main-9", at(1))}, []api.ServiceDrift{
			{Environment: "account.prod", Version: "main-9", Behind: "account.dev", Newest: "main-7", By: "time"},
		}},
		{"commits by time, whatever they look like", []Place{commit("account.dev", "1234", at(1)), commit("account.prod", "12", at(2))}, []api.ServiceDrift{
			{Environment: "account.dev", Version: "1234", Behind: "account.prod", Newest: "12", By: "time"},
		}},
		{"what is on its way is the newest", []Place{place("a", "account.dev", "new", time.Time{}), place("b", "account.prod", "old", at(1))}, []api.ServiceDrift{
			{Environment: "account.prod", Version: "old", Behind: "account.dev", Newest: "new", By: "time"},
		}},
		{"an environment is as far as the last of its applications", []Place{
			place("a", "account.dev", "1.1.0", at(1)), place("b", "account.prod", "1.1.0", at(2)), place("c", "account.prod", "1.0.0", at(3)),
		}, []api.ServiceDrift{
			{Environment: "account.prod", Version: "1.0.0", Behind: "account.dev", Newest: "1.1.0", By: "version"},
		}},
		{"what runs nowhere is behind nothing", []Place{place("a", "account.dev", "1.1.0", at(1)), place("b", "account.prod", "", time.Time{})}, nil},
		{"what is in no environment is behind nothing", []Place{place("a", "account.dev", "1.1.0", at(1)), place("b", "", "1.0.0", at(2))}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Row(api.Service{}, test.places).Drift); diff != "" {
				t.Errorf("drift (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSeveralVersionsInAnEnvironmentAreSaid(t *testing.T) {
	t.Parallel()
	places := []Place{place("a", "account.prod", "1.1.0", at(1)), place("b", "account.prod", "1.0.0", at(2)), place("c", "account.prod", "", time.Time{})}
	got := Row(api.Service{}, places).Cells[0]
	if !got.Mixed || got.Version != "1.0.0" {
		t.Errorf("the cell is %+v", got)
	}
}

func TestACellIsTheSameInWhicheverOrderItsApplicationsAreRead(t *testing.T) {
	t.Parallel()
	a, b, c := place("a", "account.prod", "main-1", at(3)), place("b", "account.prod", "main-2", at(1)), place("c", "account.prod", "main-2", at(5))
	want := Row(api.Service{}, []Place{a, b, c}).Cells
	if want[0].Version != "main-1" || !want[0].Since.Equal(at(3)) {
		t.Errorf("all run main-2 since 5 only, so main-1 is the older one: %+v", want[0])
	}
	for _, places := range [][]Place{{a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}} {
		if diff := cmp.Diff(want, Row(api.Service{}, places).Cells); diff != "" {
			t.Errorf("in another order (-want +got):\n%s", diff)
		}
	}
}
