package report

import (
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/place"
)

func TestTheConditionOfClustersIsReportedWhenItIsNewsAndOtherwiseOnceAMinute(t *testing.T) {
	t.Parallel()
	var reported clusterRows
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	rows := map[string]clusterRow{"edge": rowOf(place.Condition{Reach: place.Reachable, At: noon, Latency: 12 * time.Millisecond, Version: "v1.36.1"})}
	with := func(change func(*clusterRow)) map[string]clusterRow {
		out := maps.Clone(rows)
		row := out["edge"]
		change(&row)
		out["edge"] = row
		return out
	}
	if !reported.look(rows, noon) {
		t.Error("a first look is no news")
	}
	for _, test := range []struct {
		name  string
		rows  map[string]clusterRow
		after time.Duration
		news  bool
	}{
		{"nothing", rows, time.Second, false},
		{"a later answer", with(func(r *clusterRow) { r.connection.At = noon.Add(time.Second) }), time.Second, false},
		{"another latency", with(func(r *clusterRow) { r.state.Latency = 99 }), time.Second, false},
		{"a first latency", with(func(r *clusterRow) { r.state.Latency = 0 }), time.Second, true},
		{"a minute", rows, clusterRenew, true},
		{"another version", with(func(r *clusterRow) { r.state.Kubernetes = "v1.37.0" }), time.Second, true},
		{"one Application more", with(func(r *clusterRow) { r.state.Applications++ }), time.Second, true},
		{"a failure", with(func(r *clusterRow) { r.connection.Status = "Failed" }), time.Second, true},
		{"switched off", with(func(r *clusterRow) { r.state.Off = true }), time.Second, true},
		{"a further cluster", map[string]clusterRow{"edge": rows["edge"], "far": {}}, time.Second, true},
		{"none", nil, time.Second, true},
	} {
		reported.rows, reported.at = rows, noon
		if news := reported.look(test.rows, noon.Add(test.after)); news != test.news {
			t.Errorf("%s: reported %t", test.name, news)
		}
		if row, _ := reported.get("edge"); !test.news && row != rows["edge"] {
			t.Errorf("%s: what is reported has changed unannounced", test.name)
		}
	}
}

func TestWhatIsNotKnownOfAClusterIsMissing(t *testing.T) {
	t.Parallel()
	row := rowOf(place.Condition{})
	if row.connection != (agentapi.Connection{Status: "Unknown"}) || row.state != (agentapi.ClusterState{}) {
		t.Errorf("%+v", row)
	}
	for d, want := range map[time.Duration]float64{
		0: 0, 300 * time.Microsecond: 0.3, 1234 * time.Microsecond: 1.2, 87600 * time.Microsecond: 88, 1234 * time.Millisecond: 1200,
	} {
		if ms := milliseconds(d); ms != want {
			t.Errorf("%s is %v ms, want %v", d, ms, want)
		}
	}
}

func TestAClusterThatIsGoneIsNotReportedAsTheAgentsOwn(t *testing.T) {
	t.Parallel()
	settings := place.NewSettings(nil)
	rows := clusterRows{settings: settings, clusters: place.NewClusters(place.Options{Settings: settings, Log: slog.New(slog.DiscardHandler)})}
	if body, err := rows.body("edge"); body != nil || err != nil {
		t.Errorf("%s, %v", body, err)
	}
	if body, err := rows.body("in-cluster"); body == nil || err != nil {
		t.Errorf("the agent's own cluster: %s, %v", body, err)
	}
}
