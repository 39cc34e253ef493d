package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// discovered is what a cluster answers to discovery, in part.
func discovered() []*metav1.APIResourceList {
	of := func(group string, resources ...metav1.APIResource) *metav1.APIResourceList {
		return &metav1.APIResourceList{GroupVersion: group, APIResources: resources}
	}
	named := func(plural, kind string) metav1.APIResource {
		return metav1.APIResource{Name: plural, Kind: kind, Namespaced: true, Verbs: metav1.Verbs{"create", "get", "list", "watch"}}
	}
	node := named("nodes", "Node")
	node.Namespaced = false
	review := named("localsubjectaccessreviews", "LocalSubjectAccessReview")
	review.Verbs = metav1.Verbs{"create"}
	return []*metav1.APIResourceList{
		of("v1", named("pods", "Pod"), named("pods/log", "Pod"), named("configmaps", "ConfigMap"), named("secrets", "Secret"),
			named("events", "Event"), node),
		of("apps/v1", named("deployments", "Deployment"), named("deployments/status", "Deployment"), named("replicasets", "ReplicaSet")),
		of("argoproj.io/v1alpha1", named("rollouts", "Rollout"), named("rollouts/status", "Rollout")),
		of("authorization.k8s.io/v1", review),
	}
}

// appProject permits destinations, and kinds where there are some.
func appProject(name string, destinations []string, kinds ...string) *v1alpha1.AppProject {
	p := &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, text := range destinations {
		server, namespace, _ := strings.Cut(text, " ")
		p.Spec.Destinations = append(p.Spec.Destinations, v1alpha1.ApplicationDestination{Server: server, Namespace: namespace})
	}
	for _, text := range kinds {
		group, kind, _ := strings.Cut(text, "/")
		p.Spec.NamespaceResourceWhitelist = append(p.Spec.NamespaceResourceWhitelist, v1alpha1.GroupKind{Group: group, Kind: kind})
	}
	return p
}

// printed are the rights in a namespace as lines.
func printed(t *testing.T, namespace string, terminal bool, projects ...*v1alpha1.AppProject) []string {
	t.Helper()
	rules := make([]*project.Rules, 0, len(projects))
	for _, p := range projects {
		r, err := project.New(p)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	var out []string
	for _, r := range rights(rules, namespace, servedKinds(discovered()), terminal) {
		out = append(out, fmt.Sprintf("%s %v %v", r.APIGroups[0], r.Resources, r.Verbs))
	}
	return out
}

func TestRightsAreThoseThatTheAgentUses(t *testing.T) {
	t.Parallel()
	const own = v1alpha1.InClusterServer
	for _, test := range []struct {
		name     string
		terminal bool
		projects []*v1alpha1.AppProject
		want     []string
	}{
		{"another namespace", false, []*v1alpha1.AppProject{appProject("p", []string{own + " elsewhere"})}, nil},
		{"another cluster", false, []*v1alpha1.AppProject{appProject("p", []string{"https://10.0.0.1 shop"})}, nil},
		{"one kind", false, []*v1alpha1.AppProject{appProject("p", []string{own + " shop"}, "/ConfigMap")}, []string{
			" [configmaps] [create delete get list patch watch]", " [events] [get list]",
		}},
		{"what it owns", true, []*v1alpha1.AppProject{appProject("p", []string{own + " shop"}, "apps/Deployment")}, []string{
			" [pods] [get list watch]", "apps [deployments] [create delete get list patch watch]", "apps [replicasets] [get list watch]",
			" [events] [get list]", " [pods/log] [get]", " [pods/exec] [create]",
		}},
		{"of two projects both", false, []*v1alpha1.AppProject{
			appProject("p", []string{own + " shop"}, "/ConfigMap"), appProject("q", []string{"* sh*"}, "/Secret"),
		}, []string{" [configmaps secrets] [create delete get list patch watch]", " [events] [get list]"}},
		{"a kind with a controller of its own", false, []*v1alpha1.AppProject{appProject("p", []string{own + " shop"}, "argoproj.io/*")}, []string{
			" [pods] [get list watch]", "apps [deployments replicasets] [get list watch]",
			"argoproj.io [rollouts] [create delete get list patch watch]", "argoproj.io [rollouts/status] [patch]",
			" [events] [get list]", " [pods/log] [get]",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, printed(t, "shop", test.terminal, test.projects...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAProjectDeniesIsNoRight(t *testing.T) {
	t.Parallel()
	p := appProject("p", []string{"* *"})
	p.Spec.NamespaceResourceBlacklist = []v1alpha1.GroupKind{{Kind: "Secret"}}
	for _, line := range printed(t, "shop", false, p) {
		if strings.Contains(line, "secrets") || strings.Contains(line, "*") || strings.Contains(line, "nodes") {
			t.Errorf("%s", line)
		}
	}
}

func TestNamespacesArePermittedByNameOrGiven(t *testing.T) {
	t.Parallel()
	p := appProject("p", []string{v1alpha1.InClusterServer + " shop", v1alpha1.InClusterServer + " team-*", "https://10.0.0.1 far"})
	r, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	got, patterns := settled([]*v1alpha1.AppProject{p}, []*project.Rules{r}, []string{"team-a", "other", "shop"})
	if diff := cmp.Diff([]string{"shop", "team-a"}, got); diff != "" || !patterns {
		t.Errorf("patterns %t (-want +got):\n%s", patterns, diff)
	}
}
