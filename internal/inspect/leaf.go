package inspect

import (
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Limits of the details of one object: its author can make any of it as long as an object may be.
const (
	maxMessage = 2 << 10
	maxWord    = 500
	maxWords   = 64 // of one list
	maxRoutes  = 500
)

// Judge says how a live object is, and whether that is known of its kind.
type Judge func(obj map[string]any) (health.Result, bool)

// Leaf is a live object as far as a tree needs it: what it shows, and what it is placed and reached by. One is never changed.
type Leaf struct {
	node    api.TreeNode // without what the place in a tree adds
	app     string       // the Application that its mark names; "" for none
	hook    []string
	owners  []owner
	pods    podLabels // of a pod: its labels
	selects podLabels // of a service: the labels of its pods
	targets []object.Key
	parents []object.Key // objects that send their traffic to it
	updated string       // name of the ControllerRevision of a workload
}

// podLabels are labels of pods, as a Service selects by.
type podLabels map[string]string

// Key is the identity of the object.
func (l *Leaf) Key() object.Key { return keyOfNode(&l.node) }

func keyOfNode(n *api.TreeNode) object.Key {
	return object.Key{Group: n.Group, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
}

// Eye is how objects are looked at. The zero value knows the health of the kinds that Slipway knows, and no marks.
type Eye struct {
	Judge Judge
	// Owner names the Application that an object is marked as one of; nil if not requested.
	Owner func(obj map[string]any, key object.Key) (app string, byLabel bool)
}

// Leaf reads an object. Of one that was read without spec and status (bare), health and all that is in these is unknown.
func (e Eye) Leaf(obj map[string]any, bare bool) *Leaf {
	meta := object.Dict(obj, "metadata")
	group, version := object.SplitAPIVersion(object.Text(obj, "apiVersion"))
	l := &Leaf{node: api.TreeNode{
		Group: group, Version: version, Kind: object.Text(obj, "kind"), Namespace: object.Text(meta, "namespace"),
		Name: object.Text(meta, "name"), UID: object.Text(meta, "uid"),
	}}
	if created, err := time.Parse(time.RFC3339, object.Text(meta, "creationTimestamp")); err == nil {
		l.node.CreatedAt = created
	}
	l.owners = ownersOf(meta)
	l.hook = hookOf(obj)
	l.node.URLs = linksOf(meta)
	if e.Owner != nil {
		l.app, _ = e.Owner(obj, l.Key())
	}
	if bare {
		return l
	}
	judge := e.Judge
	if judge == nil {
		judge = health.Assess
	}
	if h, ok := judge(obj); ok {
		l.node.Health, l.node.Message = string(h.Status), legible.Cut(h.Message, maxMessage)
	}
	l.workload(obj)
	l.traffic(obj)
	return l
}

// ownersOf lists the owners of an object, with their uids.
func ownersOf(meta map[string]any) []owner {
	var out []owner
	for _, one := range object.List(meta, "ownerReferences") {
		ref, _ := one.(map[string]any)
		group, _ := object.SplitAPIVersion(object.Text(ref, "apiVersion"))
		out = append(out, owner{
			kind: object.Kind{Group: group, Kind: object.Text(ref, "kind")}, namespace: object.Text(meta, "namespace"),
			name: object.Text(ref, "name"), uid: object.Text(ref, "uid"),
		})
	}
	return out
}

// hookOf lists the phases that an object is a hook of.
func hookOf(obj map[string]any) []string {
	helm := map[string]v1alpha1.HookType{
		"pre-install": v1alpha1.HookPreSync, "pre-upgrade": v1alpha1.HookPreSync, "post-install": v1alpha1.HookPostSync,
		"post-upgrade": v1alpha1.HookPostSync,
		"pre-delete":   v1alpha1.HookPreDelete, "post-delete": v1alpha1.HookPostDelete,
	}
	known := []v1alpha1.HookType{
		v1alpha1.HookPreSync, v1alpha1.HookSync, v1alpha1.HookPostSync, v1alpha1.HookSyncFail, v1alpha1.HookPreDelete, v1alpha1.HookPostDelete,
	}
	if !object.IsHook(obj) {
		return nil
	}
	var out []string
	add := func(t v1alpha1.HookType) {
		if slices.Contains(known, t) && !slices.Contains(out, string(t)) {
			out = append(out, string(t))
		}
	}
	if own := object.Annotation(obj, v1alpha1.AnnotationHook); strings.TrimSpace(own) != "" {
		for word := range strings.SplitSeq(own, ",") {
			add(v1alpha1.HookType(strings.TrimSpace(word)))
		}
		return out
	}
	for word := range strings.SplitSeq(object.Annotation(obj, object.AnnotationHelmHook), ",") {
		add(helm[strings.TrimSpace(word)])
	}
	return out
}

// workload reads the details of pods and workloads.
func (l *Leaf) workload(obj map[string]any) {
	n := &l.node
	spec, status, kind := object.Dict(obj, "spec"), object.Dict(obj, "status"), object.Kind{Group: n.Group, Kind: n.Kind}
	switch kind {
	case object.Kind{Kind: "Pod"}:
		n.Pod, n.Images = podOf(obj), imagesOf(spec)
		l.pods = labelsOf(object.Dict(obj, "metadata"), "labels")
	case object.Kind{Group: "apps", Kind: "Deployment"}, object.Kind{
		Group: "apps", Kind: "ReplicaSet",
	}, object.Kind{Group: "argoproj.io", Kind: "Rollout"},
		object.Kind{Group: "apps", Kind: "StatefulSet"}, object.Kind{Kind: "ReplicationController"}:
		desired, said := object.Number(spec, "replicas")
		if !said {
			desired = 1
		}
		ready, _ := object.Number(status, "readyReplicas")
		n.Replicas = &api.TreeReplicas{Desired: desired, Ready: ready}
		l.updated = object.Text(status, "updateRevision")
		n.Images = imagesOf(object.Dict(object.Dict(spec, "template"), "spec"))
	case object.Kind{Group: "apps", Kind: "DaemonSet"}:
		desired, _ := object.Number(status, "desiredNumberScheduled")
		ready, _ := object.Number(status, "numberReady")
		n.Replicas = &api.TreeReplicas{Desired: desired, Ready: ready}
		n.Images = imagesOf(object.Dict(object.Dict(spec, "template"), "spec"))
	case object.Kind{Group: "batch", Kind: "Job"}:
		n.Images = imagesOf(object.Dict(object.Dict(spec, "template"), "spec"))
	case object.Kind{Group: "batch", Kind: "CronJob"}:
		n.Images = imagesOf(object.Dict(object.Dict(object.Dict(object.Dict(spec, "jobTemplate"), "spec"), "template"), "spec"))
	case object.Kind{Group: "apps", Kind: "ControllerRevision"}:
		n.Revision, _ = object.Number(obj, "revision")
	}
	for _, name := range []string{"deployment.kubernetes.io/revision", "rollout.argoproj.io/revision"} {
		if n.Replicas != nil && n.Revision == 0 {
			n.Revision = integer(object.Annotation(obj, name))
		}
	}
}

// imagesOf lists the images of a pod's spec, each once, init containers first.
func imagesOf(spec map[string]any) []string {
	var out []string
	for _, field := range []string{"initContainers", "containers"} {
		for _, one := range object.List(spec, field) {
			container, _ := one.(map[string]any)
			if image := legible.Cut(object.Text(container, "image"), maxWord); image != "" && len(out) < maxWords && !slices.Contains(out, image) {
				out = append(out, image)
			}
		}
	}
	return out
}

// labelsOf reads a map of texts. Of one that has another thing in it, nothing counts: half a selector selects too much.
func labelsOf(from map[string]any, field string) podLabels {
	in := object.Dict(from, field)
	if len(in) == 0 || len(in) > 10*maxWords {
		return nil
	}
	out := make(podLabels, len(in))
	for key, value := range in {
		s, ok := value.(string)
		if !ok {
			return nil
		}
		out[key] = s
	}
	return out
}
