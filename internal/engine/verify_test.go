package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
)

// trusting trusts the revisions that it names.
type trusting struct {
	signed []string
	asked  []trust.Claim
}

func (s *trusting) Judge(_ context.Context, claim trust.Claim) (string, error) {
	s.asked = append(s.asked, claim)
	if !slices.Contains(s.signed, claim.Revision) {
		return "", errors.New("GIT/GPG: Failed verifying revision " + claim.Revision + " by 'Ann': unsigned (key_id=); sign it")
	}
	return "OpenPGP key D56C4FCA57A46444 of Ann", nil
}

// signedBed is an automated Application whose project asks for signatures, with a and b deployed at r1.
func signedBed(t *testing.T) (*bed, *trusting) {
	t.Helper()
	b := newBed(t, nil)
	b.automate()
	b.rules = permissive(t, func(p *v1alpha1.AppProject) {
		p.Spec.SignatureKeys = []v1alpha1.SignatureKey{{KeyID: "D56C4FCA57A46444"}}
	})
	trusted := &trusting{signed: []string{"r1"}}
	b.engine.Trust = trusted
	b.commit("r1", two)
	res := b.turn()
	if res.Err != nil || !b.has("a") || !b.has("b") ||
		condition(res, v1alpha1.ConditionVerified) != "r1 is signed by OpenPGP key D56C4FCA57A46444 of Ann" {
		t.Fatalf("%v, %+v", res, res.Conditions)
	}
	return b, trusted
}

const two = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {v: good}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]`

func TestWhatIsNotVerifiedIsNotSyncedAndDeletesNothing(t *testing.T) {
	t.Parallel()
	b, trusted := signedBed(t)
	b.commit("r2", bad) // a is another one, and b is gone
	for _, op := range []*v1alpha1.Operation{nil, {Sync: &v1alpha1.SyncOperation{Prune: true}}, {Sync: &v1alpha1.SyncOperation{Revision: "r2"}}} {
		b.app.Operation = op
		res := b.turn()
		if res.Err == nil || res.Err.Stage != StageVerify || !b.has("b") {
			t.Fatalf("%+v: %v", op, res)
		}
		if op == nil && (res.Sync != v1alpha1.SyncStatusUnknown || !strings.Contains(condition(res, v1alpha1.ConditionComparisonError), "unsigned (key_id=)") ||
			condition(res, v1alpha1.ConditionVerified) != "") {
			t.Errorf("%+v", res.Conditions)
		}
		if op != nil && (res.Operation == nil || res.Operation.Phase != v1alpha1.OperationError || !strings.Contains(res.Operation.Message, "Failed verifying revision r2")) {
			t.Errorf("%+v", res.Operation)
		}
	}
	if n := len(unverified(t, b)); n != 0 {
		t.Errorf("%d objects are shown", n)
	}
	trusted.signed = append(trusted.signed, "r2") // its key is trusted now
	res := b.turn()
	if res.Err != nil || res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded {
		t.Fatalf("%v", res)
	}
	b.await("b is pruned", func() bool { return !b.has("b") })
	trusted.signed = nil // no key is trusted any more
	if res = b.turn(); res.Err == nil || !b.has("a") {
		t.Errorf("%v", res)
	}
}

// unverified returns what is shown of the Application.
func unverified(t *testing.T, b *bed) []string {
	t.Helper()
	w, err := b.engine.Manifests(t.Context(), b.app)
	if err == nil {
		t.Error("what is not verified is rendered")
	}
	out := make([]string, 0, len(w.Objects))
	for _, o := range w.Objects {
		out = append(out, o.Key.String())
	}
	return out
}

func TestWithoutTrustNothingThatAsksForSignaturesIsSynced(t *testing.T) {
	t.Parallel()
	b, _ := signedBed(t)
	b.engine.Trust = nil
	if res := b.turn(); res.Err == nil || condition(res, v1alpha1.ConditionInvalidSpecError) == "" {
		t.Errorf("%v, %+v", res, res.Conditions)
	}
}

func TestManifestsOfAnOperationAreRefusedWhereSignaturesAreAskedFor(t *testing.T) {
	t.Parallel()
	b, _ := signedBed(t)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Manifests: []string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"mine"}}`,
	}}}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationError || b.has("mine") ||
		!strings.HasPrefix(res.Operation.Message, "Cannot use local manifests when source integrity is enforced") {
		t.Errorf("%v, %+v", res, res.Operation)
	}
	if res = b.turn(); res.Err != nil || res.Sync != v1alpha1.SyncStatusSynced {
		t.Errorf("it leaves something behind: %v", res)
	}
}

