package fleet

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/dev/demo"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// upEnv is the environment of a new user, with the programs of this repository.
func upEnv(t *testing.T, dir string) []string {
	t.Helper()
	return testenv.UserEnv(filepath.Join(dir, "config.json"),
		"SLIPWAY_AGENT="+testenv.Binary(t, "slipway-agent"), "SLIPWAY_SERVER_PROGRAM="+testenv.Binary(t, "slipway-server"))
}

func TestTheTourOfTheDemoFillsEveryPageThatItNames(t *testing.T) {
	t.Parallel()
	testenv.Cluster(t) // skips the test where no cluster can run
	program, dir := testenv.Binary(t, "slipway"), t.TempDir()
	data := filepath.Join(dir, "up")
	run := func(arguments ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), program, arguments...)
		command.Env = upEnv(t, dir)
		var stderr strings.Builder
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("slipway %s: %v\n%s", strings.Join(arguments, " "), err, stderr.String())
		}
		return string(out)
	}
	t.Cleanup(func() {
		command := exec.Command(program, "down", "--data", data, "--purge") //nolint:noctx // the context of the test has ended
		command.Env = upEnv(t, dir)
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("stop: %v\n%s", err, out)
		}
	})
	run("up", "--detach", "--data", data)

	var rows []api.ServiceRow
	decode(t, run("where", "-o", "json"), &rows)
	versions := map[string]string{}
	behind := 0
	for _, row := range rows {
		behind += len(row.Drift)
		for _, cell := range row.Cells {
			versions[row.Name+" "+cell.Environment] = cell.Version
		}
	}
	for place, want := range map[string]string{
		"checkout " + api.ScopeAccount.ID(demo.Staging):      "1.5.0",
		"checkout " + api.ScopeAccount.ID(demo.ProductionEU): "1.5.0",
		"checkout " + api.ScopeAccount.ID(demo.ProductionUS): "1.4.1",
	} {
		if versions[place] != want {
			t.Errorf("%s runs %q, want %s", place, versions[place], want)
		}
	}
	if behind == 0 {
		t.Error("no environment is behind another one")
	}
	var apps []api.Application
	decode(t, run("app", "list", "-o", "json"), &apps)
	var held []string
	for _, app := range apps {
		if app.Held {
			held = append(held, app.Name)
		}
	}
	if len(held) != 1 || held[0] != demo.Catalog {
		t.Errorf("held are %v, want %s alone", held, demo.Catalog)
	}
	var syncs []api.LedgerEntry
	decode(t, run("ledger", "list", "--app", "checkout-"+demo.ProductionEU, "-o", "json"), &syncs)
	if len(syncs) != 3 {
		t.Errorf("the ledger has %d syncs of the production in Europe, want 3", len(syncs))
	}
	notices, err := os.ReadFile(filepath.Join(data, "log", "notices.log"))
	if err != nil || !strings.Contains(string(notices), `"sync.succeeded"`) {
		t.Errorf("the channel was sent %q, %v", notices, err)
	}
}

// decode reads a list that the command line printed.
func decode[T any](t *testing.T, text string, into *[]T) {
	t.Helper()
	var page struct {
		Items []T `json:"items"`
	}
	if err := json.Unmarshal([]byte(text), into); err == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatalf("read what the command line printed: %v\n%.300s", err, text)
	}
	*into = page.Items
}
