package inspect

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAPatchHoldsWhatChangedAndNothingElse(t *testing.T) {
	t.Parallel()
	from := map[string]any{"spec": map[string]any{"paused": true, "replicas": int64(3)}, "status": map[string]any{"abort": true}}
	to := map[string]any{"spec": map[string]any{"replicas": int64(5)}, "status": map[string]any{}}
	got, err := MergePatch(from, to)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"spec": map[string]any{"paused": nil, "replicas": int64(5)}, "status": map[string]any{"abort": nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if same, err := MergePatch(from, from); err != nil || len(same) != 0 {
		t.Errorf("nothing changed, and the patch is %v, %v", same, err)
	}
}

func TestWhatAnActionChangesOfTheStatusIsApartFromTheRest(t *testing.T) {
	t.Parallel()
	rollout := func(spec, status any) map[string]any {
		return map[string]any{
			"apiVersion": "example.com/v1", "kind": "Rollout", "metadata": map[string]any{"name": "web", "namespace": "shop"},
			"spec": spec, "status": status,
		}
	}
	for _, c := range []struct {
		name    string
		changed map[string]any
		want    ActionPatch
	}{
		{"nothing", rollout("a", "a"), ActionPatch{Rest: map[string]any{}, Whole: map[string]any{}}},
		{"spec", rollout("b", "a"), ActionPatch{Rest: map[string]any{"spec": "b"}, Whole: map[string]any{"spec": "b"}}},
		{"status", rollout("a", "b"), ActionPatch{
			Status: map[string]any{"status": "b"}, Rest: map[string]any{}, Whole: map[string]any{"status": "b"},
		}},
		{"both", rollout("b", "b"), ActionPatch{
			Status: map[string]any{"status": "b"}, Rest: map[string]any{"spec": "b"}, Whole: map[string]any{"spec": "b", "status": "b"},
		}},
		{"a status that goes", rollout("a", nil), ActionPatch{
			Status: map[string]any{"status": nil}, Rest: map[string]any{}, Whole: map[string]any{"status": nil},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := NewActionPatch(rollout("a", "a"), c.changed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("patches (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnActionPatchesNoObjectButItsOwn(t *testing.T) {
	t.Parallel()
	live := configMap("settings", "1")
	for name, change := range map[string]map[string]any{
		"kind": {"kind": "Secret"}, "version": {"apiVersion": "v2"},
		"name":      {"metadata": map[string]any{"name": "others", "namespace": "shop"}},
		"namespace": {"metadata": map[string]any{"name": "settings", "namespace": "bank"}},
		"identity":  {"metadata": nil},
	} {
		changed := maps.Clone(live)
		maps.Copy(changed, change)
		if _, err := NewActionPatch(live, changed); !errors.Is(err, ErrOtherObject) {
			t.Errorf("another %s: the error is %v", name, err)
		}
	}
}
