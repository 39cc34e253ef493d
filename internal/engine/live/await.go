package live

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// kindWait is how long a kind may take to be served after its definition was applied.
const kindWait = 15 * time.Second

// AwaitKind is Find for a kind whose definition may have been applied a moment ago: the API server serves it a little
// later, and offers nothing to watch for that, so it is asked again with growing pauses.
func (c *Cluster) AwaitKind(ctx context.Context, kind object.Kind, version string) (Resource, error) {
	res, err := c.Find(ctx, kind, version)
	var unknown *UnknownKindError
	if !errors.As(err, &unknown) {
		return res, err
	}
	backoff := wait.Backoff{Duration: 20 * time.Millisecond, Factor: 1.5, Steps: 20, Cap: time.Second}
	ctx, cancel := context.WithTimeout(ctx, kindWait)
	defer cancel()
	// Not by ExponentialBackoffWithContext, which gives up when the pause reaches its cap.
	_ = backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		c.catalog.invalidate()
		res, err = c.Find(ctx, kind, version)
		return !errors.As(err, &unknown), nil
	})
	return res, err
}
