package live

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Record is what the index keeps of one tracked live object. It holds no content, only identity, what the engine
// decides by, and the print of the fields that we own.
type Record struct {
	Key          object.Key
	UID          string
	Version      uint64 // resourceVersion
	App          string // instance name of the Application in the tracking annotation
	Owned        bool   // has an owner reference: it is the child of another object and goes with it
	Deleting     bool
	AppliedAt    int64 // when an apply of ours last changed it, in seconds since 1970 by the API server's clock
	IgnoreHealth bool  // its health is shown, and does not count for the Application
	Assessed     bool  // Health holds something: the kind has a health rule
	Health       health.Result
	KeepPrune    bool // Prune=false or =confirm: never pruned without a person's word
	IgnoreExtra  bool // IgnoreExtraneous: counts as synced although it is not in Git, and is not pruned
	KeepDelete   bool // Delete=false or =confirm: stays when the Application is deleted
	Images       []string

	// Fingerprint: what the API server made of what we applied.
	Fields  diff.Fields
	Wanted  uint64 // hash of the manifest that was applied; 0 while there is no fingerprint
	Applied uint64 // print of Fields right after our apply
	Print   uint64 // print of Fields now

	// body is the content of a tracked object that has no fingerprint yet (after a start), as JSON without status.
	// The first comparison settles it and it is dropped.
	body []byte
}

// InSync reports whether the object is what applying a manifest with hash wanted made of it, and still is.
func (r *Record) InSync(wanted uint64) bool {
	return r.Wanted == wanted && r.Wanted != 0 && r.Applied == r.Print
}

// Body decodes the content that was kept for the first comparison; nil when it is not kept.
func (r *Record) Body() map[string]any {
	if r.body == nil {
		return nil
	}
	obj, err := object.DecodeJSON(r.body)
	if err != nil {
		return nil
	}
	return obj
}

func keyOf(kind object.Kind, obj map[string]any) object.Key {
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	return object.Key{Group: kind.Group, Kind: kind.Kind, Namespace: namespace, Name: name}
}

// describe reads the facts of an object into a fresh Record. Records of untracked objects hold the identity alone.
func describe(kind object.Kind, obj map[string]any) Record {
	meta, _ := obj["metadata"].(map[string]any)
	rec := Record{Key: keyOf(kind, obj), Version: resourceVersion(meta)}
	rec.UID, _ = meta["uid"].(string)
	annotations, _ := meta["annotations"].(map[string]any)
	if id, _ := annotations[object.TrackingAnnotation].(string); id != "" {
		rec.App, _ = object.TrackedBy(id, rec.Key)
	}
	if rec.App == "" {
		return rec
	}
	_, rec.Deleting = meta["deletionTimestamp"]
	options, _ := annotations["argocd.argoproj.io/sync-options"].(string)
	compare, _ := annotations["argocd.argoproj.io/compare-options"].(string)
	rec.KeepPrune = hasOption(options, "Prune=false", "Prune=confirm")
	rec.IgnoreExtra = hasOption(compare, "IgnoreExtraneous")
	rec.KeepDelete = hasOption(options, "Delete=false", "Delete=confirm")
	rec.IgnoreHealth = annotations["argocd.argoproj.io/ignore-healthcheck"] == "true"
	owners, _ := meta["ownerReferences"].([]any)
	rec.Owned = len(owners) > 0
	rec.AppliedAt = diff.AppliedAt(obj, Manager)
	rec.Health, rec.Assessed = health.Assess(obj)
	rec.Images = images(obj)
	return rec
}

func hasOption(list string, names ...string) bool {
	for option := range strings.SplitSeq(list, ",") {
		if slices.Contains(names, strings.TrimSpace(option)) {
			return true
		}
	}
	return false
}

// content keeps what a comparison needs of an object: all but what the API server owns.
func content(obj map[string]any) []byte {
	kept := make(map[string]any, len(obj))
	for k, v := range obj {
		switch k {
		case "status":
		case "metadata":
			meta, _ := v.(map[string]any)
			lean := make(map[string]any, len(meta))
			for name, value := range meta {
				if name != "managedFields" {
					lean[name] = value
				}
			}
			kept[k] = lean
		default:
			kept[k] = v
		}
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return raw
}

func resourceVersion(meta map[string]any) uint64 {
	text, _ := meta["resourceVersion"].(string)
	v, _ := strconv.ParseUint(text, 10, 64)
	return v
}

// images lists the container images of a workload: those of its pod template, or of the pod itself.
func images(obj map[string]any) []string {
	spec, _ := obj["spec"].(map[string]any)
	if job, ok := spec["jobTemplate"].(map[string]any); ok {
		spec, _ = job["spec"].(map[string]any)
	}
	if template, ok := spec["template"].(map[string]any); ok {
		spec, _ = template["spec"].(map[string]any)
	}
	var out []string
	for _, field := range []string{"initContainers", "containers"} {
		list, _ := spec[field].([]any)
		for _, c := range list {
			container, _ := c.(map[string]any)
			if image, _ := container["image"].(string); image != "" {
				out = append(out, image)
			}
		}
	}
	return out
}
