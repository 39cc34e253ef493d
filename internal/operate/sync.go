package operate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Limits of one request.
const (
	maxObjects = 1000
	maxOptions = 50
	// maxLocal bounds the manifests that an Application is sent: an API server takes no object of more than 1.5 MiB.
	maxLocal = 1 << 20
)

// Sync asks for a sync. Labels of the request must have been resolved (Select).
func Sync(app *v1alpha1.Application, req api.SyncRequest, who Who, _ time.Time) (Change, error) {
	op, err := syncOperation(app, &req, who)
	if err != nil {
		return Change{}, err
	}
	if err := mayOperate(app); err != nil {
		return Change{}, err
	}
	c := nothing("sync of application %s requested", app.Name)
	if req.DryRun {
		c = nothing("dry run of a sync of application %s requested", app.Name)
	}
	c.Operation = op
	c.Answer.Warnings = unknownObjects(app, req.Objects)
	return c.with(held(app)), nil
}

// Plan is the operation that a sync would be, for those who only want to know what it would do. Labels of the request must
// have been resolved (Select). It does not matter whether another one is under way.
func Plan(app *v1alpha1.Application, req api.SyncRequest, who Who) (*v1alpha1.Operation, error) {
	req.DryRun = true // it changes nothing, so automated sync does not mind manifests that are brought along
	op, err := syncOperation(app, &req, who)
	if err == nil {
		op.Sync.DryRun = false
	}
	return op, err
}

// unknownObjects warns of objects that the Application does not have as far as its status shows: it may be a slip, or they
// came with a commit that was not looked at yet.
func unknownObjects(app *v1alpha1.Application, asked []api.ObjectName) []string {
	var out []string
	for _, o := range asked {
		if !slices.ContainsFunc(app.Status.Resources, func(r v1alpha1.ResourceStatus) bool { return named(o, keyOf(&r)) }) {
			out = append(out, fmt.Sprintf("application %s is not known to have %s %s; `slipway app get %s` lists its objects",
				app.Name, kindText(o.Group, o.Kind), placeText(o.Namespace, o.Name), app.Name))
		}
	}
	return out
}

// CheckSync finds what makes no sense in a request, before anything is asked of a cluster.
func CheckSync(req api.SyncRequest) error {
	for _, text := range req.Labels {
		if _, err := labels.Parse(text); err != nil || text == "" {
			return faultf(Invalid, "label %q is not name=value, for example tier=web", text)
		}
	}
	for _, option := range req.Options {
		if name, value, ok := strings.Cut(option, "="); !ok || name == "" || value == "" {
			return faultf(Invalid, "sync option %q is not Name=value, for example PruneLast=true", option)
		}
	}
	for _, o := range req.Objects {
		if o.Kind == "" || o.Name == "" {
			return faultf(Invalid, "each of the objects needs a kind and a name")
		}
	}
	switch {
	case len(req.Manifests) > 0 && len(req.Revisions) > 0:
		return faultf(Invalid, "give manifests or revisions, not both: manifests have no revisions")
	case len(req.Objects) > maxObjects || len(req.Options) > maxOptions || len(req.Labels) > maxOptions:
		return faultf(Invalid, "at most %d objects, %d labels and %d options can be given; sync all of the application instead", maxObjects,
			maxOptions, maxOptions)
	}
	if err := checkReason(req.Reason); err != nil {
		return err
	}
	return checkRetry(req.Retry)
}

func checkRetry(r *api.SyncRetry) error {
	if r == nil {
		return nil
	}
	if r.Limit == 0 && (r.Duration != "" || r.MaxDuration != "" || r.Factor != 0 || r.Refresh) {
		return faultf(Invalid, "backoff and refresh of a retry are about further attempts: set their number in its limit")
	}
	for name, text := range map[string]string{"duration": r.Duration, "maxDuration": r.MaxDuration} {
		if text == "" {
			continue
		}
		if d, err := time.ParseDuration(text); err != nil || d < 0 {
			return faultf(Invalid, "the retry's %s %q is no duration such as 10s", name, text)
		}
	}
	if r.Factor < 0 {
		return faultf(Invalid, "the retry's factor cannot be negative")
	}
	return nil
}

