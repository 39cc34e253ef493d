package place

import (
	"log/slog"
	"strings"
	"testing"
)

const healthKey = "resource.customizations.health.example.org_Thing"

func TestScriptsAreReadAgainOnlyWhenTheyChange(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	set := NewSettings(func() {})
	s := newScripts(set, slog.New(slog.NewTextHandler(&log, nil)))
	put := func(data map[string]string) {
		set.mu.Lock()
		defer set.mu.Unlock()
		set.configs[ConfigArgoCD] = data
	}
	if assessor, _, changed := s.refresh(); assessor != nil || changed {
		t.Errorf("without any: %v, changed %t", assessor, changed)
	}
	script := "hs = {}\nhs.status = \"Healthy\"\nreturn hs\n"
	put(map[string]string{healthKey: script, "url": "https://argocd.example"})
	first, edition, changed := s.refresh()
	if first == nil || !changed || !first.Knows("example.org", "Thing") {
		t.Fatalf("%v, changed %t", first, changed)
	}
	put(map[string]string{healthKey: script, "url": "https://other.example"})
	if again, same, changed := s.refresh(); again != first || same != edition || changed {
		t.Error("they are compiled again for a setting that is no script")
	}
	put(map[string]string{healthKey: script + "-- more\n"})
	second, other, changed := s.refresh()
	if second == first || second == nil || other == edition || !changed {
		t.Error("a change is not seen")
	}
	if assessor, text := s.get(); assessor != second || text != other {
		t.Error("get says something else")
	}
	put(nil)
	if assessor, _, changed := s.refresh(); assessor != nil || !changed {
		t.Error("scripts that are gone are still in force")
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
}

func TestAScriptThatCannotBeReadIsToldOfOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	set := NewSettings(func() {})
	set.configs[ConfigArgoCD] = map[string]string{"resource.customizations": "[not, a, map]"}
	s := newScripts(set, slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		s.refresh()
	}
	if n := strings.Count(log.String(), "is not in force"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}
