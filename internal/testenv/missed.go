package testenv

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// NothingMissed fails a test if the metrics at an address say that a slow look found what an event should have reported. Normal
// work needs no such look, so tests call it where a program ends that was neither killed nor cut off.
func NothingMissed(t testing.TB, program, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		t.Error(err)
		return
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Errorf("read the metrics of %s: %v", program, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("read the metrics of %s: %v", program, err)
		return
	}
	for _, problem := range misses(string(raw)) {
		t.Errorf("%s: %s", program, problem)
	}
}

// misses says what is wrong with the counters of missed events in metrics.
func misses(metrics string) (problems []string) {
	counters := 0
	for line := range strings.Lines(metrics) {
		line = strings.TrimSpace(line)
		counter, value, _ := strings.Cut(line, " ")
		called, _, labelled := strings.Cut(counter, "{")
		if !labelled || called != "slipway_missed_events_total" && called != "slipway_server_missed_events_total" {
			continue
		}
		if counters++; value != "0" {
			problems = append(problems, "a second look was needed: "+line)
		}
	}
	if counters == 0 {
		problems = append(problems, "no metric counts missed events")
	}
	return problems
}