func TestACommitThatIsNotTrustedEndsNoRollback(t *testing.T) {
	t.Parallel()
	b, trusted := signedBed(t)
	trusted.signed = append(trusted.signed, "r2", "r4")
	b.commit("r2", bad)
	if res := b.turn(); res.Operation == nil {
		t.Fatal(res)
	}
	raw, err := json.Marshal(v1alpha1.Pin{ID: 1, Revisions: []string{"r1"}, By: "ann", Quarantine: v1alpha1.Quarantine{Revisions: []string{"r2"}}})
	if err != nil {
		t.Fatal(err)
	}
	b.app.Annotations = map[string]string{v1alpha1.AnnotationRollback: string(raw)}
	if res := b.turn(); res.Operation == nil || res.Operation.SyncResult.Revision != "r1" {
		t.Fatalf("%v", res)
	}
	b.commit("r3", fine)
	res := b.turn()
	if res.Err != nil || res.Unpinned != nil || res.Operation != nil || !strings.Contains(condition(res, v1alpha1.ConditionPinned), "Failed verifying revision r3") {
		t.Fatalf("%v: %+v", res, res.Conditions)
	}
	b.commit("r4", fine)
	if res = b.turn(); res.Unpinned == nil || res.Operation == nil || res.Operation.SyncResult.Revision != "r4" {
		t.Fatalf("%v: %+v", res, res.Conditions)
	}
	trusted.signed = nil
	b.app.Annotations = map[string]string{v1alpha1.AnnotationRollback: string(raw)}
	if res = b.turn(); res.Err == nil || res.Err.Stage != StageVerify {
		t.Errorf("a rollback to what is not trusted: %v", res)
	}
}

// base is what a source needs from another repository.
type base struct {
	*bed
	at string // its commit
}

func (b *base) Needs(context.Context, render.Request, string) ([]need.Need, error) {
	return []need.Need{{Kind: need.Git, URL: "https://git.example/base", Revision: "main", By: "resource of kustomization.yaml"}}, nil
}

func (b *base) Locate(_ string, n need.Need) (need.Need, error) { return n, nil }

func (b *base) FetchNeed(context.Context, string, need.Need, time.Time) (Fetched, error) {
	return Fetched{Tree: treeAt{revision: b.at}, Scope: "s"}, nil
}

func (b *base) Heed(*v1alpha1.Application, []supply.Needed, bool) {}

func TestARemoteBaseThatIsNotVerifiedIsNotSyncedAndDeletesNothing(t *testing.T) {
	t.Parallel()
	b, trusted := signedBed(t)
	from := &base{bed: b, at: "base1"}
	b.engine.Needs, b.engine.Renderer = from, from
	trusted.signed = append(trusted.signed, "base1", "r2")
	res := b.turn()
	if want := "r1 is signed by OpenPGP key D56C4FCA57A46444 of Ann; base1 is signed by OpenPGP key D56C4FCA57A46444 of Ann"; res.Err != nil ||
		condition(res, v1alpha1.ConditionVerified) != want {
		t.Fatalf("%v, %+v", res, res.Conditions)
	}
	from.at = "base2"
	b.commit("r2", bad) // b is gone
	res = b.turn()
	if res.Err == nil || res.Err.Stage != StageVerify || res.Sync != v1alpha1.SyncStatusUnknown || !b.has("b") {
		t.Fatalf("%v", res)
	}
	if got := condition(res, v1alpha1.ConditionComparisonError); !v1alpha1.Unverified(got) || !strings.Contains(got, "revision base2") ||
		!strings.HasSuffix(got, "(resource of kustomization.yaml)") {
		t.Errorf("%s", got)
	}
	trusted.signed = append(trusted.signed, "base2")
	if res = b.turn(); res.Err != nil || res.Operation == nil {
		t.Fatalf("%v", res)
	}
	b.await("b is pruned", func() bool { return !b.has("b") })
}
