package live

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestAKindIsReadAtTheVersionThatTheClusterPrefers(t *testing.T) {
	t.Parallel()
	b := newBed(t, testenv.Cluster(t), "default")
	for range 20 { // discovery returns versions in another order each time
		b.live.ForgetKinds()
		res, err := b.live.Find(t.Context(), object.Kind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if res.Version != "v2" || len(res.Versions) != 2 {
			t.Fatalf("it is read at %s of %v", res.Version, res.Versions)
		}
	}
}

func TestThePreferredVersionComesFirstAndTheOthersInTheOrderOfTheCluster(t *testing.T) {
	t.Parallel()
	version := func(v string) metav1.GroupVersionForDiscovery {
		return metav1.GroupVersionForDiscovery{GroupVersion: "a.example.com/" + v, Version: v}
	}
	groups := []*metav1.APIGroup{{
		Name: "a.example.com", PreferredVersion: version("v1"),
		Versions: []metav1.GroupVersionForDiscovery{version("v2beta1"), version("v1"), version("v1alpha1")},
	}}
	for _, order := range [][]string{{"v1alpha1", "v1", "v2beta1"}, {"v2beta1", "v1alpha1", "v1"}, {"v1", "v2beta1", "v1alpha1"}} {
		var lists []*metav1.APIResourceList
		for _, v := range order {
			lists = append(lists, &metav1.APIResourceList{GroupVersion: "a.example.com/" + v})
		}
		byPreference(groups, lists)
		for i, want := range []string{"v1", "v2beta1", "v1alpha1"} {
			if got := lists[i].GroupVersion; got != "a.example.com/"+want {
				t.Errorf("%v: %s is at %d", order, got, i)
			}
		}
	}
}
