package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestASmallFleetIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the server")
	}
	t.Parallel()
	var out, talk bytes.Buffer
	code := run(t.Context(), []string{
		"--server", server(t), "--agents", "3", "--applications", "20", "--length", "3s", "--churn", "20", "--json",
	}, &out, &talk)
	if code != exitOK {
		t.Fatalf("the exit code is %d:\n%s", code, talk.String())
	}
	var got result
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v:\n%s", err, out.String())
	}
	found := map[string]float64{}
	for _, f := range got.Figures {
		found[f.Phase+": "+f.Name] = f.Value
	}
	// How long it took is for a quiet machine to say; here it counts that there is something to judge.
	for _, want := range []string{
		"connect storm: list complete, nothing pending", "churn: page of 100, all of these", "churn: dashboard: " + dashboardName,
		"churn: command round trip (refresh)", "churn: change in the agent to event at a reader", "reconnect storm: all agents back", "all: peak memory (PSS)",
	} {
		if found[want] <= 0 {
			t.Errorf("%s was not measured: %v", want, found)
		}
	}
}

func TestWrongUsageEndsWithTwoAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		arguments []string
		want      string
	}{
		{"unknown flag", []string{"--nonsense"}, "nonsense"},
		{"no agents", []string{"--agents", "0"}, "--agents"},
		{"no churn", []string{"--churn", "0"}, "--churn"},
		{"two databases", []string{"--postgres", "--database", "postgres://x"}, "--postgres"},
		{"record without file", []string{"--record"}, "--baseline"},
		{"stray argument", []string{"churn"}, `"churn"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out, talk bytes.Buffer
			if code := run(t.Context(), test.arguments, &out, &talk); code != exitUsage {
				t.Errorf("the exit code is %d", code)
			}
			if !strings.Contains(talk.String(), test.want) {
				t.Errorf("it says %q, which does not name %s", talk.String(), test.want)
			}
		})
	}
}

func TestATableShowsWhatWasMissedAndTheBaseline(t *testing.T) {
	t.Parallel()
	r := result{Figures: []figure{
		{Phase: "churn", Name: "page", Unit: "ms", Value: 70, Samples: 9, Limit: 50}, {Phase: "all", Name: "memory", Unit: "MiB", Value: 10, Limit: 400},
	}}
	if got := r.missed(); len(got) != 1 || got[0] != "churn: page" {
		t.Errorf("missed are %q", got)
	}
	file := filepath.Join(t.TempDir(), "baseline.json")
	var text strings.Builder
	if err := publish(options{record: true, baseline: file}, r, true, &text); err != nil {
		t.Fatal(err)
	}
	r.Figures[0].Value = 40
	text.Reset()
	if err := publish(options{baseline: file}, r, true, &text); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if strings.HasPrefix(line, "churn") && !(strings.Contains(line, "met") && strings.HasSuffix(strings.TrimSpace(line), "70")) {
			t.Errorf("the line is %q", line)
		}
	}
}

// server returns the program that TEST_SLIPWAY_SERVER names, or the built one, or builds it.
func server(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("TEST_SLIPWAY_SERVER"); path != "" {
		return path
	}
	const root = "../../.."
	if built := filepath.Join(root, "bin", "slipway-server"); exists(built) {
		return built
	}
	path := filepath.Join(t.TempDir(), "slipway-server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, root+"/cmd/slipway-server").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
