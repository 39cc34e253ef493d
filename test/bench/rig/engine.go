package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// engineTimeout is how long an engine may take from its start to being ready.
	engineTimeout = time.Minute
	// webhookTimeout is how long the answer to a webhook may take.
	webhookTimeout = 30 * time.Second
	// zeroCommit is how a push of a new branch names what was there before.
	zeroCommit = "0000000000000000000000000000000000000000"
)

// Engine is what is measured: an agent that this program started, or one that was running already.
type Engine struct {
	// PIDs are the root processes.
	PIDs []int
	// StartTime is how long the engine took to get ready; 0 for one that was running.
	StartTime time.Duration

	webhook string
	metrics string
	pprof   string
	process *Process
	server  *Server // that it is linked to, nil for none
}

// AgentOptions say how to start our own agent.
type AgentOptions struct {
	Binary     string
	Kubeconfig string
	Namespace  string
	// Dir is where the agent keeps its data and this package its log.
	Dir string
	// Profiling makes the agent serve profiles.
	Profiling bool
	// Extra are more arguments for it.
	Extra []string

	// link are the arguments by which it joins a server; none: it stands alone.
	link []string
}

// arguments is the one place that knows the flags of the agent.
func (o AgentOptions) arguments(webhook, metrics, pprof string) []string {
	out := []string{
		"--kubeconfig", o.Kubeconfig,
		"--namespace", o.Namespace,
		"--data", filepath.Join(o.Dir, "data"),
		"--webhook-listen", webhook,
		// One address for both: the agent shares a listener.
		"--health-listen", metrics,
		"--metrics-listen", metrics,
	}
	if pprof != "" {
		out = append(out, "--pprof-listen", pprof)
	}
	if len(o.link) == 0 {
		out = append(out, "--standalone")
	}
	return append(append(out, o.link...), o.Extra...)
}

// StartAgent runs our own agent and waits until it leads and has seen what there is.
func StartAgent(ctx context.Context, o AgentOptions) (*Engine, error) {
	path, err := program(o.Binary, "build it with: make build")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of the agent: %w", err)
	}
	var addresses [3]string
	for i := range addresses {
		if addresses[i], err = freeAddress(); err != nil {
			return nil, err
		}
	}
	webhook, metrics, pprof := addresses[0], addresses[1], ""
	if o.Profiling {
		pprof = addresses[2]
	}
	begin := time.Now()
	argv := append([]string{path}, o.arguments(webhook, metrics, pprof)...)
	process, err := start("slipway-agent", filepath.Join(o.Dir, "agent.log"), argv)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		PIDs:    []int{process.PID()},
		webhook: "http://" + webhook + "/api/webhook",
		metrics: "http://" + metrics + "/metrics",
		process: process,
	}
	if pprof != "" {
		e.pprof = "http://" + pprof + "/debug/pprof/"
	}
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	ready := func() bool {
		_, err := get(ctx, "http://"+metrics+"/readyz")
		return err == nil
	}
	if err := process.until(ctx, ready); err != nil {
		process.Stop()
		return nil, err
	}
	e.StartTime = time.Since(begin)
	return e, nil
}

// External is an engine that another program runs on this machine. The webhook address may be empty: then it gets no
// pushes. So may the address of its metrics.
func External(pids []int, webhook, metrics string) (*Engine, error) {
	if len(pids) == 0 {
		return nil, errors.New("measure an external engine: name its processes with --pids 1,2,3")
	}
	return &Engine{PIDs: pids, webhook: webhook, metrics: metrics}, nil
}

// Version asks a binary of ours for its version; "" if it does not report it.
func Version(ctx context.Context, binary string) string {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// Close stops an agent that StartAgent or StartLinked started, and its server, and waits for them.
func (e *Engine) Close() {
	if e.process != nil {
		e.process.Stop()
	}
	if e.server != nil {
		e.server.Close()
	}
}

// Alive fails when an agent of ours has ended.
func (e *Engine) Alive() error {
	if e.process == nil {
		return nil
	}
	select {
	case <-e.process.done:
		return e.process.ended()
	default:
		return nil
	}
}

// Metrics fetches the metrics page; nil when the engine has none.
func (e *Engine) Metrics(ctx context.Context) ([]byte, error) {
	if e.metrics == "" {
		return nil, nil
	}
	return get(ctx, e.metrics)
}

// Notify notifies the engine of a push, in the form that GitHub uses.
func (e *Engine) Notify(ctx context.Context, repoURL string, push Push) error {
	if e.webhook == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	body, err := pushEvent(repoURL, push)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.webhook, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("send webhook to %s: %w", e.webhook, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-GitHub-Event", "push")
	request.Header.Set("X-GitHub-Delivery", "00000000-0000-4000-8000-"+push.After[:12])
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("send webhook to %s: %w", e.webhook, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1000))
	if err != nil {
		return fmt.Errorf("send webhook to %s: %w", e.webhook, err)
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("send webhook to %s: the answer is %s: %s", e.webhook, answer.Status, bytes.TrimSpace(text))
	}
	return nil
}

// pushEvent writes the parts of GitHub's push event that engines read.
func pushEvent(repoURL string, push Push) ([]byte, error) {
	page := strings.TrimSuffix(repoURL, ".git")
	before := push.Before
	if before == "" {
		before = zeroCommit
	}
	commit := map[string]any{
		"id": push.After, "added": []string{}, "removed": []string{}, "modified": push.Paths,
	}
	body, err := json.Marshal(map[string]any{
		"ref": "refs/heads/main", "before": before, "after": push.After,
		"created": push.Before == "", "deleted": false, "forced": false,
		"repository": map[string]any{
			"name": filepath.Base(page), "full_name": "bench/" + filepath.Base(page),
			"html_url": page, "clone_url": repoURL, "default_branch": "main",
		},
		"commits": []any{commit}, "head_commit": commit,
	})
	if err != nil {
		return nil, fmt.Errorf("encode push event: %w", err)
	}
	return body, nil
}
