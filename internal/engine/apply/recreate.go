package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// goneLimit is how long an object may take to go before it is created again, the pods that end with it included.
const goneLimit = 2 * time.Minute

// replaceable reports whether an object may be deleted to be created again.
func replaceable(k object.Key) bool {
	_, held := guard.JudgeReplacement(k)
	return held == nil
}

// recreate deletes an object and creates it again. refusal is why it cannot be changed in place; nil where that was not
// tried. Nothing is deleted before the API server has accepted the new object in a dry run.
func (w *writing) recreate(ctx context.Context, refusal error) Outcome {
	key := w.change.Key
	leave, held := guard.JudgeReplacement(key)
	if held != nil {
		return Outcome{Change: w.change, Err: refusal, Message: fmt.Sprintf("%s; %v", Explain(key, refusal), held)}
	}
	if err := w.creatable(ctx); err != nil {
		return Outcome{Change: w.change, Err: err, Message: Explain(key, err) + " (nothing was deleted)"}
	}
	if w.how.DryRun {
		return Outcome{Change: w.change, Message: messageRecreated + messageDry}
	}
	have, err := w.get(ctx)
	if err != nil && !apierrors.IsNotFound(err) {
		return w.failed(err)
	}
	if err == nil {
		uid := object.Text(object.Dict(have, "metadata"), "uid")
		if err := w.target.Client.Delete(ctx, leave, w.resource, key, uid, propagationOf(key.GroupKind())); err != nil {
			return w.failed(err)
		}
		if err := w.target.Client.awaitGone(ctx, w.resource, key, uid, goneLimit); err != nil {
			return Outcome{Change: w.change, Err: err, Message: err.Error()}
		}
	}
	var obj map[string]any
	tries := 8
	pauses := wait.Backoff{Duration: 20 * time.Millisecond, Factor: 2, Steps: tries}
	_ = pauses.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		obj, err = w.applied(ctx)
		tries--
		return !heldByOld(err) || tries == 0, nil
	})
	if err != nil {
		out := w.failed(err)
		out.Message += " (it was deleted, and the next sync creates it again)"
		return out
	}
	return w.done(ctx, obj, messageRecreated)
}

// creatable asks the API server whether it would take the manifest if nothing of that name were there. It looks at the
// name last.
func (w *writing) creatable(ctx context.Context) error {
	_, err := w.target.Client.create(ctx, w.resource, w.manifest, w.validation(), true)
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	if heldByOld(err) {
		return nil
	}
	return err
}

// heldByOld reports whether a new Service is refused for an address or a port that the old one may hold. An API server
// gives them free a moment after the object is gone, and reports nothing.
func heldByOld(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "already allocated")
}

// AwaitGone waits until an object does not exist, for limit at most.
func (t Target) AwaitGone(ctx context.Context, key object.Key, limit time.Duration) error {
	res, err := t.Live.Find(ctx, key.GroupKind(), "")
	if err != nil {
		return err
	}
	return t.Client.awaitGone(ctx, res, key, "", limit)
}

// awaitGone waits until there is no object of that name, or another one than uid where that is given.
func (c *Client) awaitGone(ctx context.Context, res live.Resource, key object.Key, uid string, limit time.Duration) error {
	have, err := c.Get(ctx, res, key) // outside of the limit: the error names what holds the object
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var meta map[string]any
	const watches = 20 // each ends by an event; one that ends immediately must not be repeated forever
	for range watches {
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return lateOr(ctx, key, limit, meta, err)
		}
		meta, _ = have["metadata"].(map[string]any)
		if uid != "" && meta["uid"] != uid {
			return nil
		}
		version, _ := meta["resourceVersion"].(string)
		gone, failed := c.watchGone(ctx, res, key, version)
		if gone {
			return nil
		}
		if failed != nil {
			return lateOr(ctx, key, limit, meta, failed)
		}
		have, err = c.Get(ctx, res, key)
	}
	return fmt.Errorf("wait until %s is gone: the API server ends each watch immediately: the sync is retried", key)
}

// lateOr distinguishes the end of the time from other reasons to stop waiting.
func lateOr(ctx context.Context, key object.Key, limit time.Duration, meta map[string]any, err error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("wait until %s is gone: %w", key, err)
	}
	if held, _ := meta["finalizers"].([]any); len(held) > 0 {
		return fmt.Errorf("%s is still being deleted after %s: find the controller that must remove its finalizers %v", key, limit, held)
	}
	return fmt.Errorf("%s is still being deleted after %s: the sync is tried again", key, limit)
}

// watchGone watches one object from version on and reports whether it was deleted. Without a word on that, the watch
// has ended and the object must be looked at again.
func (c *Client) watchGone(ctx context.Context, res live.Resource, key object.Key, version string) (bool, error) {
	feed, err := c.rest.Get().AbsPath(res.Path(res.Version, key.Namespace, "")).
		Param("watch", "true").Param("fieldSelector", "metadata.name="+key.Name).Param("resourceVersion", version).
		Stream(ctx)
	if err != nil {
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return false, nil
		}
		return false, err
	}
	defer feed.Close()
	events := json.NewDecoder(feed)
	for {
		var event struct {
			Type string `json:"type"`
		}
		switch err := events.Decode(&event); {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("read watch of %s: %w", key, err)
		}
		switch event.Type {
		case "DELETED":
			return true, nil
		case "ERROR":
			return false, nil
		}
	}
}
