package verb

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// declared are the kinds of resources of ours that can be written over the link.
type declared struct {
	kind, plural string
	home         bool // they count in the agent's namespace only
	like         any  // their type: no field is called like one of its fields in other letters
}

// kindNamed finds a resource of ours by its kind.
func kindNamed(kind object.Kind) (declared, bool) {
	for _, item := range []agentapi.ItemKind{agentapi.ItemApplication, agentapi.ItemApplicationSet, agentapi.ItemArgoProject} {
		if d, _ := kindOf(item); kind == (object.Kind{Group: v1alpha1.Group, Kind: d.kind}) {
			return d, true
		}
	}
	return declared{}, false
}

func kindOf(item agentapi.ItemKind) (declared, bool) {
	switch item {
	case agentapi.ItemApplication:
		return declared{v1alpha1.KindApplication, v1alpha1.ResourceApplications, false, v1alpha1.Application{}}, true
	case agentapi.ItemApplicationSet:
		return declared{v1alpha1.KindApplicationSet, v1alpha1.ResourceApplicationSets, false, v1alpha1.ApplicationSet{}}, true
	case agentapi.ItemArgoProject:
		return declared{v1alpha1.KindAppProject, v1alpha1.ResourceAppProjects, true, v1alpha1.AppProject{}}, true
	}
	return declared{}, false
}

// declaration finds what a command writes.
func (v *core) declaration(cmd agentapi.Command) (dynamic.ResourceInterface, declared, error) {
	d, ok := kindOf(cmd.Target.Kind)
	switch {
	case !ok:
		return nil, d, command.Refuse(agentapi.CodeInvalid, "%s is about an application, applicationset or argoproject, not %.40q",
			cmd.Kind, cmd.Target.Kind)
	case cmd.Target.Namespace == "" || cmd.Target.Name == "":
		return nil, d, command.Refuse(agentapi.CodeInvalid, "%s needs namespace and name of the %s", cmd.Kind, d.kind)
	case d.home && cmd.Target.Namespace != v.Namespace:
		return nil, d, command.Refuse(agentapi.CodeForbidden, "an %s counts in the agent's namespace %s only, not in %s", d.kind, v.Namespace,
			cmd.Target.Namespace)
	}
	return v.Apps.Resource(v1alpha1.Resource(d.plural)).Namespace(cmd.Target.Namespace), d, nil
}

func (v *objects) objectApply(ctx context.Context, cmd agentapi.Command, req agentapi.ObjectApply) (any, error) {
	in, d, err := v.declaration(cmd)
	if err != nil {
		return nil, err
	}
	want, err := readDeclared(req.Object, d, cmd.Target)
	if err != nil {
		return nil, err
	}
	var base map[string]any
	if len(req.Base) > 0 && string(req.Base) != "null" {
		if base, err = readDeclared(req.Base, d, cmd.Target); err != nil {
			return nil, fmt.Errorf("base: %w", err)
		}
	}
	got, err := declare(ctx, in, want, base, judgedApply{req, cmd.Judged, d})
	if err != nil {
		return nil, fmt.Errorf("write %s %s: %w", d.kind, cmd.Target.Name, err)
	}
	return inspect.ShownJSON(got.Object, v.mask())
}

// judgedApply is what is to be written, and what rights were asked for.
type judgedApply struct {
	agentapi.ObjectApply
	judged *agentapi.JudgedProject
	declared
}

// raced reports whether an error means that another client was faster, so that the request can be retried.
func raced(req judgedApply) func(error) bool {
	return func(err error) bool {
		return req.Version == "" && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) && !req.Create)
	}
}

