package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

const (
	// notTyped begins the API server's words about a manifest that does not fit its kind. They come with status 500.
	notTyped = "failed to create typed patch object"
	// undeclared ends its words about one field.
	undeclared = ": field not declared in schema"
	// maxRelax is how often fields are left out: the API server need not name all of them together.
	maxRelax = 32
)

// applyKnown applies the manifest without the fields that the kind does not have, as the option Validate=false asks.
// Server-side apply has no way of its own to overlook them. refusal says which they are; another one is returned.
func (w *writing) applyKnown(ctx context.Context, refusal error) (map[string]any, error) {
	var want map[string]any
	for range maxRelax {
		fields := undeclaredIn(refusal)
		if len(fields) == 0 {
			return nil, refusal
		}
		if want == nil {
			var err error
			if want, err = w.manifest.Decode(); err != nil {
				return nil, err
			}
		}
		dropped := false
		for _, path := range fields {
			dropped = drop(want, path) || dropped
		}
		if !dropped {
			return nil, refusal
		}
		raw, err := json.Marshal(want)
		if err != nil {
			return nil, err
		}
		known := object.Manifest{Key: w.manifest.Key, Version: w.manifest.Version, JSON: raw}
		var obj map[string]any
		if obj, refusal = w.target.Client.Apply(ctx, w.resource, known, w.how.DryRun); refusal == nil {
			return obj, nil
		}
	}
	return nil, refusal
}

// misfit reports whether the API server says that a manifest does not fit its kind, although with a status that stands
// for faults of its own.
func misfit(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && strings.HasPrefix(status.Status().Message, notTyped)
}

// undeclaredIn returns the paths of the fields that a refusal says the kind does not have.
func undeclaredIn(err error) []string {
	var status apierrors.APIStatus
	if !misfit(err) || !errors.As(err, &status) {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(status.Status().Message, "\n") {
		line, ok := strings.CutSuffix(strings.TrimSpace(line), undeclared)
		if !ok {
			continue
		}
		if _, after, first := strings.Cut(line, "): "); first && strings.HasPrefix(line, notTyped) {
			line = after // a single one stands on the first line
		}
		out = append(out, line)
	}
	return out
}

// drop removes the field at a path such as .spec.containers[name="c"].odd, and reports whether it was there. Names may
// have dots in them, so it is the tree that says where one ends.
func drop(node any, path string) bool {
	switch v := node.(type) {
	case map[string]any:
		rest, ok := strings.CutPrefix(path, ".")
		if !ok {
			return false
		}
		if _, there := v[rest]; there {
			delete(v, rest)
			return true
		}
		for name, sub := range v {
			if deeper, ok := strings.CutPrefix(rest, name); ok && drop(sub, deeper) {
				return true
			}
		}
	case []any:
		picked, rest, ok := pick(v, path)
		if !ok {
			return false
		}
		for _, item := range picked {
			if drop(item, rest) {
				return true
			}
		}
	}
	return false
}

// pick reads [2] or [name="c",port=80] from the front of a path and returns the items of list that it may mean. A key
// that an item does not have may stand for its default.
func pick(list []any, path string) (items []any, rest string, ok bool) {
	inner, ok := strings.CutPrefix(path, "[")
	if !ok {
		return nil, "", false
	}
	if number, after, closed := strings.Cut(inner, "]"); closed {
		if i, err := strconv.Atoi(number); err == nil {
			if i < 0 || i >= len(list) {
				return nil, "", false
			}
			return list[i : i+1], after, true
		}
	}
	keys := map[string]string{}
	for {
		name, after, found := strings.Cut(inner, "=")
		if !found {
			return nil, "", false
		}
		value := json.NewDecoder(strings.NewReader(after))
		var raw json.RawMessage
		if err := value.Decode(&raw); err != nil && !errors.Is(err, io.EOF) {
			return nil, "", false
		}
		keys[name] = string(raw)
		inner = after[value.InputOffset():]
		if next, more := strings.CutPrefix(inner, ","); more {
			inner = next
			continue
		}
		rest, ok = strings.CutPrefix(inner, "]")
		break
	}
	for _, item := range list {
		if m, is := item.(map[string]any); is && hasKeys(m, keys) {
			items = append(items, m)
		}
	}
	return items, rest, ok
}

func hasKeys(item map[string]any, keys map[string]string) bool {
	for name, want := range keys {
		have, there := item[name]
		if !there {
			continue
		}
		raw, err := json.Marshal(have)
		if err != nil || !bytes.Equal(raw, []byte(want)) {
			return false
		}
	}
	return true
}
