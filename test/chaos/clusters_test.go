package chaos

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// realm is one agent and the three clusters that it deploys to besides its own: limited has Roles in two namespaces only, steady has
// no trouble, and far hangs and dies.
type realm struct {
	t                    *testing.T
	ns                   string
	home                 kubernetes.Interface
	view                 *view
	limited, steady, far *site
	repo                 *testenv.GitRepo
	agent                *testenv.Process
	number               int // of the last commit
}

// farApplications are more than the agent works on at a time.
const farApplications, realmWorkers = 12, 4

func newRealm(t *testing.T) *realm {
	t.Helper()
	config := testenv.Cluster(t)
	r := &realm{t: t, ns: testenv.Namespace(t), repo: testenv.Git(t).NewRepo("fleet")}
	var err error
	if r.home, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	r.limited, r.steady, r.far = newSite(t, "limited", "shop-a", "shop-b", "other"), newSite(t, "steady", "shop"), newSite(t, "far", "shop")
	r.limited.limited, r.limited.namespaces = true, r.limited.namespaces[:2]
	r.far.way = newWay(t, r.far.config)
	for _, s := range []*site{r.limited, r.steady, r.far} {
		if err := s.admit(t.Context(), r.home, r.ns); err != nil {
			t.Fatal(err)
		}
	}
	r.view = newView(t, config, r.ns)
	r.commit("")
	r.agent = newAgent(t, testenv.Kubeconfig(t), "--namespace", r.ns, "--installation-id", r.ns, "--poll", "1s", "--workers", fmt.Sprint(realmWorkers))
	r.agent.Start()
	r.view.awaitApplicationKind(t)
	r.view.followApplications(t, r.ns)
	source := func(path string) map[string]any { return map[string]any{"repoURL": r.repo.URL(), "path": path} }
	createApplication(t, config, r.ns, "limited", source("limited"), map[string]any{"name": "limited", "namespace": "shop-a"}, true)
	createApplication(t, config, r.ns, "steady", source("steady"), map[string]any{"name": "steady", "namespace": "shop"}, true)
	for i := range farApplications {
		createApplication(t, config, r.ns, fmt.Sprintf("far-%d", i), source(fmt.Sprintf("far-%d", i)),
			map[string]any{"name": "far", "namespace": "shop"}, true)
	}
	return r
}

// commit changes what is deployed everywhere. stray is a further manifest of the limited cluster.
func (r *realm) commit(stray string) {
	r.number++
	told := func(name, namespace string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {value: \"%d\"}\n", name, namespace, r.number)
	}
	files := map[string]string{
		"limited/a.yaml": told("told", "shop-a"), "limited/b.yaml": told("told", "shop-b"), "limited/stray.yaml": stray,
		"steady/a.yaml": told("told", "shop"),
	}
	for i := range farApplications {
		files[fmt.Sprintf("far-%d/a.yaml", i)] = told(fmt.Sprintf("told-%d", i), "shop")
	}
	r.repo.Commit(files, fmt.Sprintf("commit %d", r.number))
}

// await waits until an object of a site is as it was committed last.
func (r *realm) await(s *site, name string, longest time.Duration) time.Duration {
	r.t.Helper()
	begun, want := time.Now(), fmt.Sprint(r.number)
	problem := s.view.await(r.t.Context(), longest, func(objects map[ref]object) string {
		have, _, _ := unstructured.NestedString(objects[ref{"ConfigMap", name}], "data", "value")
		if have != want {
			return fmt.Sprintf("%s of cluster %s is at %q, not at %s after %s", name, s.name, have, want, longest)
		}
		return ""
	})
	if problem != "" {
		r.t.Fatalf("%s\nthe end of the agent's log:\n%s", problem, r.agent.Tail())
	}
	return time.Since(begun)
}

// lands makes commits and waits for each in the two clusters without trouble.
func (r *realm) lands(when string) {
	r.t.Helper()
	const commits = 3
	var took []time.Duration
	for range commits {
		r.commit("")
		begun := time.Now()
		r.await(r.limited, "told", undelayed)
		r.await(r.steady, "told", undelayed)
		took = append(took, time.Since(begun).Round(time.Millisecond))
	}
	slices.Sort(took)
	r.t.Logf("%s: a commit is in the other two clusters after %s (median of %d)", when, took[commits/2], commits)
}

