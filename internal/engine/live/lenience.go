package live

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Lenience says what becomes of a kind that the credentials may not list (resource.respectRBAC of argocd-cm).
type Lenience string

// What can become of it.
const (
	LenientNot      Lenience = ""       // it is tried again and again, and reported where it was to be looked at
	LenientRefused  Lenience = "normal" // it is left alone where no Application has an object of it
	LenientReviewed Lenience = "strict" // in the same way, once the API server confirms that it may not be listed
)

// leftFor is for how long a kind is left alone that may not be listed. What an Application wants is asked for regardless.
const leftFor = 10 * time.Minute

// reviewTimeout bounds the question whether a kind may be listed.
const reviewTimeout = 10 * time.Second

// omissions are the kinds of a cluster that are left alone.
type omissions struct {
	how Lenience

	mu    sync.Mutex
	since map[object.Kind]time.Time
}

// note has a kind left alone.
func (o *omissions) note(kind object.Kind) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since == nil {
		o.since = map[object.Kind]time.Time{}
	}
	o.since[kind] = time.Now()
}

// lately reports whether a kind is left alone.
func (o *omissions) lately(kind object.Kind) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, omitted := o.since[kind]
	return omitted && time.Since(at) < leftFor
}

// omit ends the watches of a kind. What is known of its objects stays, and the next Application that wants one starts them again.
func (c *Cluster) omit(ws *watchers) {
	ws.cancel()
	c.omits.note(ws.res.Kind)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watches[ws.res.Kind] == ws {
		delete(c.watches, ws.res.Kind)
	}
}

// omitted reports whether a kind is left alone because of an error of its watch.
func (w *watcher) omitted(err error) bool {
	how := w.cluster.omits.how
	return how != LenientNot && apierrors.IsForbidden(err) && (how != LenientReviewed || !w.mayList())
}

// mayList asks the API server whether the kind may be listed. Where it does not answer, that counts as yes: the list is tried again.
func (w *watcher) mayList() bool {
	ctx, cancel := context.WithTimeout(w.all.ctx, reviewTimeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{
			"verb": "list", "group": w.res.Kind.Group, "resource": w.res.Plural, "namespace": w.namespace,
		}},
	})
	if err != nil {
		return true
	}
	raw, err := w.cluster.stream.Post(ctx, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
	if err != nil {
		return true
	}
	var review struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	return strict.Decode(raw, &review, strict.Foreign) != nil || review.Status.Allowed
}
