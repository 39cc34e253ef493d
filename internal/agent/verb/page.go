package verb

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Bounds of answers in bytes of JSON. The link carries agentapi.MaxReply, and redaction can make a text longer.
const (
	maxPage = 4 << 20 // of the objects of one answer; what follows is asked for by the cursor
	maxOne  = 8 << 20 // of one object
	maxTree = 8 << 20
)

// paged is a part of the objects of an answer.
type paged[T any] struct {
	items    []T
	next     string // asks for those that follow; "" at the end
	warnings []string
}

// page gives the objects behind a cursor, as many as one answer holds and one at least. cut makes an object smaller that is
// too large for any answer, or says that it cannot.
func page[T any](items []T, cursor string, name func(int) string, cut func(T) (T, bool)) (paged[T], error) {
	out := paged[T]{items: []T{}}
	start := 0
	if cursor != "" {
		for start < len(items) && name(start) != cursor {
			start++
		}
		if start == len(items) {
			return out, command.Refuse(agentapi.CodeConflict,
				"the object %.300q, behind which the answer goes on, is no longer there: begin again without cursor", cursor)
		}
		start++
	}
	size := 0
	for i := start; i < len(items); i++ {
		item := items[i]
		raw, err := json.Marshal(item)
		if err != nil {
			return out, fmt.Errorf("write %s: %w", name(i), err)
		}
		if len(raw) > maxOne {
			out.warnings = append(out.warnings,
				fmt.Sprintf("%.300s has %d MiB, more than is shown of one object: read it in Git or with kubectl", name(i), len(raw)>>20))
			var ok bool
			if item, ok = cut(item); !ok {
				continue
			}
			raw = nil
		}
		if size += len(raw); size > maxPage && len(out.items) > 0 {
			out.next = name(i - 1)
			return out, nil
		}
		out.items = append(out.items, item)
	}
	return out, nil
}

// cursorOf names an object in a cursor.
func cursorOf(k object.Key) string {
	return strings.Join([]string{k.Group, k.Kind, k.Namespace, k.Name}, "/")
}

// pageOfManifests is page for objects as JSON.
func pageOfManifests(items []json.RawMessage, keys []object.Key, cursor string) (paged[json.RawMessage], error) {
	return page(items, cursor, func(i int) string { return cursorOf(keys[i]) },
		func(json.RawMessage) (json.RawMessage, bool) { return nil, false })
}

// pageOfDiffs is page for differences.
func pageOfDiffs(items []api.ObjectDiff, cursor string) (paged[api.ObjectDiff], error) {
	name := func(i int) string {
		n := items[i].ObjectName
		return cursorOf(object.Key{Group: n.Group, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name})
	}
	return page(items, cursor, name, func(d api.ObjectDiff) (api.ObjectDiff, bool) {
		d.Diff, d.Fields = "", nil
		return d, true
	})
}

// pruned leaves out of a tree what an answer does not hold: first what objects own, then objects.
func pruned(t api.TreeAnswer) (api.TreeAnswer, error) {
	raw, err := json.Marshal(t.Items)
	if err != nil || len(raw) <= maxTree {
		return t, err
	}
	all, size := t.Items, 0
	t.Items = []*api.TreeNode{}
	for _, n := range all {
		one := *n
		one.Children = nil
		raw, err := json.Marshal(&one)
		if err != nil {
			return t, err
		}
		if size += len(raw); size > maxTree {
			break
		}
		t.Items = append(t.Items, &one)
	}
	t.Warnings = append(t.Warnings, fmt.Sprintf("the tree is too large: what objects own is left out, and %d of %d objects; "+
		"look at single objects, or split the application", len(all)-len(t.Items), len(all)))
	return t, nil
}
