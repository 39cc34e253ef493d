package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

const observability = "../../deploy/observability/"

// program finds a program of Prometheus, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("SLIPWAY_REQUIRE_PROMETHEUS") == "1" {
		t.Fatalf("this test needs %s: %v", name, err)
	}
	t.Skipf("this test needs %s, of the Debian package prometheus: %v", name, err)
	return ""
}

// alert is one of alerts.yaml.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func alerts(t *testing.T) []alert {
	t.Helper()
	raw, err := os.ReadFile(observability + "alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []alert `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	var out []alert
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	if len(out) == 0 {
		t.Fatal("there are no alerts")
	}
	return out
}

// expressions are those of the dashboards, by where they are.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(observability + "dashboard-*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("dashboards: %v, %v", files, err)
	}
	out := map[string]string{}
	variables := strings.NewReplacer("$__rate_interval", "20s", "$agent", ".*", "$server", ".*")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var board struct {
			Title  string `json:"title"`
			Panels []struct {
				Title   string `json:"title"`
				Targets []struct {
					Expr string `json:"expr"`
				} `json:"targets"`
			} `json:"panels"`
		}
		if err := json.Unmarshal(raw, &board); err != nil {
			t.Fatalf("read %s: %v", file, err)
		}
		for _, p := range board.Panels {
			for i, target := range p.Targets {
				out[fmt.Sprintf("%s, %s, %d", board.Title, p.Title, i)] = variables.Replace(target.Expr)
			}
		}
	}
	return out
}

func TestAlertsAreSoundAndFireForWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	promtool := program(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = observability
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// anchor is the heading that a link goes to.
func anchor(heading string) string { return strings.ToLower(strings.TrimSpace(heading)) }

func TestEveryAlertHasATestAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/guide/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(observability + "alerts_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]int{}
	heading := ""
	for line := range strings.Lines(string(guide)) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			heading = anchor(title)
			continue
		}
		if strings.HasPrefix(line, "## ") {
			heading = ""
		}
		text[heading] += len(strings.TrimSpace(line))
	}
	known := map[string]bool{"": true}
	for _, a := range alerts(t) {
		page, where, _ := strings.Cut(a.Annotations["runbook_url"], "#")
		known[where] = true
		if !strings.HasSuffix(page, "/docs/guide/observability.md") || where != anchor(a.Alert) || text[where] < 80 {
			t.Errorf("%s: its runbook %q is no heading of docs/guide/observability.md that says what to do", a.Alert, a.Annotations["runbook_url"])
		}
		if !bytes.Contains(tests, []byte("alertname=\""+a.Alert+"\"")) {
			t.Errorf("%s is not in alerts_test.yaml", a.Alert)
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s lacks a severity, a summary or a description", a.Alert)
		}
	}
	for heading := range text {
		if strings.HasPrefix(heading, "slipway") && !known[heading] {
			t.Errorf("%s is a runbook of no alert", heading)
		}
	}
}

// prometheus is one that scrapes a world.
type prometheus struct {
	*world
	url string
}

// startPrometheus starts one, with the alerts as its rules. It ends with the test.
func (w *world) startPrometheus(binary string) *prometheus {
	w.t.Helper()
	dir, address := w.t.TempDir(), testenv.Address(w.t)
	rules, err := filepath.Abs(observability + "alerts.yaml")
	if err != nil {
		w.t.Fatal(err)
	}
	config := fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - {job_name: slipway-agent, static_configs: [{targets: [%q], labels: {cluster: one}}]}
  - {job_name: slipway-server, static_configs: [{targets: [%q], labels: {cluster: one}}]}
`, rules, w.agentMetrics, w.serverMetrics)
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		w.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(w.t.Context()), binary, "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", address)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		ended := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer ended.Stop()
		if err := cmd.Wait(); err != nil && w.t.Failed() {
			out, _ := os.ReadFile(log.Name())
			w.t.Logf("prometheus: %v\n%s", err, out)
		}
		_ = log.Close()
	})
	return &prometheus{world: w, url: "http://" + address}
}

// ask asks its API.
func (p *prometheus) ask(ctx context.Context, path string, into any) error {
	answer, err := get(ctx, p.url+path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var out struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		return err
	}
	if out.Status != "success" {
		return errors.New(out.Error)
	}
	return json.Unmarshal(out.Data, into)
}

// count says how many series an expression gives now.
func (p *prometheus) count(ctx context.Context, expr string) (int, error) {
	var data struct{ Result []json.RawMessage }
	err := p.ask(ctx, "/api/v1/query?query="+url.QueryEscape(expr), &data)
	return len(data.Result), err
}

var (
	// selector is a metric of ours in an expression, with what it says of labels; label is one of these.
	selector = regexp.MustCompile(`\b(slipway_[a-z_]+|up|process_[a-z_]+|go_[a-z_]+)(\{[^}]*\})?`)
	label    = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
)

// needs are the selectors that must find something for an expression to have a meaning: that the metric is there with the
// labels that it names, whatever their values.
func needs(expr string) []string {
	var out []string
	for _, m := range selector.FindAllStringSubmatch(expr, -1) {
		name := m[1]
		labels := label.FindAllStringSubmatch(m[2], -1)
		if len(labels) == 0 {
			out = append(out, name)
		}
		for _, l := range labels {
			out = append(out, fmt.Sprintf("%s{%s!=\"\"}", name, l[1]))
		}
	}
	return out
}

func TestPrometheusEvaluatesEveryDashboardAndAlert(t *testing.T) {
	t.Parallel()
	binary := program(t, "prometheus")
	w := start(t)
	p := w.startPrometheus(binary)
	wanted := map[string]string{} // expression -> where it is from
	for where, expr := range expressions(t) {
		wanted[expr] = where
		for _, s := range needs(expr) {
			wanted[s] = where
		}
	}
	all := alerts(t)
	for _, a := range all {
		for _, s := range needs(a.Expr) {
			wanted[s] = a.Alert
		}
	}
	w.await("every expression gives something", func(ctx context.Context) string {
		var missing []string
		for expr, where := range wanted {
			n, err := p.count(ctx, expr)
			switch {
			case err != nil:
				return fmt.Sprintf("%s: %s: %v", where, expr, err)
			case n == 0:
				missing = append(missing, fmt.Sprintf("%s: %s gives nothing", where, expr))
			default:
				delete(wanted, expr)
			}
		}
		slices.Sort(missing)
		return strings.Join(missing, "\n")
	})
	w.await("every alert is evaluated", func(ctx context.Context) string {
		var data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
		if err := p.ask(ctx, "/api/v1/rules?type=alert", &data); err != nil {
			return err.Error()
		}
		evaluated := 0
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				if r.Health != "ok" {
					return fmt.Sprintf("%s is %s: %s", r.Name, r.Health, r.LastError)
				}
				evaluated++
			}
		}
		if evaluated != len(all) {
			return fmt.Sprintf("%d of %d are there", evaluated, len(all))
		}
		return ""
	})
}
