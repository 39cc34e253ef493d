package apply

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// How says how an object is written. The zero value is a server-side apply.
type How struct {
	Own     object.Options // those of the manifest
	App     object.Options // those of the operation; the object's own go before them
	Manager string         // one more field manager that wrote by client-side apply, and whose fields pass to us
	DryRun  bool
	// Destination is the namespace that the sync option CreateNamespace makes, for messages; "" where it is not known.
	Destination string
}

// What became of an object, for people. MessageNotPruned is for callers that decide that an object is not pruned.
const (
	MessagePruned      = "pruned"
	MessagePrunedDry   = "pruned (dry run)"
	MessageNotPruned   = "ignored (no prune)"
	messageApplied     = "serverside-applied"
	messageReplaced    = "replaced"
	messageCreated     = "created"
	messageRecreated   = "deleted and created"
	messageDry         = " (dry run)"
	messageUnknownKind = "not tried (dry run): the cluster does not know the kind yet"
	messageNoNamespace = "not tried (dry run): the namespace comes with this sync"
)

// maxRaces is how often a write is tried against others who write the same object.
const maxRaces = 5

// Write makes an object what its manifest says: by server-side apply, or as its sync options ask, those of the live
// object included.
func (t Target) Write(ctx context.Context, c diff.Change, m object.Manifest, how How) Outcome {
	find := t.Live.AwaitKind
	if how.DryRun {
		find = t.Live.Find
	}
	res, err := find(ctx, c.Key.GroupKind(), m.Version)
	if err != nil {
		return Outcome{Change: c, Err: err, Message: err.Error()}
	}
	w := writing{target: t, change: c, resource: res, manifest: m, how: how}
	return w.run(ctx)
}

// Try is a dry run of a server-side apply: it returns what the object would be.
func (t Target) Try(ctx context.Context, res live.Resource, m object.Manifest, how How) (map[string]any, error) {
	how.DryRun = true
	w := writing{target: t, change: diff.Change{Key: m.Key, Version: m.Version}, resource: res, manifest: m, how: how}
	w.settleOptions(object.Options{})
	return w.applied(ctx)
}

// writing is one object while it is written.
type writing struct {
	target   Target
	change   diff.Change
	resource live.Resource
	manifest object.Manifest
	how      How
	options  object.Options // the object's own, the live object's and the operation's in one
}

// run chooses the way. An object that is known to be ours alone is applied without a look at it.
func (w *writing) run(ctx context.Context) Outcome {
	rec, tracked, foreign := w.target.Live.Get(w.change.Key)
	w.settleOptions(object.Options{Replace: rec.Replace, Force: rec.Force})
	adopted := rec.Inherits || w.how.Manager != "" && tracked && rec.AppliedAt == 0
	if !foreign && !w.options.Replace.Is() && (!adopted || w.how.DryRun) {
		return w.apply(ctx)
	}
	have, err := w.get(ctx)
	if apierrors.IsNotFound(err) {
		have, err = nil, nil
	}
	if err != nil {
		return w.failed(err)
	}
	w.settleOptions(object.OptionsOf(have))
	if w.options.Replace.Is() {
		return w.replace(ctx, have)
	}
	if !w.how.DryRun {
		if err := w.inherit(ctx, have); err != nil {
			return w.failed(err)
		}
	}
	return w.apply(ctx)
}

func (w *writing) settleOptions(has object.Options) {
	w.options = w.how.Own.WithLive(has).Over(w.how.App)
}

func (w *writing) get(ctx context.Context) (map[string]any, error) {
	return w.target.Client.Get(ctx, w.resource, w.change.Key)
}

// apply is the usual way: one request.
func (w *writing) apply(ctx context.Context) Outcome {
	obj, err := w.applied(ctx)
	switch {
	case err != nil && w.options.Force.Is() && refusedToChange(err):
		return w.recreate(ctx, err)
	case err != nil && w.crowded(ctx, err):
		return Outcome{Change: w.change, Err: err, Message: explain(w.change.Key,
			err, "the manifest alone would be taken, so an entry that another client "+
				"put into the list is in its way: remove that, or set the sync option Replace=true on the object, "+
				"which leaves only the content of the manifest")}
	case err != nil:
		return w.failed(err)
	}
	return w.done(ctx, obj, messageApplied)
}

