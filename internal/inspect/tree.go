package inspect

import (
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Limits of one tree.
const (
	// MaxObjects is how many objects of one kind and namespace are listed for a tree at most.
	MaxObjects = 50000
	maxLevels  = 16
	maxNodes   = 200000
)

// Heirs says what must be listed for the tree below resources: which kinds, in which namespaces.
func Heirs(resources []v1alpha1.ResourceStatus) ([]object.Kind, []string) {
	var kinds []object.Kind
	var namespaces []string
	for _, r := range resources {
		kinds = append(kinds, object.Kind{Group: r.Group, Kind: r.Kind})
		if r.Namespace != "" && !slices.Contains(namespaces, r.Namespace) {
			namespaces = append(namespaces, r.Namespace)
		}
	}
	return heirs(kinds), namespaces
}

// Judge says how a live object is, and whether that is known of its kind.
type Judge func(obj map[string]any) (health.Result, bool)

// Tree puts what was listed (Heirs) below resources, which are the roots. A nil judge knows the kinds that Slipway knows.
func Tree(resources []v1alpha1.ResourceStatus, listed []map[string]any, judge Judge) []*api.TreeNode {
	if judge == nil {
		judge = health.Assess
	}
	f := family{owned: byOwner(listed), judge: judge}
	roots := make([]*api.TreeNode, 0, len(resources))
	for _, r := range resources {
		node := &api.TreeNode{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Sync: string(r.Status)}
		if r.Health != nil {
			node.Health, node.Message = string(r.Health.Status), r.Health.Message
		}
		node.Children = f.children(owner{kind: object.Kind{Group: r.Group, Kind: r.Kind}, namespace: r.Namespace, name: r.Name}, 0)
		roots = append(roots, node)
	}
	return roots
}

// Walk calls visit for every node, parents first. The parent of a root is nil.
func Walk(roots []*api.TreeNode, visit func(depth int, parent, node *api.TreeNode)) {
	walk(roots, nil, 0, visit)
}

func walk(nodes []*api.TreeNode, parent *api.TreeNode, depth int, visit func(int, *api.TreeNode, *api.TreeNode)) {
	for _, n := range nodes {
		visit(depth, parent, n)
		walk(n.Children, n, depth+1, visit)
	}
}

// Has reports whether an object is in a tree.
func Has(roots []*api.TreeNode, key object.Key) bool {
	found := false
	Walk(roots, func(_ int, _, n *api.TreeNode) {
		found = found || object.Key{Group: n.Group, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name} == key
	})
	return found
}

// Below returns the objects of a kind that are in a tree at or below an object.
func Below(roots []*api.TreeNode, key object.Key, kind object.Kind) []object.Key {
	var out []object.Key
	var look func(nodes []*api.TreeNode, inside bool)
	look = func(nodes []*api.TreeNode, inside bool) {
		for _, n := range nodes {
			k := object.Key{Group: n.Group, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
			in := inside || k == key
			if in && k.GroupKind() == kind && !slices.Contains(out, k) {
				out = append(out, k)
			}
			look(n.Children, in)
		}
	}
	look(roots, false)
	return out
}

// owner identifies the owning object as far as a root is known: resources of a status carry no uid.
type owner struct {
	kind      object.Kind
	namespace string
	name      string
	uid       string // empty for a root
}

type family struct {
	owned map[owner][]map[string]any
	judge Judge
	nodes int
}

func (f *family) children(of owner, depth int) []*api.TreeNode {
	if depth >= maxLevels {
		return nil
	}
	var out []*api.TreeNode
	for _, obj := range f.owned[of] {
		if f.nodes++; f.nodes > maxNodes {
			break
		}
		self := identify(obj)
		node := &api.TreeNode{Group: self.kind.Group, Kind: self.kind.Kind, Namespace: self.namespace, Name: self.name}
		if h, ok := f.judge(obj); ok {
			node.Health, node.Message = string(h.Status), h.Message
		}
		node.Children = f.children(self, depth+1)
		out = append(out, node)
	}
	slices.SortFunc(out, func(a, b *api.TreeNode) int {
		return strings.Compare(a.Kind+"/"+a.Name, b.Kind+"/"+b.Name)
	})
	return out
}

func identify(obj map[string]any) owner {
	meta, _ := obj["metadata"].(map[string]any)
	apiVersion, kind := text(obj, "apiVersion"), text(obj, "kind")
	group, _ := object.SplitAPIVersion(apiVersion)
	return owner{kind: object.Kind{Group: group, Kind: kind}, namespace: text(meta, "namespace"), name: text(meta, "name"), uid: text(meta, "uid")}
}

func text(from map[string]any, field string) string {
	s, _ := from[field].(string)
	return s
}

// byOwner indexes objects by each of their owners, with and without the owner's uid.
func byOwner(objects []map[string]any) map[owner][]map[string]any {
	out := map[owner][]map[string]any{}
	for _, obj := range objects {
		meta, _ := obj["metadata"].(map[string]any)
		refs, _ := meta["ownerReferences"].([]any)
		for _, one := range refs {
			ref, _ := one.(map[string]any)
			group, _ := object.SplitAPIVersion(text(ref, "apiVersion"))
			key := owner{kind: object.Kind{Group: group, Kind: text(ref, "kind")}, namespace: text(meta, "namespace"), name: text(ref, "name")}
			out[key] = append(out[key], obj)
			if key.uid = text(ref, "uid"); key.uid != "" {
				out[key] = append(out[key], obj)
			}
		}
	}
	return out
}

// offspring says what the controllers of Kubernetes make for each kind.
func offspring(kind object.Kind) []object.Kind {
	pod := object.Kind{Kind: "Pod"}
	switch kind {
	case object.Kind{Group: "apps", Kind: "Deployment"}:
		return []object.Kind{{Group: "apps", Kind: "ReplicaSet"}}
	case object.Kind{Group: "apps", Kind: "ReplicaSet"}, object.Kind{Group: "batch", Kind: "Job"}, object.Kind{Kind: "ReplicationController"}:
		return []object.Kind{pod}
	case object.Kind{Group: "apps", Kind: "StatefulSet"}:
		return []object.Kind{pod, {Group: "apps", Kind: "ControllerRevision"}, {Kind: "PersistentVolumeClaim"}}
	case object.Kind{Group: "apps", Kind: "DaemonSet"}:
		return []object.Kind{pod, {Group: "apps", Kind: "ControllerRevision"}}
	case object.Kind{Group: "batch", Kind: "CronJob"}:
		return []object.Kind{{Group: "batch", Kind: "Job"}}
	case object.Kind{Kind: "Service"}:
		return []object.Kind{{Group: "discovery.k8s.io", Kind: "EndpointSlice"}}
	}
	return nil
}

// heirs are the kinds to list below roots. A root that is no kind of Kubernetes itself has a controller of its own,
// which may make anything that runs or serves.
func heirs(roots []object.Kind) []object.Kind {
	var out []object.Kind
	open := slices.Clone(roots)
	for _, root := range roots {
		if strings.Contains(root.Group, ".") && !strings.HasSuffix(root.Group, ".k8s.io") {
			open = append(open, object.Kind{Group: "apps", Kind: "Deployment"}, object.Kind{Group: "apps", Kind: "StatefulSet"},
				object.Kind{Group: "batch", Kind: "CronJob"}, object.Kind{Kind: "Service"})
			out = append(out, open[len(open)-4:]...)
			break
		}
	}
	for len(open) > 0 {
		for _, kind := range offspring(open[0]) {
			if !slices.Contains(out, kind) {
				out = append(out, kind)
				open = append(open, kind)
			}
		}
		open = open[1:]
	}
	return out
}
