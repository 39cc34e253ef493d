package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Limits of one tree.
const (
	// MaxObjects is how many objects of one kind and namespace are listed for a tree at most.
	MaxObjects = 50000
	maxLevels  = 16
	maxNodes   = 200000
)

// Place is where objects are listed for a tree.
type Place struct {
	Kind      object.Kind
	Namespace string // empty for what has none
	// Bare says that nothing but metadata is needed.
	Bare bool
	// Judged says that nothing but metadata and health is needed.
	Judged bool
}

// Spot is a kind in a namespace.
type Spot struct {
	Kind      object.Kind
	Namespace string
}

// Spot returns where it is.
func (p Place) Spot() Spot { return Spot{Kind: p.Kind, Namespace: p.Namespace} }

// Heirs says what must be listed for the tree below resources.
func Heirs(resources []v1alpha1.ResourceStatus) []Place {
	kinds := map[string][]object.Kind{}
	var order []string
	for _, r := range resources {
		if r.Namespace == "" {
			continue
		}
		kind := object.Kind{Group: r.Group, Kind: r.Kind}
		if _, known := kinds[r.Namespace]; !known {
			order = append(order, r.Namespace)
		}
		if !slices.Contains(kinds[r.Namespace], kind) {
			kinds[r.Namespace] = append(kinds[r.Namespace], kind)
		}
	}
	var out []Place
	for _, namespace := range order {
		for _, kind := range KindsBelow(kinds[namespace]) {
			out = append(out, Place{Kind: kind, Namespace: namespace})
		}
	}
	return out
}

// Places says what must be listed for resources and the tree below them. Of a kind that is all in the tree, or that has
// no more details, metadata is enough, unless the status lacks the health of its objects and knows reports that they
// have one; nil: none has. The data of ConfigMaps and Secrets is never read.
func Places(resources []v1alpha1.ResourceStatus, knows func(object.Kind) bool) []Place {
	judged := map[Spot]bool{}
	for _, r := range resources {
		at := Place{Kind: object.Kind{Group: r.Group, Kind: r.Kind}, Namespace: r.Namespace}
		if r.Health == nil && !r.Hook && !judged[at.Spot()] && !private(at.Kind) && knows != nil && knows(at.Kind) {
			judged[at.Spot()] = true
		}
	}
	out := Heirs(resources)
	seen := make(map[Place]bool, len(out))
	for _, p := range out {
		seen[p] = true
	}
	for _, r := range resources {
		p := Place{Kind: object.Kind{Group: r.Group, Kind: r.Kind}, Namespace: r.Namespace}
		if !seen[p] {
			seen[p] = true
			if !tells(p.Kind) {
				p.Judged = judged[p.Spot()]
				p.Bare = !p.Judged
			}
			out = append(out, p)
		}
	}
	return out
}

// private reports whether objects of a kind hold data that no tree shows.
func private(kind object.Kind) bool {
	return kind.Group == "" && (kind.Kind == "ConfigMap" || kind.Kind == "Secret")
}

// tells reports whether objects of a kind have more details than their metadata.
func tells(kind object.Kind) bool {
	switch kind.Group {
	case "apps", "batch", "networking.istio.io", gatewayGroup:
		return true
	case "networking.k8s.io", "extensions":
		return kind.Kind == "Ingress"
	case "argoproj.io":
		return kind.Kind == "Rollout"
	case "":
		return slices.Contains([]string{"Pod", "Service", "ReplicationController", "PersistentVolumeClaim"}, kind.Kind)
	}
	return false
}

// Namespaces lists the namespaces of resources.
func Namespaces(resources []v1alpha1.ResourceStatus) []string {
	var out []string
	for _, r := range resources {
		if r.Namespace != "" && !slices.Contains(out, r.Namespace) {
			out = append(out, r.Namespace)
		}
	}
	return out
}

