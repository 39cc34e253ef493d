package swarm

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/link"
)

const (
	// logLines is how many lines each pod has written, logEvery how often one of them writes one more.
	logLines = 200
	logEvery = 200 * time.Millisecond
)

// showLogs sends what pods of an Application write: a few hundred lines of each, and more as long as a client follows.
func (a *agent) showLogs(ctx context.Context, cmd agentapi.Command, st *link.Stream) error {
	in, err := read[api.Logs](cmd)
	if err != nil {
		return err
	}
	pods, err := a.podsOf(cmd, in.Resource)
	if err != nil {
		return err
	}
	return writeLogs(ctx, st, in, pods)
}

// podsOf are the names of the pods that a request is about.
func (a *agent) podsOf(cmd agentapi.Command, ref api.ResourceRef) ([]string, error) {
	roots, err := a.tree(cmd)
	if err != nil {
		return nil, err
	}
	var pods []string
	var walk func(n *api.TreeNode, meant bool)
	walk = func(n *api.TreeNode, meant bool) {
		meant = meant || n.Group == ref.Group && n.Kind == ref.Kind && n.Name == ref.Name
		if meant && n.Kind == "Pod" {
			pods = append(pods, n.Name)
		}
		for _, child := range n.Children {
			walk(child, meant)
		}
	}
	for _, root := range roots {
		walk(root, ref == api.ResourceRef{})
	}
	if len(pods) == 0 {
		return nil, &agentapi.Error{Code: agentapi.CodeNotFound, Message: "there are no pods"}
	}
	return pods, nil
}

// writeLogs writes the lines of pods in their order, and continues if a client follows.
func writeLogs(ctx context.Context, out io.Writer, in api.Logs, pods []string) error {
	write := func(pod, n int) error {
		line := logLine(n)
		if strings.Contains(line, in.Search) == in.Invert && in.Search != "" {
			return nil
		}
		if in.Timestamps {
			line = begin.Add(time.Duration(n)*logEvery).Format(time.RFC3339Nano) + " " + line
		}
		if len(pods) > 1 {
			line = pods[pod] + "/main " + line
		}
		_, err := io.WriteString(out, line+"\n")
		return err
	}
	first := 0
	if in.Tail > 0 {
		first = max(0, logLines-int(min(in.Tail, logLines)))
	}
	for pod := range pods {
		for n := first; n < logLines; n++ {
			if err := write(pod, n); err != nil {
				return err
			}
		}
	}
	if !in.Follow {
		return nil
	}
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for n := logLines; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := write(n%len(pods), n); err != nil {
			return err
		}
	}
}

// logLine is what a pod writes: mostly that it served something, sometimes that it could not.
func logLine(n int) string {
	if n%37 == 0 {
		return fmt.Sprintf(`level=error msg="upstream did not answer" attempt=%d`, n/37)
	}
	return fmt.Sprintf(`level=info msg="served" path=/orders/%d status=200 duration=%dms`, n, 3+n%17)
}
