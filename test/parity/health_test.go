package parity

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

type healthCase struct {
	ID, Layer, Group, Kind string
	Object                 json.RawMessage
	Status, Message        *string
}

func (c healthCase) assess(t *testing.T) (health.Result, bool) {
	t.Helper()
	obj, err := object.DecodeJSON(c.Object)
	if err != nil {
		t.Fatal(err)
	}
	if c.Layer == "builtin" {
		return health.BuiltIn(obj)
	}
	return health.Judge(obj)
}

func (c healthCase) passes(r health.Result, assessed bool) bool {
	if c.Status == nil {
		return !assessed
	}
	return assessed && string(r.Status) == *c.Status && (c.Message == nil || r.Message == *c.Message)
}

// folder is where upstream files a case.
func (c healthCase) folder() string {
	folder, _, _ := strings.Cut(c.ID, "/")
	return folder
}

// HEALTH_GROUP narrows the test to cases whose ids begin with one of the words in it, for whoever writes rules.
func TestHealthAgrees(t *testing.T) {
	t.Parallel()
	only := strings.Fields(os.Getenv("HEALTH_GROUP"))
	type score struct{ pass, all int }
	scores := map[string]score{}
	var total score
	for _, c := range loadLines[healthCase](t, dir(t, "health"), "cases.jsonl") {
		if len(only) > 0 && !slices.ContainsFunc(only, func(w string) bool { return strings.HasPrefix(c.ID, w) }) {
			continue
		}
		r, ok := c.assess(t)
		s := scores[c.folder()]
		s.all++
		total.all++
		if c.passes(r, ok) {
			s.pass++
			total.pass++
		} else {
			want, _ := json.Marshal([]*string{c.Status, c.Message})
			got, _ := json.Marshal([]string{string(r.Status), r.Message})
			t.Errorf("%s (%s)\n got %s, assessed %v\nwant %s", c.ID, c.Layer, got, ok, want)
		}
		scores[c.folder()] = s
	}
	for _, folder := range slices.Sorted(maps.Keys(scores)) {
		if s := scores[folder]; s.pass < s.all {
			t.Logf("%-50s %d of %d", folder, s.pass, s.all)
		}
	}
	t.Logf("%d of %d cases agree", total.pass, total.all)
}
