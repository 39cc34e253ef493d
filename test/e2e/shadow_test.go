package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
)

// shadowProbe is the time between two looks at a report.
const shadowProbe = 50 * time.Millisecond

// cmdShadow asks an agent in shadow mode until all tests hold for what it says about the story's Application, and prints
// that: shadow TEST...
func cmdShadow(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "shadow PATH=VALUE|PATH~REGEXP...")
	s := of(ts)
	var tests []test
	for _, text := range args {
		one, err := readTest(text)
		ts.Check(err)
		tests = append(tests, one)
	}
	var last *unstructured.Unstructured
	err := wait.PollUntilContextTimeout(s.t.Context(), shadowProbe, waitLimit, true, func(context.Context) (bool, error) {
		var err error
		if last, err = s.shadowed(); last == nil || err != nil {
			return false, err
		}
		for _, one := range tests {
			if have, err := find(last, one.path); err != nil || !one.match(have) {
				return false, err
			}
		}
		return true, nil
	})
	if last != nil {
		fmt.Fprintln(ts.Stdout(), asText(last))
	}
	if err != nil {
		ts.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
}

// shadowed is what the agent says about the story's Application.
func (s *story) shadowed() (*unstructured.Unstructured, error) {
	raw, err := s.agent.get("/shadow")
	if err != nil {
		return nil, err
	}
	var report struct{ Applications []map[string]any }
	if err := json.Unmarshal(raw, &report); err != nil {
		return nil, fmt.Errorf("read shadow report: %w", err)
	}
	for _, app := range report.Applications {
		if app["name"] == s.app {
			return &unstructured.Unstructured{Object: app}, nil
		}
	}
	return nil, nil
}

// get reads from the listener of an agent.
func (a *agentProcess) get(path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(a.t.Context(), requestLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, resp.Status, raw)
	}
	return raw, err
}

// cmdWroteNothing checks that an agent has made no request but reads and dry runs, and that it has made dry runs: it does
// count them.
func cmdWroteNothing(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "wrotenothing")
	raw, err := of(ts).agent.get("/metrics")
	ts.Check(err)
	dry := 0
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "slipway_api_requests_total{") {
			continue
		}
		switch {
		case strings.Contains(line, `verb="GET"`), strings.Contains(line, `verb="LIST"`), strings.Contains(line, `verb="WATCH"`):
		case strings.Contains(line, `dry_run="All"`):
			dry++
		default:
			ts.Fatalf("the agent has made a request that can change something: %s", line)
		}
	}
	if dry == 0 {
		ts.Fatalf("the agent counts no dry run: %s", raw)
	}
	if refused := of(ts).agent.logged.tail("a request was refused", shownLines); refused != "" {
		ts.Fatalf("the agent tried to write: %s", refused)
	}
}
