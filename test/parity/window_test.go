package parity

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// windowRow is a sync window as sync/windows.yaml writes it.
type windowRow struct {
	Kind, Schedule, Duration, TimeZone, When string
	Applications, Namespaces, Clusters       []string
	UseAndOperator, SyncOverrun              bool
}

// window completes what a row leaves out: the kind, and that the window is for every application.
func (r windowRow) window() v1alpha1.SyncWindow {
	w := v1alpha1.SyncWindow{
		Kind: r.Kind, Schedule: r.Schedule, Duration: r.Duration, TimeZone: r.TimeZone, SyncOverrun: r.SyncOverrun,
		Applications: r.Applications, Namespaces: r.Namespaces, Clusters: r.Clusters, UseAndOperator: r.UseAndOperator,
	}
	if w.Kind == "" {
		w.Kind = v1alpha1.SyncWindowAllow
	}
	if named := map[string][2]string{
		"earlier": {"0 11 * * *", "30m"}, "long": {"0 11 * * *", "90m"}, "starting": {"0 12 * * *", "1h"}, "always": {"* * * * *", "1h"},
	}[r.When]; named[0] != "" {
		w.Schedule = named[0]
		if w.Duration == "" {
			w.Duration = named[1]
		}
	}
	return w
}

// windowCases is sync/windows.yaml.
type windowCases struct {
	Active []struct {
		windowRow `json:",inline"`
		Now       string
		Active    bool
		Error     bool
	}
	ActiveOf, InactiveOf []struct {
		Windows          []windowRow
		Now              string
		Active, Inactive []int
		Error            bool
	}
	Matching []struct {
		Window  windowRow
		Matches bool
	}
	Decisions []struct {
		Windows      [][3]any
		Manual, Auto *bool
	}
	DecisionErrors []struct {
		Window  windowRow
		Now     string
		Allowed bool
	}
	Overrun []struct {
		ID      string
		Windows []windowRow
		Started *string
		Allowed bool
	}
	DenyOverrun []struct {
		Windows [][2]any
		Result  bool
	}
	Validation []struct {
		windowRow `json:",inline"`
		Valid     bool
	}
	ProjectValidation []struct {
		Windows       []string
		Valid         bool
		ErrorContains string
	}
}

func (c windowCases) rows() int {
	return len(c.Active) + len(c.ActiveOf) + len(c.InactiveOf) + len(c.Matching) + len(c.Decisions) + len(c.DecisionErrors) +
		len(c.Overrun) + len(c.DenyOverrun) + len(c.Validation) + len(c.ProjectValidation)
}

func loadWindowCases(t *testing.T) windowCases {
	t.Helper()
	var cases windowCases
	loadYAML(t, &cases, dir(t, "sync"), "windows.yaml")
	if n := cases.rows(); n != 115 {
		t.Errorf("%d rows were read, not 115", n)
	}
	return cases
}

// windowsFor returns the windows of a project that are for the application of the data set.
func windowsFor(t *testing.T, everywhere bool, list ...v1alpha1.SyncWindow) project.Windows {
	t.Helper()
	for i := range list {
		if everywhere {
			list[i].Applications = []string{"*"}
		}
	}
	return permission(t, v1alpha1.AppProjectSpec{SyncWindows: list}).Windows(project.AppFacts{
		Name: "test-app", Namespace: "default", Cluster: project.Cluster{Server: "cluster1", Name: "clusterName"},
	})
}

func clock(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		text = "2026-01-15T12:00:30Z"
	}
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// stands reports whether a window is open, and whether it cannot be read. Its kind makes no difference to that.
func stands(t *testing.T, w v1alpha1.SyncWindow, now time.Time) (open, broken bool) {
	t.Helper()
	w.Kind = v1alpha1.SyncWindowAllow
	allowed := windowsFor(t, true, w).CanSync(false, now).Allowed
	w.Kind = v1alpha1.SyncWindowDeny
	denied := !windowsFor(t, true, w).CanSync(false, now).Allowed
	if allowed != denied && !denied {
		t.Errorf("%+v allows and does not deny", w)
	}
	return allowed, allowed != denied
}

func TestSyncWindowsAreActive(t *testing.T) {
	t.Parallel()
	cases := loadWindowCases(t)
	for i, c := range cases.Active {
		t.Run(fmt.Sprintf("%d %s at %s", i, c.Schedule, c.Now), func(t *testing.T) {
			t.Parallel()
			if open, broken := stands(t, c.window(), clock(t, c.Now)); broken != c.Error || open != c.Active {
				t.Errorf("active %v, broken %v", open, broken)
			}
		})
	}
	for _, of := range []struct {
		active bool
		rows   []struct {
			Windows          []windowRow
			Now              string
			Active, Inactive []int
			Error            bool
		}
	}{{true, cases.ActiveOf}, {false, cases.InactiveOf}} {
		for i, c := range of.rows {
			t.Run(fmt.Sprintf("which of several are active %v %d", of.active, i), func(t *testing.T) {
				t.Parallel()
				got, anyBroken := []int{}, false
				for n, row := range c.Windows {
					open, broken := stands(t, row.window(), clock(t, c.Now))
					anyBroken = anyBroken || broken
					if open == of.active && !broken {
						got = append(got, n)
					}
				}
				want := c.Active
				if !of.active {
					want = c.Inactive
				}
				if anyBroken != c.Error || !c.Error && !slices.Equal(got, want) {
					t.Errorf("%v, want %v; broken %v", got, want, anyBroken)
				}
			})
		}
	}
}

