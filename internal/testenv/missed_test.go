package testenv

import "testing"

func TestAMissedEventIsFoundInTheMetrics(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		metrics string
		want    int
	}{
		"none":                {"# TYPE slipway_missed_events_total counter\nslipway_missed_events_total{wait=\"kind\"} 0\nup 1\n", 0},
		"one of an agent":     {"slipway_missed_events_total{wait=\"kind\"} 0\nslipway_missed_events_total{wait=\"object\"} 2\n", 1},
		"one of a server":     {"slipway_server_missed_events_total{wait=\"events\"} 1\n", 1},
		"metrics of another":  {"up 1\n", 1},
		"a metric like it":    {"slipway_missed_events_total_of_all{wait=\"kind\"} 3\nslipway_missed_events_total{wait=\"kind\"} 0\n", 0},
		"nothing was counted": {"", 1},
	} {
		if got := misses(test.metrics); len(got) != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