func syncOperation(app *v1alpha1.Application, req *api.SyncRequest, who Who) (*v1alpha1.Operation, error) {
	if err := CheckSync(*req); err != nil {
		return nil, err
	}
	if len(req.Labels) > 0 && len(req.Objects) == 0 {
		// nothing chosen would be everything
		return nil, faultf(Invalid, "no object was looked for by the labels %s", strings.Join(req.Labels, ", "))
	}
	sync := &v1alpha1.SyncOperation{Prune: req.Prune, DryRun: req.DryRun, SyncOptions: syncOptions(app, req)}
	if err := setRevisions(sync, app, req.Revisions); err != nil {
		return nil, err
	}
	switch {
	case req.ApplyOnly:
		sync.SyncStrategy = &v1alpha1.SyncStrategy{Apply: &v1alpha1.SyncStrategyApply{Force: req.Force}}
	case req.Force:
		sync.SyncStrategy = &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{Force: true}}
	}
	for _, o := range req.Objects {
		sync.Resources = append(sync.Resources,
			v1alpha1.SyncOperationResource{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
	}
	if len(req.Manifests) > 0 {
		if err := checkLocal(app, req); err != nil {
			return nil, err
		}
		sync.Manifests = slices.Clone(req.Manifests)
	}
	op := newOperation(app, sync, who, req.Reason)
	op.Retry = retry(req.Retry)
	return op, nil
}

func setRevisions(sync *v1alpha1.SyncOperation, app *v1alpha1.Application, revisions []string) error {
	sources := len(app.Spec.EffectiveSources())
	switch {
	case len(revisions) == 0:
	case app.Spec.MultipleSources() && len(revisions) != sources:
		return faultf(Invalid, "application %s has %d sources: give a revision %d times, in their order", app.Name, sources, sources)
	case app.Spec.MultipleSources():
		sync.Revisions = slices.Clone(revisions)
	case len(revisions) > 1:
		return faultf(Invalid, "application %s has one source: give a revision once", app.Name)
	default:
		sync.Revision = revisions[0]
	}
	return nil
}

// syncOptions are those of the request; none for the Application's. They take the place of the Application's, so a switch
// that is only added keeps what the Application has.
func syncOptions(app *v1alpha1.Application, req *api.SyncRequest) v1alpha1.SyncOptions {
	options := slices.Clone(req.Options)
	var added []string
	if req.Replace {
		added = append(added, v1alpha1.OptionReplace+"="+v1alpha1.OptionTrue)
	}
	if req.ServerSide {
		added = append(added, v1alpha1.OptionServerSideApply+"="+v1alpha1.OptionTrue)
	}
	if len(added) > 0 && len(options) == 0 && app.Spec.SyncPolicy != nil {
		options = slices.Clone(app.Spec.SyncPolicy.SyncOptions)
	}
	return append(options, added...)
}

func retry(r *api.SyncRetry) v1alpha1.RetryStrategy {
	if r == nil {
		return v1alpha1.RetryStrategy{}
	}
	out := v1alpha1.RetryStrategy{Limit: r.Limit, Refresh: r.Refresh}
	if r.Duration == "" && r.MaxDuration == "" && r.Factor == 0 {
		return out
	}
	out.Backoff = &v1alpha1.Backoff{Duration: r.Duration, MaxDuration: r.MaxDuration}
	if r.Factor > 0 {
		factor := r.Factor
		out.Backoff.Factor = &factor
	}
	return out
}

// MayLocal says why manifests cannot be synced in place of Git.
func MayLocal(app *v1alpha1.Application, dryRun bool) error {
	if app.Spec.SyncPolicy.AutomatedEnabled() && !dryRun {
		return faultf(Conflict, "automated sync of application %s is on and would revert it to Git immediately: "+
			"turn it off (spec.syncPolicy.automated.enabled: false), or try it out with a dry run (--dry-run)", app.Name)
	}
	return nil
}

// checkLocal looks at manifests that are synced in place of Git. What comes of them is stored in the Application, which
// more people may read than Secrets, so a Secret is refused.
func checkLocal(app *v1alpha1.Application, req *api.SyncRequest) error {
	if err := MayLocal(app, req.DryRun); err != nil {
		return err
	}
	size := 0
	for i, text := range req.Manifests {
		if size += len(text); size > maxLocal {
			return faultf(Invalid, "the local manifests of application %s have more than %d KiB, which an Application cannot hold; "+
				"commit them to a branch and sync to that revision", app.Name, maxLocal>>10)
		}
		m, err := readManifest(text)
		if err != nil {
			return faultf(Invalid, "manifest %d: %v: write one object as JSON", i+1, err)
		}
		if m.Key.Group == "" && m.Key.Kind == "Secret" {
			return faultf(Invalid, "%s is a Secret, and local manifests are stored in the Application, where more people may read them: "+
				"apply it with kubectl, or commit it to Git and sync from there", m.Key)
		}
	}
	return nil
}

func readManifest(text string) (object.Manifest, error) {
	obj, err := object.DecodeJSON([]byte(text))
	if err != nil {
		return object.Manifest{}, err
	}
	return object.NewManifest(obj)
}

// Locals are manifests as a request carries them.
func Locals(app *v1alpha1.Application, objects []object.Manifest) ([]string, error) {
	if len(objects) == 0 {
		return nil, faultf(Invalid, "the directory renders no objects for application %s; correct the directory or the source's path", app.Name)
	}
	out := make([]string, 0, len(objects))
	for _, m := range objects {
		out = append(out, string(m.JSON))
	}
	return out, checkLocal(app, &api.SyncRequest{Manifests: out, DryRun: true})
}

// Select finds the objects that have all the labels of a request: of those that are wanted, and of live ones that would be
// pruned. None is an error, since a request without objects would sync everything.
func Select(app *v1alpha1.Application, req api.SyncRequest, objects []object.Manifest) (api.SyncRequest, error) {
	selector, err := labels.Parse(strings.Join(req.Labels, ","))
	if err != nil {
		return req, faultf(Invalid, "labels %s: %v", strings.Join(req.Labels, ","), err)
	}
	chosen := slices.Clone(req.Objects)
	found := false
	for _, m := range objects {
		obj, err := m.Decode()
		if err != nil {
			return req, err
		}
		if object.IsHook(obj) || !selector.Matches(labelsOf(obj)) {
			continue
		}
		found = true
		chosen = append(chosen, nameOf(m.Key))
	}
	if !found {
		return req, faultf(Missing, "no object of application %s has the labels %s; `slipway app manifests %s` shows them all",
			app.Name, selector, app.Name)
	}
	req.Objects = chosen
	return req, nil
}

func labelsOf(obj map[string]any) labels.Set {
	out := labels.Set{}
	meta, _ := obj["metadata"].(map[string]any)
	have, _ := meta["labels"].(map[string]any)
	for name, value := range have {
		if text, ok := value.(string); ok {
			out[name] = text
		}
	}
	return out
}

// ParseObject reads [GROUP/]KIND:[NAMESPACE/]NAME. GROUP:KIND:[NAMESPACE/]NAME will do, with nothing for the core group;
// there a kind is distinguished from a group by its capital.
func ParseObject(text string) (api.ObjectName, error) {
	parts := strings.Split(text, ":")
	group, kind, ok := strings.Cut(parts[0], "/")
	switch {
	case ok && len(parts) >= 2:
		parts = []string{group, kind, strings.Join(parts[1:], ":")}
	case len(parts) == 2 && parts[0] != "" && parts[0][0] >= 'A' && parts[0][0] <= 'Z':
		parts = []string{"", parts[0], parts[1]}
	}
	if len(parts) > 3 { // names of roles have colons in them
		parts = []string{parts[0], parts[1], strings.Join(parts[2:], ":")}
	}
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return api.ObjectName{}, faultf(Invalid,
			"%q is not [GROUP/]KIND:[NAMESPACE/]NAME, for example apps/Deployment:web or Service:shop/web", text)
	}
	o := api.ObjectName{Group: parts[0], Kind: parts[1], Name: parts[2]}
	if namespace, name, ok := strings.Cut(parts[2], "/"); ok {
		o.Namespace, o.Name = namespace, name
	}
	if o.Name == "" || strings.Contains(o.Name, "/") {
		return api.ObjectName{}, faultf(Invalid, "%q has no name after its namespace, for example Service:shop/web", text)
	}
	return o, nil
}