// allFar waits until all of the troubled cluster is as it was committed last.
func (r *realm) allFar(when string) {
	r.t.Helper()
	var longest time.Duration
	for i := range farApplications {
		longest = max(longest, r.await(r.far, fmt.Sprintf("told-%d", i), converged))
	}
	r.t.Logf("%s: the cluster itself is as committed after %s", when, longest.Round(time.Millisecond))
}

// condition waits until an Application has a condition with some words.
func (r *realm) condition(app string, words ...string) {
	r.t.Helper()
	problem := r.view.await(r.t.Context(), converged, func(objects map[ref]object) string {
		conditions, _, _ := unstructured.NestedSlice(objects[ref{"Application", app}], "status", "conditions")
		text := fmt.Sprint(conditions)
		for _, word := range words {
			if !strings.Contains(text, word) {
				return fmt.Sprintf("Application %s lacks %q in its conditions: %s", app, word, text)
			}
		}
		return ""
	})
	if problem != "" {
		r.t.Fatalf("%s\nthe end of the agent's log:\n%s", problem, r.agent.Tail())
	}
}

func TestOneAgentKeepsThreeClustersApart(t *testing.T) {
	r := newRealm(t)
	r.await(r.limited, "told", converged)
	r.await(r.steady, "told", converged)
	r.allFar("start")
	r.lands("all clusters answer")

	r.far.way.hang()
	r.lands("one cluster hangs")
	r.far.way.repair()
	r.allFar("it answers again")

	r.far.cluster.Kill()
	r.lands("one cluster is dead")
	r.far.cluster.Restart()
	r.allFar("it was started again")

	first := r.limited.account
	if err := r.limited.admit(t.Context(), r.home, r.ns); err != nil {
		t.Fatal(err)
	}
	r.lands("one cluster has another account")
	if by := lastWriter(r.limited.asked(t)); !strings.HasSuffix(by, ":"+r.limited.account) {
		t.Errorf("the last write is by %s, not by %s, which took the place of %s", by, r.limited.account, first)
	}

	r.commit("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stray, namespace: other}\n")
	r.condition("limited", "permits only namespaces shop-a, shop-b", "not other")
	r.checkInside()
	r.commit("")
	r.await(r.limited, "told", converged)
	r.await(r.steady, "told", converged) // what is deployed there now stays as it is

	r.forget(r.steady)
}

// lastWriter is the account that changed something last.
func lastWriter(asked []request) string {
	by := ""
	for i := range asked {
		if asked[i].writes() {
			by = asked[i].User.Username
		}
	}
	return by
}

// checkInside makes sure that the agent asked the limited cluster for nothing outside of its namespaces, by its audit log.
func (r *realm) checkInside() {
	r.t.Helper()
	written := map[string]int{}
	for _, a := range r.limited.asked(r.t) {
		inside := slices.Contains(r.limited.namespaces, a.Of.Namespace)
		switch {
		case a.writes() && !inside:
			r.t.Errorf("the agent asked to %s %s %s/%s, which is outside of %v", a.Verb, a.Of.Resource, a.Of.Namespace, a.Of.Name, r.limited.namespaces)
		case a.Of.Resource != "" && !inside && !strings.HasPrefix(a.Of.Resource, "selfsubject"):
			r.t.Errorf("the agent looked at %s, which is outside of %v", a.URI, r.limited.namespaces)
		case a.writes():
			written[a.Of.Namespace]++
		}
	}
	for _, namespace := range r.limited.namespaces {
		if written[namespace] == 0 {
			r.t.Errorf("the audit log has no write in namespace %s", namespace)
		}
	}
}

// forget deletes the Secret of a cluster, and makes sure that the agent deletes nothing there.
func (r *realm) forget(s *site) {
	r.t.Helper()
	before, err := s.client.CoreV1().ConfigMaps("shop").Get(r.t.Context(), "told", metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.home.CoreV1().Secrets(r.ns).Delete(r.t.Context(), s.name, metav1.DeleteOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.condition("steady", "no cluster is called")
	r.commit("")
	r.await(r.limited, "told", undelayed)
	after, err := s.client.CoreV1().ConfigMaps("shop").Get(r.t.Context(), "told", metav1.GetOptions{})
	if err != nil || after.UID != before.UID || after.ResourceVersion != before.ResourceVersion {
		r.t.Errorf("an object of a cluster whose Secret is gone has changed: %v", err)
	}
	for _, a := range s.asked(r.t) {
		if strings.HasPrefix(a.Verb, "delete") {
			r.t.Errorf("the agent asked to %s %s %s/%s", a.Verb, a.Of.Resource, a.Of.Namespace, a.Of.Name)
		}
	}
}
