// Package operate turns what a person asks of an Application (a sync, a rollback, a confirmation and so on) into a change
// of the resource. It is pure: the caller with the Application, a command or an agent, sends the change.
package operate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// RequestInfo names the entry of an operation's info by which a request finds itself in the status.
const RequestInfo = v1alpha1.InfoRequest

// ReasonInfo names the entry of an operation's info that says why.
const ReasonInfo = "reason"

// Who is the author of the request. Nothing is permitted by it: a user who may change the resource may write anything.
type Who struct {
	Name string // of a person or a service account
	ID   string // of the request
}

// Change is what a request makes of an Application.
type Change struct {
	// Patch is a JSON merge patch that holds only for the Application as it was read (metadata.resourceVersion), unless
	// that does not matter; nil where nothing is to be changed.
	Patch map[string]any
	// Operation is the one that is asked for; nil for none.
	Operation *v1alpha1.Operation
	// Pin is the one that is set, or would be; nil for none.
	Pin *v1alpha1.Pin
	// Allowance is the one that is given, or would be; nil for none.
	Allowance *v1alpha1.Allowance
	// Answer says what is asked for, or would be.
	Answer api.OperationAnswer
}

// nothing is the Change that changes nothing.
func nothing(format string, args ...any) Change {
	return Change{Answer: api.OperationAnswer{Message: fmt.Sprintf(format, args...)}}
}

// with makes the Change one that sends a patch, and its operation. The state of the operation before goes with it, as Argo CD's
// server has it go (SetAppOperation): its controller merges what it has to say into the state that it finds, so that whatever
// the next operation leaves out (prune, dryRun, resources) would be that of the one before.
func (c Change) with(patch map[string]any) Change {
	c.Patch, c.Answer.Changed = patch, true
	if c.Operation != nil {
		patch["operation"], patch["status"] = c.Operation, map[string]any{"operationState": nil}
		c.Answer.Request = requestID(c.Operation)
	}
	return c
}

func requestID(op *v1alpha1.Operation) string {
	for _, i := range op.Info {
		if i.Name == RequestInfo {
			return i.Value
		}
	}
	return ""
}

// held is the patch that holds only for the Application as it was read.
func held(app *v1alpha1.Application) map[string]any {
	return map[string]any{"metadata": map[string]any{"resourceVersion": app.ResourceVersion}}
}

// annotate is held with annotations; nil takes one away.
func annotate(app *v1alpha1.Application, annotations map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"resourceVersion": app.ResourceVersion, "annotations": annotations}}
}

// newOperation requests a sync on behalf of a user.
func newOperation(app *v1alpha1.Application, sync *v1alpha1.SyncOperation, who Who, reason string) *v1alpha1.Operation {
	if len(sync.SyncOptions) == 0 && app.Spec.SyncPolicy != nil {
		sync.SyncOptions = slices.Clone(app.Spec.SyncPolicy.SyncOptions) // a controller of Argo CD goes by these alone
	}
	op := &v1alpha1.Operation{
		Sync:        sync,
		InitiatedBy: v1alpha1.OperationInitiator{Username: who.Name},
		Info:        []v1alpha1.Info{{Name: RequestInfo, Value: who.ID}},
	}
	if reason != "" {
		op.Info = append(op.Info, v1alpha1.Info{Name: ReasonInfo, Value: reason})
	}
	return op
}

// Operating reports whether an operation is under way or asked for.
func Operating(app *v1alpha1.Application) bool {
	op := app.Status.OperationState
	return app.Operation != nil || op != nil && !op.Phase.Completed()
}

// mayOperate says why no operation can be asked for now.
func mayOperate(app *v1alpha1.Application) error {
	if app.DeletionTimestamp != nil {
		return faultf(Conflict, "application %s is being deleted: nothing can be asked of it any more", app.Name)
	}
	if Operating(app) {
		return faultf(Busy, "application %s has an operation under way: wait with `slipway app wait %s --operation`, or end it with "+
			"`slipway app terminate-op %s`, then try again", app.Name, app.Name, app.Name)
	}
	return nil
}

// Fault says what kind of error a request came to.
type Fault int

// The kinds of errors.
const (
	// None is no error, or one that did not come from here.
	None Fault = iota
	// Invalid requests make no sense, whatever the state of the Application.
	Invalid
	// Missing is what a request names and the Application does not have.
	Missing
	// Conflict is a request that does not fit the state of the Application.
	Conflict
	// Busy is a Conflict with an operation that is under way, whose end can be waited for.
	Busy
)

// Error is why a request cannot be carried out, with what to do next.
type Error struct {
	Fault Fault
	Text  string
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

func faultf(f Fault, format string, args ...any) error {
	return &Error{Fault: f, Text: fmt.Sprintf(format, args...)}
}

// maxReason is how long a reason may be, in bytes.
const maxReason = 1000

func checkReason(reason string) error {
	if len(reason) > maxReason {
		return faultf(Invalid, "the reason has %d bytes, and at most %d are kept: shorten it", len(reason), maxReason)
	}
	return nil
}

// kindText prints "Deployment.apps".
func kindText(group, kind string) string {
	if group == "" {
		return kind
	}
	return kind + "." + group
}

// placeText prints "shop/web".
func placeText(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func keyText(k object.Key) string {
	return kindText(k.Group, k.Kind) + " " + placeText(k.Namespace, k.Name)
}

// objectsText names objects, not more than a sentence can hold.
func objectsText(keys []object.Key) string {
	const shown = 5
	var parts []string
	for i, k := range keys {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(keys)-shown))
			break
		}
		parts = append(parts, keyText(k))
	}
	return strings.Join(parts, ", ")
}

func nameOf(k object.Key) api.ObjectName {
	return api.ObjectName{Group: k.Group, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name}
}

// keyOf is the identity of a resource in a status.
func keyOf(r *v1alpha1.ResourceStatus) object.Key {
	return object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// named reports whether a name stands for an object: a namespace that is left out stands for any.
func named(n api.ObjectName, k object.Key) bool {
	return n.Group == k.Group && n.Kind == k.Kind && n.Name == k.Name && (n.Namespace == "" || n.Namespace == k.Namespace)
}

func objectsOf(keys []object.Key) []api.OperationObject {
	out := make([]api.OperationObject, 0, len(keys))
	for _, k := range keys {
		out = append(out, api.OperationObject{ObjectName: nameOf(k)})
	}
	return out
}

// OwnObject finds an object of the Application, which has at most one with that name unless a namespace distinguishes them.
func OwnObject(app *v1alpha1.Application, asked api.ObjectName) (object.Key, error) {
	var found []object.Key
	for i := range app.Status.Resources {
		r := &app.Status.Resources[i]
		if k := keyOf(r); !r.Hook && named(asked, k) {
			found = append(found, k)
		}
	}
	what := kindText(asked.Group, asked.Kind) + " " + placeText(asked.Namespace, asked.Name)
	switch len(found) {
	case 0:
		return object.Key{}, faultf(Missing, "application %s has no %s; `slipway app get %s` lists its objects", app.Name, what, app.Name)
	case 1:
		return found[0], nil
	}
	where := func(k object.Key) string {
		if k.Namespace == "" {
			return "none"
		}
		return k.Namespace
	}
	return object.Key{}, faultf(Invalid, "application %s has %s in %s and in %s; set the namespace", app.Name, what,
		where(found[0]), where(found[1]))
}

// stamp is a time as it is written into resources.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
