package mirror

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

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
			if db.Clean(label) != label {
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
