package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// followTree prints the objects of an application, and then a line for each that comes, changes or goes, until it is
// interrupted.
func followTree(ctx context.Context, o treeOptions) error {
	if o.Output == iostream.YAML {
		return iostream.Usagef("--follow prints lines, or with -o json an object for each change")
	}
	server, app, err := served(ctx, o.Common, o.name)
	if err != nil {
		return err
	}
	log := treeLog{Common: o.Common, lines: map[string]string{}}
	if err := app.TreeEvents(ctx, log.tell); ctx.Err() == nil {
		return server.Explain(err)
	}
	return nil
}

// treeLog prints a live tree. It knows the line of each node, so that nothing is printed twice.
type treeLog struct {
	*connect.Common
	lines map[string]string
}

func (l *treeLog) tell(e client.TreeEvent) error {
	if l.Output == iostream.JSON {
		return l.object(e)
	}
	patch := e.Patch
	if e.Tree != nil {
		sayWarnings(l.Common, e.Tree.Warnings)
		patch = l.since(e.Tree)
	}
	for _, id := range patch.Remove {
		if was, known := l.lines[id]; known {
			delete(l.lines, id)
			if err := l.say("removed", was); err != nil {
				return err
			}
		}
	}
	for _, node := range patch.Set {
		line, change := nodeLine(node), "changed"
		was, known := l.lines[node.ID]
		if was == line {
			continue
		}
		if !known {
			change = "added"
		}
		l.lines[node.ID] = line
		if err := l.say(change, line); err != nil {
			return err
		}
	}
	return nil
}

// since is the changes of a whole tree against what was printed.
func (l *treeLog) since(t *api.TreeState) *api.TreePatch {
	there := make(map[string]bool, len(t.Nodes))
	for _, node := range t.Nodes {
		there[node.ID] = true
	}
	out := &api.TreePatch{Set: t.Nodes}
	for id := range l.lines {
		if !there[id] {
			out.Remove = append(out.Remove, id)
		}
	}
	return out
}

func (l *treeLog) say(change, line string) error {
	_, err := fmt.Fprintf(l.Out, "%s\t%s\n", change, line)
	return err
}

// object prints an event as one line of JSON.
func (l *treeLog) object(e client.TreeEvent) error {
	out := map[string]any{api.TreeEventPatch: e.Patch}
	if e.Tree != nil {
		out = map[string]any{api.TreeEventTree: e.Tree}
	}
	return json.NewEncoder(l.Out).Encode(out)
}

func nodeLine(n *api.FlatNode) string {
	cells := []string{kindText(n.Group, n.Kind), objectText(n.Namespace, n.Name), n.Sync, n.Health, n.Message, n.Parent}
	for i := range cells {
		cells[i] = iostream.Clean(cells[i])
	}
	return strings.Join(cells, "\t")
}
