package engine

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	settingAlone = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}]`
	withSecret   = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}},
{apiVersion: v1, kind: Secret, metadata: {name: b}, stringData: {a: b}}]`
	withMore = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}},
{apiVersion: v1, kind: Secret, metadata: {name: b}, stringData: {a: b}},
{apiVersion: v1, kind: Secret, metadata: {name: h, annotations: {argocd.argoproj.io/hook: PreSync}}},
{apiVersion: nowhere.example.com/v1, kind: Unheard, metadata: {name: u}}]`
)

// exclude opens the cluster of a bed again, with other settings.
func (b *bed) exclude(settings map[string]string) {
	b.t.Helper()
	excluded, err := diff.ParseExclusions(settings)
	if err != nil {
		b.t.Fatal(err)
	}
	cfg := testenv.Cluster(b.t)
	state, err := live.Open(b.t.Context(), live.Config{
		Server: cfg.Host, REST: cfg, Log: slog.New(slog.DiscardHandler), Notify: func(live.Event) {}, Excluded: excluded,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(state.Close)
	b.target.Live = state
}

func TestObjectsOfExcludedKindsAreLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.exclude(map[string]string{diff.KeyExclusions: "[{apiGroups: [''], kinds: [Secret]}, {apiGroups: ['*.example.com']}]"})
	b.commit("r1", withMore)
	b.automate()
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || res.Sync != v1alpha1.SyncStatusSynced || len(res.Resources) != 1 {
		t.Fatalf("%v, %+v, %+v", res, res.Operation, res.Resources)
	}
	said := condition(res, v1alpha1.ConditionExcludedResourceWarning)
	for _, name := range []string{"Secret b", "Secret h", "Unheard.nowhere.example.com u", "resource.exclusions"} {
		if !strings.Contains(said, name) {
			t.Errorf("%s is not in %q", name, said)
		}
	}
	secret := object.Key{Kind: "Secret", Namespace: b.app.Spec.Destination.Namespace, Name: "b"}
	reached, err := b.target.Live.Find(t.Context(), secret.GroupKind(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.target.Client.Get(t.Context(), reached, secret); err == nil {
		t.Error("it was made")
	}
	if b.target.Live.Version(secret.GroupKind()) != "" || b.target.Live.Watch(t.Context(), reached) == nil {
		t.Error("it is watched")
	}

	// Without the settings it is made, and stays when they come back, whatever Git says then.
	b.exclude(nil)
	b.commit("r2", withSecret)
	if res := b.turn(); res.Sync != v1alpha1.SyncStatusSynced || len(res.Resources) != 2 || condition(res, v1alpha1.ConditionExcludedResourceWarning) != "" {
		t.Fatalf("%v, %+v", res, res.Resources)
	}
	b.exclude(map[string]string{diff.KeyInclusions: "[{apiGroups: [''], kinds: [ConfigMap]}]"})
	b.commit("r3", settingAlone)
	if res := b.turn(); res.Sync != v1alpha1.SyncStatusSynced || len(res.Resources) != 1 {
		t.Errorf("%v, %+v", res, res.Resources)
	}
	if _, err := b.engine.Remove(t.Context(), Request{App: b.app}, false); err != nil {
		t.Error(err)
	}
	if _, err := b.target.Client.Get(t.Context(), reached, secret); err != nil {
		t.Errorf("it is gone: %v", err)
	}
}

func TestSettingsThatExcludeTakeEffectWithoutACommit(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", good)
	b.automate()
	if res := b.turn(); res.Sync != v1alpha1.SyncStatusSynced || len(res.Resources) != 1 {
		t.Fatalf("%v, %+v", res, res.Resources)
	}
	if !b.engine.Unaffected(t.Context(), b.app) {
		t.Fatal("nothing has changed")
	}
	b.exclude(map[string]string{diff.KeyExclusions: "[{kinds: [ConfigMap]}]"})
	if b.engine.Unaffected(t.Context(), b.app) {
		t.Error("other settings are a change")
	}
	if res := b.turn(); len(res.Resources) != 0 || condition(res, v1alpha1.ConditionExcludedResourceWarning) == "" {
		t.Errorf("%v, %+v", res, res.Resources)
	}
	b.exclude(nil)
	if res := b.turn(); len(res.Resources) != 1 || res.Resources[0].Status != v1alpha1.SyncStatusSynced || res.Operation != nil {
		t.Errorf("it was there all the time: %v, %+v, %+v", res, res.Resources, res.Operation)
	}
}
