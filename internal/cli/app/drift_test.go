package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

func driftNow() time.Time { return time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC) }

func TestDriftNamesTheFieldAndWhoSetIt(t *testing.T) {
	t.Parallel()
	name := func(n string) api.ObjectName { return api.ObjectName{Kind: "ConfigMap", Namespace: "shop", Name: n} }
	list := drifted([]api.ObjectDiff{
		{
			ObjectName: name("settings"), Verb: "update", Allowed: &api.AllowedDrift{Until: driftNow().Add(time.Hour)},
			Fields: []api.FieldDiff{{Path: ".data.size", Manager: "kubectl-edit", Since: "2030-05-06T10:59:30Z"}},
		},
		{ObjectName: name("gone"), Verb: "create"},
	})
	var out strings.Builder
	if err := (iostream.Streams{Out: &out}).Table(driftRows(list, driftNow())); err != nil {
		t.Fatal(err)
	}
	want := "ConfigMap\tshop/settings\t.data.size\tkubectl-edit\t2030-05-06T10:59:30Z\t1h\t2030-05-06T13:00:00Z\n" +
		"ConfigMap\tshop/gone\tthe whole object is gone\t\t\t\t\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestUntilIsATimeOrADuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"2h": driftNow().Add(2 * time.Hour), "2030-06-01T08:00:00Z": time.Date(2030, 6, 1, 8, 0, 0, 0, time.UTC),
		"2030-06-01T08:00:00+02:00": time.Date(2030, 6, 1, 6, 0, 0, 0, time.UTC),
	} {
		if got, err := parseUntil(text, driftNow()); err != nil || !got.Equal(want) {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "tomorrow", "-2h", "0s", "2029-01-01T00:00:00Z", "2030-06-01"} {
		if got, err := parseUntil(text, driftNow()); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}
