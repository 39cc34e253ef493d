package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/slipway-gitops/slipway/api"
)

const (
	// guardTime is how often it is checked that who reads a stream still may.
	guardTime = 5 * time.Second
	// beatTime is how often a stream with nothing to say shows that it lives, so that proxies leave it open.
	beatTime = 15 * time.Second
	// writeTime is how long a reader may take for a piece.
	writeTime = 30 * time.Second
)

// streamOutput is an answer that lasts.
type streamOutput struct {
	Body func(huma.Context)
}

// guard ends a stream when its reader signed out or lost the right. The context that it gives ends with it.
func (c *call) guard(ctx context.Context, still func(*call) bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	ticker := time.NewTicker(guardTime)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			fresh := *c
			var err error
			if fresh.who, err = c.cfg.Authn.Identify(c.request); err != nil || fresh.who.MustChangePassword {
				cancel()
				return
			}
			if fresh.policy, err = c.cfg.Policies.Policy(ctx); err != nil {
				continue // the database may come back; nothing was taken away
			}
			if !still(&fresh) {
				cancel()
				return
			}
		}
	}()
	return ctx, cancel
}

// unchanged says, in the middle of a long answer, why it cannot go on: who reads it has signed out, or may see something else
// than at its beginning.
func (c *call) unchanged(ctx context.Context) error {
	who, err := c.cfg.Authn.Identify(c.request)
	if err != nil {
		return err
	}
	policy, err := c.cfg.Policies.Policy(ctx)
	if err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	if who.MustChangePassword || !reflect.DeepEqual(policy.Filter(who.Subject, c.route.Permission), c.visible) {
		return api.Errorf(api.CodeForbidden, "what may be seen has changed meanwhile: ask again")
	}
	return nil
}

// cutExport ends an export in the middle: half of one must not look like a whole one.
func (c *call) cutExport(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil: // the reader has gone
	case api.CodeOf(err) == api.CodeForbidden || api.CodeOf(err) == api.CodeUnauthenticated:
		c.log.Info("export ended in the middle", "route", c.route.ID, "request_id", c.id, "why", err)
	default:
		c.log.Error("export", "route", c.route.ID, "request_id", c.id, "err", err)
	}
	panic(http.ErrAbortHandler) //nolint:forbidigo // the only way to cut an answer short, so that the client sees it
}

// oneLine makes one line of a text: what is in several lines of it stays apart.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
