package score_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMedianAndPercentiles(t *testing.T) {
	t.Parallel()
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, test := range []struct {
		name             string
		values           []float64
		median, p50, p99 float64
	}{
		{"nothing", nil, 0, 0, 0},
		{"one value", []float64{7}, 7, 7, 7},
		{"two values", []float64{3, 1}, 2, 1, 3},
		{"three values", []float64{9, 1, 5}, 5, 5, 9},
		{"a hundred values", hundred, 50.5, 50, 99},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := []float64{score.Median(test.values), score.Percentile(test.values, 50), score.Percentile(test.values, 99)}
			if diff := cmp.Diff([]float64{test.median, test.p50, test.p99}, got); diff != "" {
				t.Errorf("statistics differ (-want +got):\n%s", diff)
			}
		})
	}
}

func shape() corpus.Shape { return corpus.Shape{Apps: 200, Objects: 10, Namespaces: 10} }

func TestMeasureTakesMediansPeaksAndPooledLatencies(t *testing.T) {
	t.Parallel()
	none, two := 0.0, 2.0
	m := score.Measure(score.One, 10, []score.Sample{
		{WallSeconds: 1, CPUSeconds: 1, PSSMiB: 50, RSSMiB: 90, Latencies: []float64{1, 2}, ExtraWrites: &none},
		{WallSeconds: 5, CPUSeconds: 3, PSSMiB: 80, RSSMiB: 70, Latencies: []float64{9}, ExtraWrites: &two},
		{WallSeconds: 2, CPUSeconds: 2, PSSMiB: 60, RSSMiB: 60, Verbs: map[string]int{"GET": 1}},
	})
	got := []float64{m.WallSeconds, m.CPUSeconds, m.PSSMiB, m.RSSMiB, m.P50Seconds, m.P99Seconds, *m.ExtraWrites}
	if diff := cmp.Diff([]float64{2, 0.2, 80, 90, 2, 9, 1}, got); diff != "" {
		t.Errorf("figures differ (-want +got):\n%s", diff)
	}
}

func TestTargetsGrowWithTheShapeWhereWorkDoes(t *testing.T) {
	t.Parallel()
	big := corpus.Shape{Apps: 2000, Objects: 10, Namespaces: 10}
	small := corpus.Shape{Apps: 20, Objects: 5, Namespaces: 10}
	limits := func(name string, s corpus.Shape) map[string]float64 {
		m := score.Measurement{Name: name, RawSeconds: 4, RSSMiB: 100}
		score.Judge(&m, s)
		out := map[string]float64{}
		for _, mark := range m.Marks {
			out[mark.Figure] = mark.Limit
		}
		return out
	}
	for _, test := range []struct {
		name     string
		workload string
		shape    corpus.Shape
		want     map[string]float64
	}{
		{"cold", score.Cold, shape(), map[string]float64{"wall": 8, "cpu": 6, "memory": 120}},
		{"cold of 2,000", score.Cold, big, map[string]float64{"wall": 8, "cpu": 60, "memory": 300}},
		{"cold of few", score.Cold, small, map[string]float64{"wall": 8, "cpu": 6, "memory": 120}},
		{"all of 2,000", score.All, big, map[string]float64{"wall": 30, "cpu": 30, "memory": 300}},
		{"one of 2,000", score.One, big, map[string]float64{"p50": 0.3, "cpu": 0.1, "memory": 300}},
		{"idle of 2,000", score.Idle, big, map[string]float64{"cpu": 0.05, "memory": 300}},
		{"raw has none", score.Raw, shape(), map[string]float64{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, limits(test.workload, test.shape)); diff != "" {
				t.Errorf("limits differ (-want +got):\n%s", diff)
			}
		})
	}
}

// result is a small result with one met and one missed target.
func result() score.Result {
	writes := 0.5
	workloads := []score.Measurement{
		score.Measure(score.Raw, 1, []score.Sample{{WallSeconds: 3.4, RawSeconds: 3.4, Notes: []string{"8 at a time: 3.40 s"}}}),
		score.Measure(score.Cold, 1, []score.Sample{{
			WallSeconds: 5.5, StatusSeconds: 5.6, CPUSeconds: 7, RawSeconds: 3.4, PSSMiB: 80, RSSMiB: 90,
			Verbs: map[string]int{"APPLY": 2000, "PATCH": 400},
		}}),
		score.Measure(score.One, 2, []score.Sample{{
			WallSeconds: 0.1, CPUSeconds: 0.06, Latencies: []float64{0.1, 0.12}, RawLatencies: []float64{0.002},
		}}),
		score.Measure(score.Noop, 1, []score.Sample{{WallSeconds: 0.2, CPUSeconds: 0.1, ExtraWrites: &writes}}),
	}
	for i := range workloads {
		score.Judge(&workloads[i], shape())
	}
	return score.Result{
		Version: score.Version, Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC), Runs: 1, Shape: shape(), Workloads: workloads,
		Engine:  score.Engine{Kind: "slipway", Version: "1.2.3", StartSeconds: 0.2, MemoryMiB: 30},
		Machine: score.Machine{Cores: 2, Processor: "p", MemoryMiB: 100, Kernel: "6", Go: "go1", Kubernetes: "v1.36.3"},
	}
}

func TestTablePrintsFiguresMarksAndRemarks(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	if err := score.WriteTable(&got, result()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "table.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("table differs (-want +got); run with -update if it should:\n%s", diff)
	}
}

func TestMissedTargetsAreNamed(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"cold cpu", "noop-refresh writes"}, result().Missed()); diff != "" {
		t.Errorf("missed targets differ (-want +got):\n%s", diff)
	}
}

func TestAResultSurvivesJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(result())
	if err != nil {
		t.Fatal(err)
	}
	var got score.Result
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result(), got); diff != "" {
		t.Errorf("result differs (-want +got):\n%s", diff)
	}
}

func TestCompareShowsChangesOfTheSameShapeOnly(t *testing.T) {
	t.Parallel()
	before, now := result(), result()
	before.Workloads[1].CPUSeconds = 14
	changes, err := score.Compare(before, now)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := score.WriteChanges(&text, before, now, changes); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "-50%") {
		t.Errorf("half the processor time does not show:\n%s", text.String())
	}
	now.Shape.Apps++
	if _, err := score.Compare(before, now); err == nil {
		t.Error("results of different shapes were compared")
	}
}
