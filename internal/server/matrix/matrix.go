// Package matrix puts together what runs where: from the applications of a service its environments, the version in each,
// and which of them are behind. It is pure.
package matrix

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/slipway-gitops/slipway/api"
)

// Place is an application, and the environment that it belongs to.
type Place struct {
	api.ServiceApplication
	// Environment is an id; "" for none. Type and Region are those of the environment.
	Environment, Type, Region string
}

// Row is a service with the environments that it runs in, by id, what is in none last, and those that are behind.
func Row(of api.Service, places []Place) api.ServiceRow {
	row := api.ServiceRow{Service: of.ID, Name: of.Name, DisplayName: of.DisplayName, Scope: of.Scope, Cells: []api.ServiceCell{}}
	by := map[string][]Place{}
	for _, p := range places {
		by[p.Environment] = append(by[p.Environment], p)
	}
	for _, here := range by {
		row.Cells = append(row.Cells, cell(here))
	}
	slices.SortFunc(row.Cells, func(a, b api.ServiceCell) int {
		if (a.Environment == "") != (b.Environment == "") {
			return -cmp.Compare(a.Environment, b.Environment)
		}
		return cmp.Compare(a.Environment, b.Environment)
	})
	row.Drift = drift(row.Cells)
	return row
}

// cell is what runs in an environment: the same, in whichever order its applications are read.
func cell(places []Place) api.ServiceCell {
	slices.SortFunc(places, func(a, b Place) int { return cmp.Compare(a.ID, b.ID) })
	out := api.ServiceCell{Environment: places[0].Environment, Type: places[0].Type, Region: places[0].Region}
	out.Health, out.Sync = places[0].Health, places[0].Sync
	var versions []api.Deployed
	for _, p := range places {
		out.Ready, out.Total = out.Ready+p.Ready, out.Total+p.Total
		if rank(healths(), p.Health) > rank(healths(), out.Health) {
			out.Health = p.Health
		}
		if rank(syncs(), p.Sync) > rank(syncs(), out.Sync) {
			out.Sync = p.Sync
		}
		if at := slices.IndexFunc(versions, func(v api.Deployed) bool { return v.Version == p.Version }); at >= 0 {
			versions[at].Since = together(versions[at].Since, p.Since)
		} else {
			versions = append(versions, p.Deployed)
		}
		out.Applications = append(out.Applications, p.ServiceApplication)
	}
	out.Deployed, out.Mixed = oldest(versions), len(versions) > 1
	return out
}

// oldest is the oldest of some versions, each of which is there once. What never ran has none.
func oldest(versions []api.Deployed) api.Deployed {
	out := versions[0]
	for _, v := range versions[1:] {
		if v.Version == "" {
			continue
		}
		if order, _ := compare(v, out); order < 0 || out.Version == "" {
			out = v
		}
	}
	return out
}

// together is since when all run a version, of which one does since a and another since b: zero where one never did.
func together(a, b time.Time) time.Time {
	switch {
	case a.IsZero() || b.IsZero():
		return time.Time{}
	case a.Before(b):
		return b
	}
	return a
}

// drift finds the environments that do not run the newest version.
func drift(cells []api.ServiceCell) []api.ServiceDrift {
	var newest *api.ServiceCell
	for i := range cells {
		c := &cells[i]
		if c.Environment == "" || c.Version == "" {
			continue
		}
		if newest == nil {
			newest = c
		} else if order, _ := compare(c.Deployed, newest.Deployed); order > 0 {
			newest = c
		}
	}
	var out []api.ServiceDrift
	for i := range cells {
		c := &cells[i]
		if newest == nil || c.Environment == "" || c.Version == "" || c.Version == newest.Version {
			continue
		}
		_, by := compare(c.Deployed, newest.Deployed)
		out = append(out, api.ServiceDrift{
			Environment: c.Environment, Version: c.Version, Behind: newest.Environment, Newest: newest.Version, By: by,
		})
	}
	return out
}

// compare says which of two versions is the newer one, and how that is known. Of two that are no semantic versions it is
// the one that was healthy later; one that never was is rolling out, and is the newer one.
func compare(a, b api.Deployed) (order int, by string) {
	if a.Version == b.Version {
		return 0, api.ComparedByVersion
	}
	va, errA := version(a)
	vb, errB := version(b)
	if errA == nil && errB == nil {
		if order = va.Compare(vb); order != 0 {
			return order, api.ComparedByVersion
		}
	}
	switch {
	case a.Since.IsZero() && b.Since.IsZero():
		return cmp.Compare(a.Version, b.Version), api.ComparedByTime
	case a.Since.IsZero():
		return 1, api.ComparedByTime
	case b.Since.IsZero():
		return -1, api.ComparedByTime
	}
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Version, b.Version)), api.ComparedByTime
}

// version reads a semantic version. A commit is none, although its digits can look like one.
func version(d api.Deployed) (*semver.Version, error) {
	if d.Version == d.Commit || !strings.Contains(d.Version, ".") {
		return nil, semver.ErrInvalidSemVer
	}
	return semver.NewVersion(d.Version)
}

// healths and syncs go from good to bad.
func healths() []string {
	return []string{"Healthy", "Suspended", "Progressing", "Unknown", "Missing", "Degraded"}
}

func syncs() []string { return []string{"Synced", "Unknown", "OutOfSync"} }

// rank is the place of a word; what is not in the list counts as Unknown.
func rank(list []string, word string) int {
	if at := slices.Index(list, word); at >= 0 {
		return at
	}
	return slices.Index(list, "Unknown")
}
