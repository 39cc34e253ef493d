package beside

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestWhoseAnObjectIsFollowsTheStatusInEachCluster(t *testing.T) {
	t.Parallel()
	s := newStatusObjects()
	web := object.Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	api := object.Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"}
	here, there := deployedIn{&s, "here"}, deployedIn{&s, "there"}
	owner := func(in deployedIn, key object.Key, want string) {
		t.Helper()
		rec, tracked, _ := in.Get(key)
		if rec.App != want || tracked != (want != "") {
			t.Errorf("%s in %s is of %q, not %q", key, in.cluster, rec.App, want)
		}
	}
	if !s.put("one", owned{"here", []object.Key{web, api}}) || s.put("one", owned{"here", []object.Key{web, api}}) {
		t.Error("the first time is news, the second is not")
	}
	owner(here, web, "one")
	owner(there, web, "")
	if len(here.Owned("one")) != 2 || len(there.Owned("one")) != 0 {
		t.Errorf("it has %d here and %d there", len(here.Owned("one")), len(there.Owned("one")))
	}
	s.put("two", owned{"here", []object.Key{web}}) // the last one that says so
	s.put("one", owned{"there", []object.Key{api}})
	owner(here, web, "two")
	owner(here, api, "")
	owner(there, api, "one")
	s.put("two", owned{})
	owner(here, web, "")
}

func TestADeletionIsToldOfWhatGoesWithItsObjectsOnly(t *testing.T) {
	t.Parallel()
	app := func(uid, finalizer string, leaving bool, resources ...string) *v1alpha1.Application {
		out := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "web", UID: types.UID(uid)}}
		if finalizer != "" {
			out.Finalizers = []string{finalizer}
		}
		if leaving {
			out.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		}
		for _, r := range resources {
			out.Status.Resources = append(out.Status.Resources, v1alpha1.ResourceStatus{Kind: "ConfigMap", Name: r})
		}
		return out
	}
	const finalizer = v1alpha1.FinalizerResources
	d := NewArgoCD(alone())
	steps := func(all ...*v1alpha1.Application) *v1alpha1.Application {
		var old, gone *v1alpha1.Application
		for _, fresh := range all {
			gone = d.left(old, fresh)
			old = fresh
		}
		return gone
	}
	gone := steps(app("1", finalizer, false, "a", "b"), app("1", finalizer, true, "a", "b"), app("1", finalizer, true, "b"), app("1", "", true), nil)
	if gone == nil || len(gone.Status.Resources) != 2 {
		t.Errorf("with its objects: %+v", gone)
	}
	if gone := steps(app("2", "", false, "a"), nil); gone != nil {
		t.Errorf("alone: %+v", gone)
	}
	// The end of the one before was missed; this one goes alone.
	steps(app("3", finalizer, true, "a"))
	if gone := steps(app("4", "", false, "a"), nil); gone != nil {
		t.Errorf("alone, after one of its name: %+v", gone)
	}
}
