package core

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
	// guardTime is how often it is checked that the reader of a stream still may.
	guardTime = 5 * time.Second
	// BeatTime is how often a stream with nothing to say shows that it lives, so that proxies leave it open.
	BeatTime = 15 * time.Second
	// WriteTime is how long a reader may take for a piece.
	WriteTime = 30 * time.Second
)

// StreamOutput is an answer that lasts.
type StreamOutput struct {
	Body func(huma.Context)
}

// Guard ends a stream when its reader signed out or lost the right. The context that it gives ends with it.
func (c *Call) Guard(ctx context.Context, still func(*Call) bool) (context.Context, context.CancelFunc) {
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
			if fresh.Who, err = c.cfg.Authn.Identify(c.Request); err != nil || fresh.Who.MustChangePassword {
				cancel()
				return
			}
			if fresh.Policy, err = c.cfg.Policies.Policy(ctx); err != nil {
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

// Unchanged says, in the middle of a long answer, why it cannot go on: its reader has signed out, or may see something else
// than at its beginning.
func (c *Call) Unchanged(ctx context.Context) error {
	who, err := c.cfg.Authn.Identify(c.Request)
	if err != nil {
		return err
	}
	policy, err := c.cfg.Policies.Policy(ctx)
	if err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	if who.MustChangePassword || !reflect.DeepEqual(policy.Filter(who.Subject, c.Route.Permission), c.Visible) {
		return api.Errorf(api.CodeForbidden, "your permissions have changed in the meantime: send the request again")
	}
	return nil
}

// CutExport ends an export in the middle: half of one must not look like a whole one.
func (c *Call) CutExport(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil: // the reader has gone
	case api.CodeOf(err) == api.CodeForbidden || api.CodeOf(err) == api.CodeUnauthenticated:
		c.Log.Info("export ended in the middle", "route", c.Route.ID, "request_id", c.ID, "why", err)
	default:
		c.Log.Error("export", "route", c.Route.ID, "request_id", c.ID, "err", err)
	}
	panic(http.ErrAbortHandler) //nolint:forbidigo // the only way to cut an answer short, so that the client sees it
}

// OneLine makes one line of a text: what is in several lines of it stays apart.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
