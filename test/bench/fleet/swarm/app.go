package swarm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// Namespace is where every simulated agent has its Applications.
const Namespace = "argocd"

// Teams is how many teams there are. A team is a label, and an Argo project of each agent.
const Teams = 5

// begin is when everything in the corpus happened: the same in every run.
var begin = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant that cannot be one

// Team is the name of a team, and of its Argo project.
func Team(i int) string { return []string{"payments", "search", "shop", "platform", "data"}[i%Teams] }

// Services are what Applications are named by; a search finds the same part of them everywhere.
func service(i int) string {
	return []string{"api", "web", "worker", "gateway", "billing", "catalog", "cart", "mail", "auth", "report"}[i%10]
}

// AppName is the name of an Application of any agent.
func AppName(i int) string { return fmt.Sprintf("%s-%s-%03d", Team(i), service(i/Teams), i) }

// draw picks by weight.
func draw[T any](rng *rand.Rand, weights []int, values []T) T {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := rng.IntN(sum)
	for i, w := range weights {
		if n < w {
			return values[i]
		}
		n -= w
	}
	return values[0]
}

// application writes an Application as an agent reports it: the same one for the same numbers. A version changes what a
// reconciliation changes: revision, sync, health, operation.
func application(seed uint64, agent, index, version int) ([]byte, error) {
	rng := rand.New(rand.NewPCG(seed, uint64(agent)<<32|uint64(index)))
	now := rand.New(rand.NewPCG(seed^uint64(version+1), uint64(agent)<<32|uint64(index)))
	name, team := AppName(index), Team(index)
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(begin.Add(d)) }
	revision := func(v int) string {
		return fmt.Sprintf("%016x%016x%08x", seed+uint64(v), uint64(agent)*7919+uint64(index), v)
	}
	source := v1alpha1.ApplicationSource{
		RepoURL: fmt.Sprintf("https://git.example.com/%s/deploy-%d.git", team, rng.IntN(8)), Path: "apps/" + name + "/overlays/production",
		TargetRevision: "main",
	}
	destination := v1alpha1.ApplicationDestination{Server: v1alpha1.InClusterServer, Namespace: name}
	health := draw(now, []int{90, 4, 3, 1, 1, 1},
		[]v1alpha1.HealthStatusCode{"Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"})
	synced := draw(now, []int{92, 7, 1}, []v1alpha1.SyncStatusCode{"Synced", "OutOfSync", "Unknown"})
	on := true
	app := v1alpha1.Application{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindApplication},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: Namespace, UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", agent, index)),
			ResourceVersion: fmt.Sprint(100000 + index + 1000*version), Generation: int64(2 + version),
			CreationTimestamp: at(-time.Duration(rng.IntN(10000)) * time.Hour),
			Labels: map[string]string{
				"team": team, "tier": draw(rng, []int{1, 3, 6}, []string{"critical", "standard", "batch"}),
				"app.kubernetes.io/name": service(index / Teams), "environment": []string{"production", "staging", "test"}[agent%3],
			},
			Annotations: map[string]string{
				"example.com/owner":   team + "@example.com",
				"example.com/runbook": "https://wiki.example.com/runbooks/" + name,
			},
			Finalizers: []string{"resources-finalizer.argocd.argoproj.io"},
		},
		Spec: v1alpha1.ApplicationSpec{
			Source: &source, Destination: destination, Project: team,
			SyncPolicy: &v1alpha1.SyncPolicy{
				Automated:   &v1alpha1.AutomatedSync{Prune: &on, SelfHeal: &on},
				SyncOptions: v1alpha1.SyncOptions{"CreateNamespace=true", "ServerSideApply=true"},
			},
		},
	}
	status := &app.Status
	images := []string{}
	var results []v1alpha1.ResourceResult
	for i := range 6 + rng.IntN(6) {
		r := resource(name, i)
		r.Status = v1alpha1.SyncStatusCode("Synced")
		if i == 0 {
			r.Status, r.Health = synced, &v1alpha1.HealthStatus{Status: health}
		} else if r.Group == "apps" {
			r.Health = &v1alpha1.HealthStatus{Status: "Healthy"}
		}
		status.Resources = append(status.Resources, r)
		if i < 4 {
			results = append(results, v1alpha1.ResourceResult{
				Group: r.Group, Version: r.Version, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Status: "Synced",
				Message: r.Name + " serverside-applied", HookPhase: "Succeeded", SyncPhase: "Sync",
			})
		}
		if r.Kind == "Deployment" {
			images = append(images, fmt.Sprintf("registry.example.com/%s/%s:v1.%d.%d", team, name, version, i))
		}
	}
	status.Sync = v1alpha1.SyncStatus{
		Status: synced, Revision: revision(version), ComparedTo: v1alpha1.ComparedTo{Source: source, Destination: destination},
	}
	status.Health = v1alpha1.HealthStatus{Status: health}
	status.SourceType, status.Summary = "Kustomize", v1alpha1.ApplicationSummary{Images: images}
	for i := range 2 + rng.IntN(3) {
		started := at(time.Duration(i) * 26 * time.Hour)
		status.History = append(status.History, v1alpha1.RevisionHistory{
			ID: int64(i), Revision: revision(-i), Source: source, DeployStartedAt: &started,
			DeployedAt:  at(time.Duration(i)*26*time.Hour + 3*time.Second),
			InitiatedBy: v1alpha1.OperationInitiator{Automated: true},
		})
	}
	ran := time.Duration(version)*time.Minute + time.Duration(rng.IntN(86400))*time.Second
	finished := at(ran + 4*time.Second)
	status.ReconciledAt = &finished
	status.OperationState = &v1alpha1.OperationState{
		Operation: v1alpha1.Operation{
			Sync: &v1alpha1.SyncOperation{Revision: revision(version), Prune: true}, InitiatedBy: v1alpha1.OperationInitiator{Automated: true},
		},
		Phase: draw(now, []int{96, 4}, []v1alpha1.OperationPhase{"Succeeded", "Failed"}), Message: "successfully synced (all tasks run)",
		StartedAt: at(ran), FinishedAt: &finished,
		SyncResult: &v1alpha1.SyncOperationResult{Revision: revision(version), Source: source, Resources: results},
	}
	return json.Marshal(app)
}

// resource is one of the objects that every Application has.
func resource(app string, i int) v1alpha1.ResourceStatus {
	kinds := []v1alpha1.ResourceStatus{
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Version: "v1", Kind: "Service"},
		{Version: "v1", Kind: "ConfigMap"},
		{Version: "v1", Kind: "ServiceAccount"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	}
	r := kinds[i%len(kinds)]
	r.Namespace, r.Name = app, app
	if i >= len(kinds) {
		r.Name = fmt.Sprintf("%s-%d", app, i)
	}
	return r
}