func readDeclared(raw json.RawMessage, d declared, target agentapi.Target) (map[string]any, error) {
	err := strict.Check(raw, d.like, strict.Unknown, strict.WholeNumbers)
	var obj map[string]any
	if err == nil {
		obj, err = object.DecodeJSON(raw)
	}
	if err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "read the object: %v: give one %s as JSON", err, d.kind)
	}
	u := &unstructured.Unstructured{Object: obj}
	switch {
	case obj["metadata"] == nil:
		return nil, command.Refuse(agentapi.CodeInvalid, "the object has no metadata")
	case u.GetAPIVersion() != v1alpha1.Group+"/"+v1alpha1.Version || u.GetKind() != d.kind:
		return nil, command.Refuse(agentapi.CodeInvalid, "the object is a %.60s %.60s, not a %s/%s %s", u.GetAPIVersion(), u.GetKind(),
			v1alpha1.Group, v1alpha1.Version, d.kind)
	case u.GetName() != target.Name, u.GetNamespace() != "" && u.GetNamespace() != target.Namespace:
		return nil, command.Refuse(agentapi.CodeInvalid, "the object is %.80s/%.80s, and the command is about %s/%s", u.GetNamespace(),
			u.GetName(), target.Namespace, target.Name)
	}
	u.SetNamespace(target.Namespace)
	// What the API server of its cluster keeps is not requested.
	for _, field := range []string{
		"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "deletionTimestamp", "selfLink",
	} {
		unstructured.RemoveNestedField(u.Object, "metadata", field)
	}
	// Nor is a status; and to sync has a command, and a permission, of its own.
	delete(u.Object, "status")
	delete(u.Object, "operation")
	return u.Object, nil
}

// declare creates an object, or merges what is wanted into what is there, again if another client was faster.
func declare(ctx context.Context, in dynamic.ResourceInterface, want, base map[string]any,
	req judgedApply,
) (got *unstructured.Unstructured, err error) {
	err = retry.OnError(retry.DefaultBackoff, raced(req), func() error {
		got, err = declareOnce(ctx, in, want, base, req)
		return err
	})
	return got, err
}

func declareOnce(ctx context.Context, in dynamic.ResourceInterface, want, base map[string]any,
	req judgedApply,
) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: want}
	have, err := in.Get(ctx, u.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && (req.Update || req.Version != ""):
		return nil, command.Refuse(agentapi.CodeNotFound, "it does not exist")
	case apierrors.IsNotFound(err):
		if err := becomes(req.judged, req.declared, want, u.GetName()); err != nil {
			return nil, err
		}
		return in.Create(ctx, u.DeepCopy(), metav1.CreateOptions{FieldManager: live.Manager, DryRun: command.DryRun(req.DryRun)})
	case err != nil:
		return nil, err
	case req.Create:
		return nil, command.Refuse(agentapi.CodeConflict, "it exists already; change it, or choose another name")
	case req.Version != "" && req.Version != have.GetResourceVersion():
		return nil, command.Refuse(agentapi.CodeConflict, "it has changed since version %s: read it again and repeat the change", req.Version)
	}
	if err := inspect.GuardWrite(have.Object, want); err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "%v", err)
	}
	if err := meetsThere(req.judged, req.declared, have.Object, u.GetName()); err != nil {
		return nil, err
	}
	next, err := merged(have.Object, want, base)
	if err == nil {
		err = becomes(req.judged, req.declared, next, u.GetName())
	}
	if err != nil {
		return nil, err
	}
	return in.Update(ctx, &unstructured.Unstructured{Object: next},
		metav1.UpdateOptions{FieldManager: live.Manager, DryRun: command.DryRun(req.DryRun)})
}

// merged is what is there with the requested changes: what base has and want has not goes, what neither has stays.
func merged(have, want, base map[string]any) (map[string]any, error) {
	from := base
	if from == nil {
		from = map[string]any{}
	}
	change, err := inspect.MergePatch(from, want)
	if err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "%v", err)
	}
	next, err := mergePatched(have, change)
	if err != nil {
		return nil, err
	}
	// The user who edited it saw no user information in addresses: one that was not touched keeps it.
	keepHidden(next, have)
	return next, nil
}

func mergePatched(have, change map[string]any) (map[string]any, error) {
	before, err := json.Marshal(have)
	if err != nil {
		return nil, fmt.Errorf("encode object: %w", err)
	}
	patch, err := json.Marshal(change)
	if err != nil {
		return nil, fmt.Errorf("encode change: %w", err)
	}
	raw, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "merge the change: %v", err)
	}
	return object.DecodeJSON(raw)
}

