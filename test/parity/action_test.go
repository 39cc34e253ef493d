package parity

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/action"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

type discoveryCase struct {
	ID, Group, Kind string
	Object          json.RawMessage
	Actions         []action.Action
	Match           string
}

type runCase struct {
	ID, Group, Kind, Action string
	Parameters              map[string]string
	Object                  json.RawMessage
	Error                   string
	Expected                []expectedImpact
}

type expectedImpact struct {
	Operation   action.Operation
	Object      json.RawMessage
	Ignore      []string
	MustExist   []string
	NameMatch   string
	MayAlsoHave []string
}

var actionTime = action.Env{Now: time.Date(2026, 3, 4, 12, 30, 45, 0, time.UTC)}

func TestOfferedActionsAgree(t *testing.T) {
	t.Parallel()
	actions := action.New(nil)
	pass, all := 0, 0
	for _, c := range loadLines[discoveryCase](t, dir(t, "actions"), "discovery.jsonl") {
		all++
		obj, err := object.DecodeJSON(c.Object)
		if err != nil {
			t.Fatal(err)
		}
		got, err := actions.List(obj, actionTime)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if diff := cmp.Diff(c.Actions, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.ID, diff)
			continue
		}
		pass++
	}
	t.Logf("%d of %d cases agree", pass, all)
}

func TestRunActionsAgree(t *testing.T) {
	t.Parallel()
	actions := action.New(nil)
	pass, all := 0, 0
	for _, c := range loadLines[runCase](t, dir(t, "actions"), "run.jsonl") {
		all++
		if problem := c.problem(t, actions); problem != "" {
			t.Errorf("%s: %s", c.ID, problem)
			continue
		}
		pass++
	}
	t.Logf("%d of %d cases agree", pass, all)
}

func (c runCase) problem(t *testing.T, actions *action.Actions) string {
	t.Helper()
	obj, err := object.DecodeJSON(c.Object)
	if err != nil {
		t.Fatal(err)
	}
	got, err := actions.Run(obj, c.Action, c.Parameters, actionTime)
	if c.Error != "" || err != nil {
		if err == nil || err.Error() != c.Error {
			return "the error is " + strconv.Quote(errorText(err)) + ", want " + strconv.Quote(c.Error)
		}
		return ""
	}
	if len(got) != len(c.Expected) {
		return strconv.Itoa(len(got)) + " objects, want " + strconv.Itoa(len(c.Expected))
	}
	for i, want := range c.Expected {
		if got[i].Operation != want.Operation {
			return "operation " + string(got[i].Operation)
		}
		if diff := want.diff(t, got[i].Object); diff != "" {
			return diff
		}
	}
	return ""
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (e expectedImpact) diff(t *testing.T, obj map[string]any) string {
	t.Helper()
	got, want := decoded(t, obj), decoded(t, e.Object)
	for _, pointer := range e.MustExist {
		if !exists(got, strings.Split(pointer, "/")[1:]) {
			return pointer + " is missing"
		}
	}
	ignored := append(append([]string{}, e.Ignore...), e.MayAlsoHave...)
	if prefix, ok := strings.CutPrefix(e.NameMatch, "prefix:"); ok {
		meta, _ := got.(map[string]any)["metadata"].(map[string]any)
		if name, _ := meta["name"].(string); !strings.HasPrefix(name, prefix) {
			return "the name is " + name
		}
		ignored = append(ignored, "/metadata/name")
	}
	for _, pointer := range ignored {
		without(got, strings.Split(pointer, "/")[1:])
	}
	for _, pointer := range append(ignored, e.Ignore...) {
		without(want, strings.Split(pointer, "/")[1:])
	}
	return cmp.Diff(pruned(want), pruned(got))
}

// decoded brings a value into the form in which 1 equals 1.0.
func decoded(t *testing.T, value any) any {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func unescaped(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
}

func exists(value any, pointer []string) bool {
	if len(pointer) == 0 {
		return true
	}
	switch v := value.(type) {
	case map[string]any:
		below, ok := v[unescaped(pointer[0])]
		return ok && exists(below, pointer[1:])
	case []any:
		for _, item := range v {
			if pointer[0] == "*" && exists(item, pointer[1:]) {
				return true
			}
		}
	}
	return false
}

func without(value any, pointer []string) {
	switch v := value.(type) {
	case map[string]any:
		name := unescaped(pointer[0])
		if len(pointer) == 1 {
			delete(v, name)
		} else {
			without(v[name], pointer[1:])
		}
	case []any:
		for _, item := range v {
			if pointer[0] == "*" && len(pointer) > 1 {
				without(item, pointer[1:])
			}
		}
	}
}

// pruned leaves out nulls, empty maps and empty lists.
func pruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, field := range v {
			if kept := pruned(field); kept != nil {
				out[name] = kept
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		var out []any
		for _, item := range v {
			if kept := pruned(item); kept != nil {
				out = append(out, kept)
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	}
	return value
}
