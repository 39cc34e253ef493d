package observe

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metric is a row of the page, or a family of a scrape.
type metric struct {
	kind   string
	labels []string

	optional bool // the page says that it is there only with a flag

	help   string
	values map[string][]string // of the labels
}

// row is one of a table of the page.
var row = regexp.MustCompile("^\\| `(slipway_[a-z_]+)` \\| ([a-z]+) \\|([^|]*)\\|")

// page reads docs/reference/metrics.md: metrics by name, of each section.
func page(t *testing.T) map[string]map[string]metric {
	t.Helper()
	raw, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	out, section := map[string]map[string]metric{}, ""
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(name)
			out[section] = map[string]metric{}
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if _, twice := out[section][m[1]]; twice {
			t.Errorf("%s is on the page twice", m[1])
		}
		var labels []string
		for label := range strings.SplitSeq(m[3], ",") {
			if label = strings.Trim(label, " `"); label != "" {
				labels = append(labels, label)
			}
		}
		slices.Sort(labels)
		out[section][m[1]] = metric{kind: m[2], labels: labels, optional: strings.Contains(line, "; only with ")}
	}
	return out
}

// scrape reads what a program says at an address: the metrics of ours.
func (w *world) scrape(address string) map[string]metric {
	w.t.Helper()
	out := map[string]metric{}
	w.await("metrics of "+address, func(ctx context.Context) string {
		answer, err := get(ctx, "http://"+address+"/metrics")
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(answer.Body)
		if err != nil {
			return err.Error()
		}
		for name, f := range families {
			if !strings.HasPrefix(name, "slipway_") {
				continue
			}
			m := metric{kind: strings.ToLower(f.GetType().String()), help: f.GetHelp(), values: map[string][]string{}}
			for _, one := range f.GetMetric() {
				for _, label := range one.GetLabel() {
					m.values[label.GetName()] = append(m.values[label.GetName()], label.GetValue())
				}
			}
			m.labels = slices.Sorted(maps.Keys(m.values))
			out[name] = m
		}
		return ""
	})
	return out
}

func TestThePageOfMetricsSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	w := start(t)
	sections := page(t)
	for section, address := range map[string]string{"Agent": w.agentMetrics, "Server": w.serverMetrics} {
		said, there := sections[section], map[string]metric{}
		w.await("the metrics of "+section+" that are on the page", func(context.Context) string { // some begin with what happens later
			there = w.scrape(address)
			for name := range said {
				if _, ok := there[name]; !ok && !said[name].optional {
					return name + " is on the page, and nobody says it"
				}
			}
			return ""
		})
		for name, have := range there {
			want, ok := said[name]
			switch {
			case !ok:
				t.Errorf("%s: %s is not on the page", section, name)
			case have.kind != want.kind || !slices.Equal(have.labels, want.labels):
				t.Errorf("%s: %s is a %s with the labels %v, the page says a %s with %v", section, name, have.kind, have.labels, want.kind, want.labels)
			}
			if have.help == "" {
				t.Errorf("%s: %s has no help", section, name)
			}
		}
	}
	w.fewSeries()
}

// fewSeries checks that no label says what grows with what is managed.
func (w *world) fewSeries() {
	w.t.Helper()
	for _, address := range []string{w.agentMetrics, w.serverMetrics} {
		for name, m := range w.scrape(address) {
			if name == "slipway_application_info" { // a flag asked for it
				continue
			}
			for label, values := range m.values {
				for _, private := range []string{w.target.Name, w.target.Agent, w.ns, w.repo.URL(), "admin"} {
					if slices.Contains(values, private) {
						w.t.Errorf("%s has the label %s=%q", name, label, private)
					}
				}
			}
		}
	}
}