// keepHidden puts back what was hidden from the user who edited an object: a text that is the shown form of the one at the same
// place before.
func keepHidden(next, have map[string]any) {
	for field, was := range have {
		if now, ok := next[field]; ok {
			next[field] = unhidden(now, was, 0)
		}
	}
}

const maxHidden = 100 // levels

func unhidden(now, was any, depth int) any {
	if depth > maxHidden {
		return now
	}
	switch n := now.(type) {
	case string:
		if w, ok := was.(string); ok && n != w && redact.Addresses(w) == n {
			return w
		}
	case map[string]any:
		w, _ := was.(map[string]any)
		for key := range n {
			if old, ok := w[key]; ok {
				n[key] = unhidden(n[key], old, depth+1)
			}
		}
	case []any:
		w, _ := was.([]any)
		for i := range n {
			if i < len(w) {
				n[i] = unhidden(n[i], w[i], depth+1)
			}
		}
	}
	return now
}

func (v *objects) objectPatch(ctx context.Context, cmd agentapi.Command, req agentapi.ObjectPatch) (any, error) {
	in, d, err := v.declaration(cmd)
	if err != nil {
		return nil, err
	}
	kind := types.MergePatchType
	switch req.Type {
	case "", "merge":
	case "json":
		kind = types.JSONPatchType
	default:
		return nil, command.Refuse(agentapi.CodeInvalid, "a patch of an %s has the type merge or json", d.kind)
	}
	if err := checkPatch(kind, req.Patch); err != nil {
		return nil, err
	}
	if req.Version != "" {
		return v.patchOnce(ctx, cmd, in, d, kind, req)
	}
	// Without a version the patch is for whatever is there. The agent's own status writes would make it fail now and then.
	var out any
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
		out, err = v.patchOnce(ctx, cmd, in, d, kind, req)
		return err
	})
	return out, err
}

// patchOnce patches an object as it is now, judged by what comes of it.
func (v *objects) patchOnce(ctx context.Context, cmd agentapi.Command, in dynamic.ResourceInterface, d declared, kind types.PatchType,
	req agentapi.ObjectPatch,
) (any, error) {
	have, err := in.Get(ctx, cmd.Target.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", d.kind, cmd.Target.Name, err)
	}
	if req.Version != "" && have.GetResourceVersion() != req.Version {
		return nil, command.Refuse(agentapi.CodeConflict, "%s %s has changed since version %s: read it again and repeat the change", d.kind,
			cmd.Target.Name, req.Version)
	}
	if err := meetsThere(cmd.Judged, d, have.Object, cmd.Target.Name); err != nil {
		return nil, err
	}
	key := object.Key{Group: v1alpha1.Group, Kind: d.kind, Namespace: cmd.Target.Namespace, Name: cmd.Target.Name}
	if req.Patch, err = v.guarded(key, have.Object, inspect.PatchType(cmp.Or(req.Type, "merge")), req.Patch); err != nil {
		return nil, err
	}
	req.Version = have.GetResourceVersion()
	patch, err := pinned(kind, req)
	if err != nil {
		return nil, err
	}
	// A patch is judged by what comes of it, which only the API server knows: it is tried out, for the version that is there.
	tried, err := in.Patch(ctx, cmd.Target.Name, kind, patch, metav1.PatchOptions{FieldManager: live.Manager, DryRun: command.DryRun(true)})
	if err != nil {
		return nil, fmt.Errorf("patch %s %s: %w", d.kind, cmd.Target.Name, err)
	}
	was, wasSole := belongs(have.Object, d)
	if is, isSole := belongs(tried.Object, d); is != was || isSole != wasSole {
		return nil, command.Refuse(agentapi.CodeInvalid, "a patch does not bring %s %s to another project: apply the object",
			d.kind, cmd.Target.Name)
	}
	got, err := in.Patch(ctx, cmd.Target.Name, kind, patch,
		metav1.PatchOptions{FieldManager: live.Manager, DryRun: command.DryRun(req.DryRun)})
	if err != nil {
		return nil, fmt.Errorf("patch %s %s: %w", d.kind, cmd.Target.Name, err)
	}
	return inspect.ShownJSON(got.Object, v.mask())
}

