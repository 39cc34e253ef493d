package e2e

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// cmdCharts makes a Helm repository, or has it answer with errors: charts [USER:PASSWORD], charts break, charts mend. Its address is
// in $CHARTS.
func cmdCharts(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) < 2, "charts [USER:PASSWORD | break | mend]")
	switch {
	case len(args) == 1 && (args[0] == "break" || args[0] == "mend"):
		need(ts, s.charts != nil, "charts, before charts "+args[0])
		if args[0] == "break" {
			s.charts.Break()
		} else {
			s.charts.Mend()
		}
		return
	case len(args) == 1:
		user, password, _ := strings.Cut(args[0], ":")
		s.charts = testenv.NewCharts(s.t, testenv.ChartsBasicAuth(user, password))
	default:
		s.charts = testenv.NewCharts(s.t)
	}
	ts.Setenv("CHARTS", s.charts.URL())
}

// cmdChart publishes a version of a chart: chart NAME VERSION DIR.
func cmdChart(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) == 3 && s.charts != nil, "chart NAME VERSION DIR, after charts")
	fresh, err := readDir(ts.MkAbs(args[2]))
	ts.Check(err)
	files := make(map[string]string, len(fresh))
	for name, change := range fresh {
		files[name] = expand(ts, change.Content)
	}
	s.charts.Publish(args[0], args[1], files)
}
