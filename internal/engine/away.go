package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// longestAway is how long an operation waits at most until it tries an API server again that was away.
const longestAway = 10 * time.Second

// away reports whether an API server could not be reached, or was gone before it answered: then it is not known whether
// the request was carried out, which is no failure of what was asked. A server that hangs is none of these.
func away(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	var request *url.Error
	return errors.As(err, &request) && !request.Timeout() || errors.Is(err, io.ErrUnexpectedEOF)
}

// awaitServer has an operation wait for an API server that is away. What is not known to be done is looked at again, and
// done then.
func (x *execution) awaitServer(err error) plan.Move {
	x.u.away++
	m := x.again(fmt.Sprintf("the cluster does not answer, the operation goes on when it does: %v", err))
	x.wakeIn(min(longestAway, confirmPause<<min(x.u.away-1, 4)))
	return m
}