// step is one of a JSON patch (RFC 6902).
type step struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// checkPatch refuses patches of what has commands, and permissions, of its own.
func checkPatch(kind types.PatchType, raw []byte) error {
	touched := map[string]bool{}
	if kind == types.JSONPatchType {
		var steps []step
		if err := strict.Decode(raw, &steps); err != nil {
			return command.Refuse(agentapi.CodeInvalid, "read the patch: %v", err)
		}
		for _, s := range steps {
			paths := []string{s.Path}
			if s.From != nil {
				paths = append(paths, *s.From)
			}
			for _, path := range paths {
				switch {
				case path == "":
					return command.Refuse(agentapi.CodeInvalid, "a patch of the whole object is none: apply the object")
				case path[0] != '/': // the first field is passed over by those who apply it
					return command.Refuse(agentapi.CodeInvalid, "the patch has the path %.80q: begin it with a slash", path)
				}
				field, _, _ := strings.Cut(path[1:], "/")
				touched[field] = true
			}
		}
	} else {
		err := strict.Check(raw, nil)
		var obj map[string]any
		if err == nil {
			obj, err = object.DecodeJSON(raw)
		}
		if err != nil {
			return command.Refuse(agentapi.CodeInvalid, "read the patch: %v", err)
		}
		for field := range obj {
			touched[field] = true
		}
	}
	if touched["operation"] || touched["status"] {
		return command.Refuse(agentapi.CodeInvalid,
			"a patch cannot change operation and status: sync, refresh and terminate have commands of their own")
	}
	return nil
}

// pinned is a patch that holds only for the version that it was made for.
func pinned(kind types.PatchType, req agentapi.ObjectPatch) ([]byte, error) {
	if kind == types.JSONPatchType {
		var steps []any
		if err := strict.Decode(req.Patch, &steps); err != nil {
			return nil, command.Refuse(agentapi.CodeInvalid, "read the patch: %v", err)
		}
		// Of another version it is a conflict, which a test would not be.
		return json.Marshal(append(steps, map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": req.Version}))
	}
	obj, err := object.DecodeJSON(req.Patch)
	if err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "read the patch: %v", err)
	}
	if err := unstructured.SetNestedField(obj, req.Version, "metadata", "resourceVersion"); err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "read the patch: %v", err)
	}
	return json.Marshal(obj)
}

func (v *objects) objectDelete(ctx context.Context, cmd agentapi.Command, req api.DeleteApplicationRequest) (any, error) {
	if cmd.Target.Kind == agentapi.ItemApplication {
		return v.removeApplication(ctx, cmd, req)
	}
	in, d, err := v.declaration(cmd)
	if err != nil {
		return nil, err
	}
	have, err := in.Get(ctx, cmd.Target.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", d.kind, cmd.Target.Name, err)
	}
	if req.Version != "" && have.GetResourceVersion() != req.Version {
		return nil, command.Refuse(agentapi.CodeConflict, "%s %s has changed since version %s: read it again and repeat the change", d.kind,
			cmd.Target.Name, req.Version)
	}
	if err := meetsThere(cmd.Judged, d, have.Object, cmd.Target.Name); err != nil {
		return nil, err
	}
	how := metav1.DeletePropagationForeground
	if req.Propagation == "background" || cmd.Target.Kind == agentapi.ItemArgoProject { // nothing is owned by a project
		how = metav1.DeletePropagationBackground
	}
	if !req.Cascade && cmd.Target.Kind == agentapi.ItemApplicationSet {
		how = metav1.DeletePropagationOrphan // its Applications stay
	}
	options := metav1.DeleteOptions{
		PropagationPolicy: &how, Preconditions: metav1.NewUIDPreconditions(string(have.GetUID())), DryRun: command.DryRun(req.DryRun),
	}
	if err := in.Delete(ctx, cmd.Target.Name, options); err != nil {
		return nil, fmt.Errorf("delete %s %s: %w", d.kind, cmd.Target.Name, err)
	}
	return nil, nil
}