func TestSyncWindowsMatchApplications(t *testing.T) {
	t.Parallel()
	for i, c := range loadWindowCases(t).Matching {
		t.Run(fmt.Sprint(i, " ", c.Window), func(t *testing.T) {
			t.Parallel()
			w := c.Window.window()
			w.Kind, w.Schedule, w.Duration = v1alpha1.SyncWindowDeny, "* * * * *", "1h"
			if v := windowsFor(t, false, w).CanSync(true, clock(t, "")); v.Allowed == c.Matches {
				t.Errorf("%+v, want a match: %v", v, c.Matches)
			}
		})
	}
}

// sketched is a window that is written as kind, state and manualSync.
func sketched(kind, state string) v1alpha1.SyncWindow {
	w := v1alpha1.SyncWindow{Kind: kind, Schedule: "* * * * *", Duration: "1h"}
	if state == "inactive" {
		w.Schedule = "0 0 1 1 *"
	}
	return w
}

func TestSyncWindowsDecide(t *testing.T) {
	t.Parallel()
	cases := loadWindowCases(t)
	for i, c := range cases.Decisions {
		t.Run(fmt.Sprint(i, " ", c.Windows), func(t *testing.T) {
			t.Parallel()
			var list []v1alpha1.SyncWindow
			for _, row := range c.Windows {
				w := sketched(fmt.Sprint(row[0]), fmt.Sprint(row[1]))
				w.ManualSync = row[2] == true
				list = append(list, w)
			}
			windows := windowsFor(t, true, list...)
			for manual, want := range map[bool]*bool{true: c.Manual, false: c.Auto} {
				if v := windows.CanSync(manual, clock(t, "")); want != nil && v.Allowed != *want {
					t.Errorf("manual %v: %+v, want %v", manual, v, *want)
				}
			}
		})
	}
	for i, c := range cases.DecisionErrors {
		t.Run(fmt.Sprint("error ", i), func(t *testing.T) {
			t.Parallel()
			v := windowsFor(t, true, c.Window.window()).CanSync(true, clock(t, c.Now))
			if v.Allowed != c.Allowed || !strings.Contains(v.Reason, "cannot be read") {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestSyncWindowsLetRunningSyncsGoOn(t *testing.T) {
	t.Parallel()
	cases := loadWindowCases(t)
	for _, c := range cases.Overrun {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			var list []v1alpha1.SyncWindow
			for _, row := range c.Windows {
				list = append(list, row.window())
			}
			windows, now := windowsFor(t, true, list...), clock(t, "")
			v := windows.CanSync(false, now)
			if c.Started != nil {
				v = windows.MayContinue(false, clock(t, *c.Started), now)
			}
			if v.Allowed != c.Allowed {
				t.Errorf("%+v, want %v", v, c.Allowed)
			}
		})
	}
	for i, c := range cases.DenyOverrun {
		t.Run(fmt.Sprint("all that deny allow overrun ", i), func(t *testing.T) {
			t.Parallel()
			var list []v1alpha1.SyncWindow
			for _, row := range c.Windows {
				w := sketched(fmt.Sprint(row[0]), "active")
				if w.SyncOverrun = row[1] == true; w.Kind == v1alpha1.SyncWindowDeny {
					w.Schedule = "0 12 * * *"
				}
				list = append(list, w)
			}
			if v := windowsFor(t, true, list...).MayContinue(false, clock(t, "2026-01-15T11:30:00Z"), clock(t, "")); v.Allowed != c.Result {
				t.Errorf("%+v, want %v", v, c.Result)
			}
		})
	}
}

func TestSyncWindowsAreValidated(t *testing.T) {
	t.Parallel()
	cases := loadWindowCases(t)
	expect := func(t *testing.T, valid bool, list ...v1alpha1.SyncWindow) {
		t.Helper()
		err := project.Validate(exampleProject(func(p *v1alpha1.AppProject) { p.Spec.SyncWindows = list }))
		if (err == nil) != valid {
			t.Errorf("valid: %v, want %v (%v)", err == nil, valid, err)
		}
	}
	for i, c := range cases.Validation {
		t.Run(fmt.Sprint("window ", i), func(t *testing.T) {
			t.Parallel()
			w := c.window()
			w.Applications = []string{"*"}
			expect(t, c.Valid, w)
		})
	}
	for _, c := range cases.ProjectValidation {
		t.Run(fmt.Sprint("windows ", c.Windows), func(t *testing.T) {
			t.Parallel()
			var list []v1alpha1.SyncWindow
			for _, word := range c.Windows {
				w := sketched(v1alpha1.SyncWindowAllow, "active")
				switch word {
				case "valid", "the same again":
					w.Applications = []string{"*"}
					list = append(list, w)
				case "null": // a decoder leaves it out
				case "no applications and no namespaces and no clusters":
					list = append(list, w)
				default:
					t.Fatalf("what is %q?", word)
				}
			}
			expect(t, c.Valid, list...)
		})
	}
}
