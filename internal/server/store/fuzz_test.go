package store

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// A cursor is a place in the list that it is of, and never a part of the query.
func FuzzCursor(f *testing.F) {
	f.Add("eyJzIjoiIiwidiI6ImEiLCJpIjoiYSJ9", "")
	f.Add("eyJzIjoiLWNyZWF0ZWQiLCJ2IjoxZTQwMCwiaSI6ImEifQ", "-created")
	f.Add("e30", "name")
	sorts := map[string]string{"name": "thing.name", "created": "thing.created_at"}
	f.Fuzz(func(t *testing.T, cursor, sort string) {
		o, err := newOrder(api.ListOptions{Cursor: cursor, Sort: sort, Limit: 10}, "thing.id", sorts)
		if err != nil {
			if api.CodeOf(err) != api.CodeInvalid {
				t.Errorf("%v", err)
			}
			return
		}
		var w where
		o.after(&w)
		switch text := w.String() + o.clause(); {
		case strings.Contains(text, cursor) && cursor != "" && len(cursor) > 20:
			t.Errorf("the cursor is in the query: %s", text)
		case o.start:
			if len(w.args) != 1 && len(w.args) != 3 {
				t.Errorf("%s with %v", text, w.args)
			}
			if back, err := newOrder(api.ListOptions{Cursor: o.cursor(o.value, o.startID), Sort: sort}, "thing.id", sorts); o.value != nil && (err != nil || back.startID != strings.ToValidUTF8(o.startID, "\uFFFD") || back.value != o.value) {
				t.Errorf("the cursor of %v and %q is read as %+v (%v)", o.value, o.startID, back, err)
			}
		}
	})
}

// Whatever an agent sends, what lists show of it has a bound.
func FuzzItemFields(f *testing.F) {
	f.Add("application", "web", []byte(`{"metadata":{"labels":{"a\u0000b":"c"}},"spec":{"project":"p","Project":"q","sources":[null,{"repoURL":"x"}]},"status":{"operationState":{"finishedAt":"9999-12-31T23:59:59Z"},"conditions":[null]}}`))
	f.Add("instances", "web", []byte(`{"ready":-1,"total":9223372036854775807,"pods":[null]}`))
	f.Add("cluster", "c", []byte(`{"fields":{"name":"\ud800"},"connection":{"status":"x"},"labels":{"":""}}`))
	f.Add("applicationset", "s", []byte(`{"spec":{"template":null}}`))
	f.Fuzz(func(t *testing.T, kind, name string, body []byte) {
		if !json.Valid(body) || !utf8.ValidString(name) || len(name) > longestName {
			return // the gateway refuses it
		}
		got := readFields(agentapi.ItemKind(kind), name, body)
		for field, both := range map[string][2]any{
			"project": {got.argoProject, longestName}, "sync": {got.sync, longestState}, "health": {got.health, longestState},
			"message": {got.message, longestField}, "revision": {got.revision, longestField}, "repository": {got.repoURL, longestField}, "title": {got.title, longestField},
		} {
			text, _ := both[0].(string)
			if most, _ := both[1].(int); len(text) > most || !utf8.ValidString(text) {
				t.Errorf("%s has %d bytes: %q", field, len(text), text)
			}
		}
		if got.ready < 0 || got.ready > mostPods || got.total < 0 || got.total > mostPods || len(got.conditions) > mostConditions {
			t.Errorf("%+v", got)
		}
		for label := range got.labels {
			if clean(label) != label {
				t.Errorf("label %q is kept", label)
			}
		}
		if words := got.words(agentapi.Key{Kind: agentapi.ItemKind(kind), Name: name}); len(words) > longestWords {
			t.Errorf("%d bytes of words", len(words))
		}
	})
}

func FuzzImage(f *testing.F) {
	for _, image := range []string{"nginx", "nginx:1", "host:5000/nginx", "host:5000/a:1@sha256:ab", "@", ":", "a@b@c", ""} {
		f.Add(image)
	}
	f.Fuzz(func(t *testing.T, image string) {
		repository, tag := splitImage(image)
		if tag == "" || len(repository) > len(image) || !strings.HasPrefix(image, repository) {
			t.Errorf("%q is %q and %q", image, repository, tag)
		}
	})
}
