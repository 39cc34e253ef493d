package swarm

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// Big is the name of the Application of each agent that has very many objects.
const Big = "big"

// bigUnit is how many nodes of a tree one workload of Big makes: five objects, a ReplicaSet and four pods.
const bigUnit = 10

// big writes an Application whose tree has about so many nodes.
func big(seed uint64, agent, nodes int) ([]byte, error) {
	raw, err := application(seed, agent, 0, 0)
	if err != nil {
		return nil, err
	}
	var app v1alpha1.Application
	if err := json.Unmarshal(raw, &app); err != nil {
		return nil, fmt.Errorf("read Application: %w", err)
	}
	app.Name, app.UID = Big, types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", agent, 0xb16))
	app.Status.Resources = nil
	for unit := range max(1, nodes/bigUnit) {
		for i := range bigUnit / 2 {
			r := resource(Big, i)
			r.Name, r.Status = fmt.Sprintf("%s-%04d", service(unit), unit), "Synced"
			if r.Group == "apps" {
				r.Health = &v1alpha1.HealthStatus{Status: v1alpha1.HealthHealthy}
			}
			app.Status.Resources = append(app.Status.Resources, r)
		}
	}
	return json.Marshal(app)
}

// looks answers what people ask about an Application: as a cluster would in which it is deployed.
func (a *agent) looks() map[agentapi.Kind]link.Executor {
	nothing := func(answer any) link.Executor {
		return func(context.Context, agentapi.Command) (any, error) { return answer, nil }
	}
	return map[agentapi.Kind]link.Executor{
		agentapi.KindTree: func(_ context.Context, cmd agentapi.Command) (any, error) {
			roots, err := a.tree(cmd)
			return api.TreeAnswer{Items: roots}, err
		},
		agentapi.KindManifests: func(_ context.Context, cmd agentapi.Command) (any, error) {
			roots, err := a.tree(cmd)
			out := api.ManifestsAnswer{Items: []json.RawMessage{}}
			for _, n := range roots {
				out.Items = append(out.Items, manifest(n))
			}
			return out, err
		},
		agentapi.KindResourceGet: func(_ context.Context, cmd agentapi.Command) (any, error) {
			in, err := read[struct {
				Resource api.ResourceRef `json:"resource"`
			}](cmd)
			if err != nil {
				return nil, err
			}
			r := in.Resource
			raw := manifest(&api.TreeNode{Group: r.Group, Version: r.Version, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
			return api.ResourceState{Live: raw, Desired: raw}, nil
		},
		agentapi.KindDiff:            nothing(api.DiffAnswer{Items: []api.ObjectDiff{}}),
		agentapi.KindResourceActions: nothing(api.ResourceActions{Actions: []api.ResourceActionInfo{}}),
		agentapi.KindLinks:           nothing(api.Links{Links: []api.Link{}}),
		agentapi.KindResourceEvents:  nothing(api.ResourceEvents{Events: []api.ResourceEvent{}}),
	}
}

func manifest(n *api.TreeNode) json.RawMessage {
	version := n.Version
	if version == "" {
		version = "v1"
	}
	if n.Group != "" {
		version = n.Group + "/" + version
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":%q}}`, version, n.Kind, n.Name, n.Namespace)
}

// found is the Application that a command is about.
func (a *agent) found(cmd agentapi.Command) (*v1alpha1.Application, error) {
	body := a.items.Body(agentapi.Key{Kind: agentapi.ItemApplication, Namespace: cmd.Target.Namespace, Name: cmd.Target.Name})
	if body == nil {
		return nil, &agentapi.Error{Code: agentapi.CodeNotFound, Message: "there is no such application"}
	}
	var app v1alpha1.Application
	if err := json.Unmarshal(body, &app); err != nil {
		return nil, fmt.Errorf("read Application: %w", err)
	}
	return &app, nil
}

// tree is the tree of an Application: below each Deployment a ReplicaSet with pods.
func (a *agent) tree(cmd agentapi.Command) ([]*api.TreeNode, error) {
	app, err := a.found(cmd)
	if err != nil {
		return nil, err
	}
	var roots []*api.TreeNode
	made := metav1.NewTime(begin)
	for i, r := range app.Status.Resources {
		n := &api.TreeNode{
			Group: r.Group, Version: r.Version, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Sync: string(r.Status),
			UID: fmt.Sprintf("%08x-0000-4000-9000-%012x", a.number, i), CreatedAt: made.Time,
		}
		if r.Health != nil {
			n.Health = string(r.Health.Status)
		}
		switch r.Kind {
		case "Deployment":
			deploy(n)
		case "Service":
			for p := range podsOfEach {
				n.Routes = append(n.Routes, "/Pod/"+r.Namespace+"/"+podName(r.Name, p))
			}
		case "Ingress":
			n.Routes = []string{"/Service/" + r.Namespace + "/" + r.Name}
			n.Addresses, n.URLs = []string{"192.0.2.1"}, []string{"https://" + r.Name + ".example.com/"}
		}
		roots = append(roots, n)
	}
	return roots, nil
}

const podsOfEach = bigUnit/2 - 1

func podName(workload string, i int) string {
	return fmt.Sprintf("%s-6d5f9c7b84-%05d", workload, i)
}

// deploy gives a Deployment what its controllers would.
func deploy(n *api.TreeNode) {
	n.Images, n.Revision = []string{"registry.example.com/shop/" + n.Name + ":v1.0.0"}, 3
	n.Replicas = &api.TreeReplicas{Desired: podsOfEach, Ready: podsOfEach}
	set := *n
	set.Kind, set.Name, set.Sync, set.UID, set.Health = "ReplicaSet", n.Name+"-6d5f9c7b84", "", n.UID+"-s", "Healthy"
	for i := range podsOfEach {
		set.Children = append(set.Children, &api.TreeNode{
			Version: "v1", Kind: "Pod", Namespace: n.Namespace, Name: podName(n.Name, i), UID: fmt.Sprintf("%s-%d", n.UID,
				i), CreatedAt: n.CreatedAt,
			Health: "Healthy", Images: n.Images,
			Pod: &api.TreePod{
				Node: fmt.Sprintf("worker-%d", i), Phase: "Running", Ready: 1, Containers: 1, IP: fmt.Sprintf("10.1.%d.%d", len(n.Name), i+1),
			},
		})
	}
	n.Children = []*api.TreeNode{&set}
}

// watchTree shows a tree in which a pod is restarted every now and then.
func (a *agent) watchTree(ctx context.Context, cmd agentapi.Command, st *link.Stream) error {
	roots, err := a.tree(cmd)
	if err != nil {
		return err
	}
	out, err := agentapi.NewTreeWriter(st)
	if err != nil {
		return err
	}
	send := func(kind string, event any) error {
		raw, err := json.Marshal(event)
		if err != nil {
			return fmt.Errorf("write tree: %w", err)
		}
		return out.Write(kind, raw)
	}
	nodes := inspect.Flat(roots)
	if err := send(api.TreeEventTree, api.TreeState{Nodes: nodes}); err != nil {
		return err
	}
	var pods []*api.FlatNode
	for _, n := range nodes {
		if n.Pod != nil {
			pods = append(pods, n)
		}
	}
	rng := rand.New(rand.NewPCG(uint64(a.number), uint64(len(nodes))))
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if len(pods) == 0 {
			continue
		}
		n := pods[rng.IntN(len(pods))]
		if pod := n.Pod; pod.Ready == 1 {
			pod.Ready, pod.Reason, n.Health, n.Message = 0, "CrashLoopBackOff", "Degraded", "back-off restarting failed container"
		} else {
			pod.Ready, pod.Reason, n.Health, n.Message = 1, "", "Healthy", ""
			pod.Restarts++
		}
		if err := send(api.TreeEventPatch, api.TreePatch{Set: []*api.FlatNode{n}}); err != nil {
			return err
		}
	}
}