// Tree puts what was listed (Places, Heirs) below resources, which are the roots. Of a root, a leaf counts that is marked as
// one of app: a user who can write the status of an Application can name any object in it. A root is missing that is not among
// the leaves, where all of its kind and namespace were listed.
func Tree(resources []v1alpha1.ResourceStatus, leaves []*Leaf, listed map[Spot]bool, app string) []*api.TreeNode {
	f := family{
		listed: listed,
		owned:  byOwner(leaves), leaves: make(map[object.Key]*Leaf, len(leaves)),
		nodes: make(map[object.Key][]*api.TreeNode, len(resources)+len(leaves)),
	}
	for _, l := range leaves {
		f.leaves[l.Key()] = l
	}
	roots := make([]*api.TreeNode, 0, len(resources))
	for i := range resources {
		node := f.root(&resources[i], app)
		self := owner{kind: object.Kind{Group: node.Group, Kind: node.Kind}, namespace: node.Namespace, name: node.Name}
		f.put(keyOfNode(node), node)
		node.Children = f.children(self, 0)
		f.count(node)
		roots = append(roots, node)
	}
	routes(f.nodes, f.leaves)
	return roots
}

// root is a node for an object of an Application. What was read of it is newer than the status.
func (f *family) root(r *v1alpha1.ResourceStatus, app string) *api.TreeNode {
	key := KeyOf(r)
	node := &api.TreeNode{Group: r.Group, Version: r.Version, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
	l := f.leaves[key]
	gone := l == nil && f.listed[Spot{Kind: key.GroupKind(), Namespace: key.Namespace}]
	if l != nil && (app == "" || l.app != app) {
		delete(f.leaves, key)
		l = nil
	}
	if l != nil {
		*node = l.node
		node.Version, node.Hook = cmp.Or(r.Version, node.Version), l.hook
	}
	node.Sync, node.Wave, node.RequiresPruning = string(r.Status), r.SyncWave, r.Leftover()
	if node.Health == "" && r.Health != nil {
		node.Health, node.Message = string(r.Health.Status), legible.Cut(r.Health.Message, maxMessage)
	}
	if node.Health == "" && gone && !r.Hook && !r.RequiresPruning {
		node.Health = string(v1alpha1.HealthMissing)
	}
	return node
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
		found = found || keyOfNode(n) == key
	})
	return found
}

// Below returns the objects of a kind that are in a tree at or below an object.
func Below(roots []*api.TreeNode, key object.Key, kind object.Kind) []object.Key {
	var out []object.Key
	var look func(nodes []*api.TreeNode, inside bool)
	look = func(nodes []*api.TreeNode, inside bool) {
		for _, n := range nodes {
			k := keyOfNode(n)
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
	owned  map[owner][]*Leaf
	leaves map[object.Key]*Leaf
	listed map[Spot]bool                  // where all objects are among the leaves
	nodes  map[object.Key][]*api.TreeNode // more than one for what has several owners
	many   int
}

func (f *family) put(key object.Key, node *api.TreeNode) {
	f.nodes[key] = append(f.nodes[key], node)
}

func (f *family) children(of owner, depth int) []*api.TreeNode {
	if depth >= maxLevels {
		return nil
	}
	var out []*api.TreeNode
	for _, l := range f.owned[of] {
		if f.many++; f.many > maxNodes {
			break
		}
		node := l.node
		f.put(l.Key(), &node)
		node.Children = f.children(l.self(), depth+1)
		f.count(&node)
		out = append(out, &node)
	}
	slices.SortFunc(out, func(a, b *api.TreeNode) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Group, b.Group))
	})
	return out
}

// count numbers a rollout by the revision that the workload is at, where that is an object of its own.
func (f *family) count(node *api.TreeNode) {
	l := f.leaves[keyOfNode(node)]
	if l == nil || l.updated == "" {
		return
	}
	for _, child := range node.Children {
		if child.Kind == "ControllerRevision" && child.Name == l.updated {
			node.Revision = child.Revision
		}
	}
}

// self is the leaf as an owner.
func (l *Leaf) self() owner {
	return owner{kind: object.Kind{Group: l.node.Group, Kind: l.node.Kind}, namespace: l.node.Namespace, name: l.node.Name, uid: l.node.UID}
}

// byOwner indexes objects by each of their owners, with and without the owner's uid.
func byOwner(leaves []*Leaf) map[owner][]*Leaf {
	out := map[owner][]*Leaf{}
	for _, l := range leaves {
		for _, of := range l.owners {
			uid := of.uid
			of.uid = ""
			out[of] = append(out[of], l)
			if uid != "" {
				of.uid = uid
				out[of] = append(out[of], l)
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

// KindsBelow are the kinds to list below roots. A root that is no kind of Kubernetes itself has a controller of its own,
// which may make anything that runs or serves.
func KindsBelow(roots []object.Kind) []object.Kind {
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