// applied sends the manifest, without fields that the kind does not have where those are to be overlooked.
func (w *writing) applied(ctx context.Context) (map[string]any, error) {
	obj, err := w.target.Client.Apply(ctx, w.resource, w.manifest, w.how.DryRun)
	if err != nil && w.options.Validate == object.No {
		return w.applyKnown(ctx, err)
	}
	return obj, err
}

// replace writes the whole object: what the manifest does not say goes, defaults aside. With Force it is deleted first,
// where that does no harm.
func (w *writing) replace(ctx context.Context, have map[string]any) Outcome {
	if have != nil && w.options.Force.Is() && replaceable(w.change.Key) {
		return w.recreate(ctx, nil)
	}
	var obj map[string]any
	var err error
	message := messageReplaced
	for range maxRaces {
		if have == nil {
			message = messageCreated
			obj, err = w.target.Client.create(ctx, w.resource, w.manifest, w.validation(), w.how.DryRun)
		} else {
			message = messageReplaced
			obj, err = w.put(ctx, have)
		}
		raced := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || have != nil && apierrors.IsNotFound(err)
		if !raced {
			break
		}
		var lost error
		if have, lost = w.get(ctx); lost != nil && !apierrors.IsNotFound(lost) {
			return w.failed(lost)
		}
	}
	if err != nil {
		return w.failed(err)
	}
	return w.claim(ctx, obj, message)
}

// put writes the manifest over have. Finalizers and owners that others have set stay: without them what they guard
// would be lost, or never cleaned up.
func (w *writing) put(ctx context.Context, have map[string]any) (map[string]any, error) {
	want, err := w.manifest.Decode()
	if err != nil {
		return nil, err
	}
	to, ok := want["metadata"].(map[string]any)
	from, had := have["metadata"].(map[string]any)
	if !ok || !had {
		return nil, fmt.Errorf("%s has no metadata", w.change.Key)
	}
	to["resourceVersion"] = from["resourceVersion"]
	for _, field := range []string{"finalizers", "ownerReferences"} {
		if _, said := to[field]; !said && from[field] != nil {
			to[field] = from[field]
		}
	}
	body, err := json.Marshal(want)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", w.change.Key, err)
	}
	return w.target.Client.update(ctx, w.resource, w.manifest, body, w.validation(), w.how.DryRun)
}

// claim applies what was written as a whole once more, which changes nothing in the object but says exactly which
// fields are ours: a client that writes a whole object owns only what that has changed. Drift is seen by those fields.
func (w *writing) claim(ctx context.Context, obj map[string]any, message string) Outcome {
	if w.how.DryRun {
		return w.done(ctx, obj, message)
	}
	claimed, err := w.applied(ctx)
	switch {
	case err == nil:
		return w.done(ctx, claimed, message)
	case Retriable(err):
		return w.failed(err)
	}
	// Some objects can be written as a whole and not be applied; it may be why they are.
	return w.done(ctx, obj, message+"; changes to it in the cluster are not noticed, for the API server does not apply it: "+
		Explain(w.change.Key, err))
}

// validation says what becomes of fields that the kind does not have, where an object is written as a whole.
func (w *writing) validation() string {
	if w.options.Validate == object.No {
		return metav1.FieldValidationIgnore
	}
	return metav1.FieldValidationStrict
}

// done records the answer to a write.
func (w *writing) done(ctx context.Context, obj map[string]any, message string) Outcome {
	c := w.change
	if w.how.DryRun {
		return Outcome{Change: c, Message: message + messageDry}
	}
	if w.manifest.Version != w.resource.Version {
		// The fingerprint must be of the version that the watch reads.
		var err error
		if obj, err = w.get(ctx); err != nil {
			return w.failed(err)
		}
	}
	w.target.Live.Applied(w.resource, obj, w.manifest.Hash())
	return Outcome{Change: c, Message: c.Key.Kind + "/" + c.Key.Name + " " + message}
}

func (w *writing) failed(err error) Outcome {
	key := w.change.Key
	if apierrors.IsNotFound(err) {
		w.target.Client.Missed(object.Key{Kind: "Namespace", Name: key.Namespace})
	}
	return Outcome{Change: w.change, Err: err, Message: explain(key, err, w.namespaceAdvice(err))}
}
