package place

import (
	"log/slog"
	"testing"
)

func TestSettingsAboutDifferencesAreReadAgainWhenTheyChange(t *testing.T) {
	t.Parallel()
	config := map[string]string{}
	d := NewDifferences(func() map[string]string { return config }, slog.New(slog.DiscardHandler))
	first := d.Get()
	config = map[string]string{"url": "https://example.com", "resource.customizations.health.apps_Deployment": "x"}
	if now, changed := d.Refresh(); changed || now != first {
		t.Error("another setting counts")
	}
	config = map[string]string{"resource.customizations.ignoreDifferences.all": "jsonPointers: [/spec/replicas, wrong]"}
	now, changed := d.Refresh()
	if !changed || now == first || d.Get() != now {
		t.Error("the change was not seen, or seen twice")
	}
	if _, again := d.Refresh(); again {
		t.Error("the same setting counts as a change")
	}
}
