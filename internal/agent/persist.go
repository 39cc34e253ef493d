package agent

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// errWatchEnded is a watch that ended before it reported the awaited event.
var errWatchEnded = errors.New("the API server ended the watch")

// What persist does, in its messages.
const (
	namespaceMade   = "making the namespace of the agent"
	clusterPrepared = "preparing the cluster"
)

// persist does what an agent cannot begin without, again and again while the API server is in no state to answer. Each time the
// log says why, and so does /readyz. An error that waiting cannot fix ends it. It returns nil where ctx ended: whatever comes
// next sees that.
func (a *Agent) persist(ctx context.Context, what string, do func(context.Context) error) error {
	backoff := wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: math.MaxInt32, Cap: 30 * time.Second}
	defer a.waits.Store(nil)
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := do(ctx)
		if err == nil || ctx.Err() != nil || !passes(err) {
			return true, err
		}
		why := what + " is tried again: " + err.Error()
		a.waits.Store(&why)
		a.log.Warn("the API server is in no state to begin, trying again", "what", what, "err", err)
		return false, nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// passes reports whether an error of the API server, or on the way to it, may be gone in a moment.
func passes(err error) bool {
	var network net.Error
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, errWatchEnded), errors.Is(err, context.DeadlineExceeded), apierrors.IsTooManyRequests(err):
		return true
	case errors.As(err, &status):
		return status.Status().Code >= 500 // about itself, or about its requests: its store, an admission webhook
	}
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF)
}
