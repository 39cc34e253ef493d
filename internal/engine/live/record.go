package live

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Record is what the index keeps of one tracked live object. It holds no content, only identity, what the engine
// decides by, and the print of the fields that we own. There is one for each object, so its size counts: what takes a
// byte stands together.
type Record struct {
	Key       object.Key
	UID       string
	Version   uint64 // resourceVersion
	App       string // instance name of the Application that it is marked as one of
	AppliedAt int64  // when an apply of ours last changed it, in seconds since 1970 by the API server's clock
	Wave      int    // its sync wave
	Shown     *Shown // nil where it has nothing of that
	HookRun   uint64 // hash of the annotation that names the operation that made it, of a hook; 0 without one (HashRun)
	Health    health.Result
	Traits
	Policy
	Fingerprint

	first *unsettled // until the first comparison settles it
}

// Traits are facts about an object.
type Traits struct {
	Assessed  bool // Health holds something: the kind has a health rule
	Behind    bool // its controller has not seen its newest spec
	Owned     bool // has an owner reference: it is the child of another object and goes with it
	Deleting  bool
	Hook      bool // it belongs to a phase of an operation, not to what the Application keeps
	Finalizer bool // it has the finalizer of hooks
	Inherits  bool // others wrote it before us, and what they set passes to us when we write it
}

// Policy is what an object in the cluster asks for by its own annotations.
type Policy struct {
	IgnoreHealth bool           // its health is shown, and is ignored for the Application
	IgnoreExtra  bool           // IgnoreExtraneous: no difference although it is not in Git
	Prune        object.Consent // whether it may be pruned
	Delete       object.Consent // whether it may go with its Application
	PruneLast    bool           // it is pruned after everything else
	Replace      object.Choice  // how it is written
	Force        object.Choice
}

// Fingerprint is what the API server made of what we applied.
type Fingerprint struct {
	Fields  diff.Fields
	Wanted  uint64 // hash of the manifest that was applied; 0 while there is no fingerprint
	Applied uint64 // print of Fields right after our apply
	Print   uint64 // print of Fields now
	// Rules are the ignored fields of the object, as the prints were taken; nil for nothing.
	Rules *diff.Rules
}

// Shown is what an object adds to the summary of its Application.
type Shown struct {
	Images []string // of its containers
	Links  []string // addresses at which people reach it
}

// shownOf reads what an object adds to the summary of its Application.
func shownOf(kind object.Kind, obj map[string]any) *Shown {
	s := Shown{Images: images(obj), Links: links(kind.Group, kind.Kind, obj)}
	if len(s.Images)+len(s.Links) == 0 {
		return nil
	}
	return &s
}

// same reports whether two objects show the same.
func (s *Shown) same(other *Shown) bool {
	if s == nil || other == nil {
		return s == other
	}
	return slices.Equal(s.Images, other.Images) && slices.Equal(s.Links, other.Links)
}

// unsettled is what the first comparison needs of a tracked object that has no fingerprint yet (after a start).
type unsettled struct {
	body    []byte        // its content, as JSON without status
	holders []diff.Holder // the owners of all its fields
}

// InSync reports whether the object is what applying a manifest with hash wanted made of it, and still is.
func (f *Fingerprint) InSync(wanted uint64) bool {
	return f.Wanted == wanted && f.Wanted != 0 && f.Applied == f.Print
}

// Asks reports whether a person must approve the deletion of the object, by its own options or else those of its
// Application.
func (p *Policy) Asks(app object.Options) bool {
	return (&object.Options{Prune: p.Prune, Delete: p.Delete}).Asks(app)
}

// Body decodes the content that was kept for the first comparison; nil when it is not kept.
func (r *Record) Body() map[string]any {
	if r.first == nil || r.first.body == nil {
		return nil
	}
	obj, err := object.DecodeJSON(r.first.body)
	if err != nil {
		return nil
	}
	return obj
}

func keyOf(kind object.Kind, obj map[string]any) object.Key {
	meta := object.Dict(obj, "metadata")
	return object.Key{Group: kind.Group, Kind: kind.Kind, Namespace: object.Text(meta, "namespace"), Name: object.Text(meta, "name")}
}

// describe reads the facts of an object into a fresh Record. Records of untracked objects hold the identity, and
// whether they have an owner.
func describe(kind object.Kind, obj map[string]any, tracking object.Tracking) Record {
	meta := object.Dict(obj, "metadata")
	rec := Record{Key: keyOf(kind, obj), Version: resourceVersion(meta), UID: object.Text(meta, "uid")}
	var labelled bool
	rec.App, labelled = tracking.Owner(obj, rec.Key)
	rec.App = strings.Clone(rec.App) // what it was cut from need not stay
	rec.Owned = len(object.List(meta, "ownerReferences")) > 0 || labelled && copied(rec.Key)
	if rec.App == "" {
		rec.Owned = rec.Owned || made(rec.Key, obj)
		return rec
	}
	_, rec.Deleting = meta["deletionTimestamp"]
	options := object.OptionsOf(obj)
	rec.Prune, rec.Delete, rec.PruneLast = options.Prune, options.Delete, options.PruneLast.Is()
	if hasOption(object.Annotation(obj, "helm.sh/resource-policy"), "keep") { // by Helm it stays, whatever the sync options say
		rec.Prune, rec.Delete = object.ConsentDenied, object.ConsentDenied
	}
	rec.Replace, rec.Force, rec.Inherits = options.Replace, options.Force, inherits(obj)
	rec.Wave, rec.Hook = object.WaveOf(obj), object.IsHook(obj)
	if rec.Hook {
		rec.HookRun = HashRun(object.Annotation(obj, v1alpha1.AnnotationHookRun))
	}
	rec.Finalizer = slices.Contains(object.List(meta, "finalizers"), any(v1alpha1.FinalizerHook))
	rec.Behind = behind(obj, meta)
	rec.IgnoreExtra = hasOption(object.Annotation(obj, "argocd.argoproj.io/compare-options"), "IgnoreExtraneous")
	rec.IgnoreHealth = object.Annotation(obj, "argocd.argoproj.io/ignore-healthcheck") == "true"
	rec.AppliedAt = diff.AppliedAt(obj, Manager)
	rec.Health, rec.Assessed = health.Assess(obj)
	rec.Shown = shownOf(kind, obj)
	return rec
}

// HashRun is the hash of a value of the annotation slipway.io/hook-run; 0 for an empty one.
func HashRun(text string) uint64 {
	if text == "" {
		return 0
	}
	return max(1, xxhash.Sum64String(text))
}

// behind reports whether the controller of an object has not seen its newest spec, if the object reports it.
func behind(obj, meta map[string]any) bool {
	seen, ok := object.Dict(obj, "status")["observedGeneration"].(int64)
	generation, _ := meta["generation"].(int64)
	return ok && seen < generation
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
	v, _ := strconv.ParseUint(object.Text(meta, "resourceVersion"), 10, 64)
	return v
}

// images lists the container images of a workload: those of its pod template, or of the pod itself.
func images(obj map[string]any) []string {
	spec := object.Dict(obj, "spec")
	if job, ok := spec["jobTemplate"].(map[string]any); ok {
		spec = object.Dict(job, "spec")
	}
	if template, ok := spec["template"].(map[string]any); ok {
		spec = object.Dict(template, "spec")
	}
	var out []string
	for _, field := range []string{"initContainers", "containers"} {
		for _, container := range object.Dicts(spec, field) {
			if image := object.Text(container, "image"); image != "" {
				out = append(out, image)
			}
		}
	}
	return out
}
