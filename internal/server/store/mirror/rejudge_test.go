package mirror_test

import (
	"encoding/json"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

// set is an ApplicationSet as an agent sends it, whose template has more than a project where there is a patch.
func set(name, project, patch string) agentapi.Item {
	spec := map[string]any{
		"generators": []any{map[string]any{"list": map[string]any{"elements": []any{map[string]any{"a": "b"}}}}},
		"template":   map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{"project": project}},
	}
	if patch != "" {
		spec["templatePatch"] = patch
	}
	body, _ := json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": map[string]any{"name": name, "namespace": "argocd"}, "spec": spec,
	})
	return agentapi.Item{Key: agentapi.Key{Kind: agentapi.ItemApplicationSet, Namespace: "argocd", Name: name}, Hash: agentapi.Hash(body), Body: body}
}

func TestASetOfAnEarlierRuleBelongsWhereThisProgramSaysFromItsStartOn(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		b.Tree(t)
		a, epoch := b.Agent(t, "prod", "org.acme")
		storetest.Must[api.Mapping](t)(b.SetMapping(ctx, api.Mapping{Agent: a.ID, ArgoProject: "shop", Project: "acme.shop"}))
		items := []agentapi.Item{set("plain", "shop", ""), set("patched", "shop", "spec: {project: other}")}
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, items, b.Clock.Now()))
		// An earlier program wrote both of them to the project that the template names.
		if _, err := b.Direct(t).ExecContext(ctx, "UPDATE item SET argo_project = 'shop', scope = 'project.acme.shop' WHERE kind = 'applicationset'"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Migrate(ctx, false); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]struct {
			scope   api.Scope
			project string
		}{"plain": {"project.acme.shop", "shop"}, "patched": {"org.acme", ""}} {
			got := storetest.Must[api.Item](t)(b.GetItem(ctx, api.KindApplicationSet, a.ID, "argocd", name))
			if got.Scope != want.scope || got.ArgoProject != want.project {
				t.Errorf("%s is of %q at %s, want %q at %s", name, got.ArgoProject, got.Scope, want.project, want.scope)
			}
		}
	})
}
