package core

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/slipway-gitops/slipway/api"
)

// Access is how a route is protected.
type Access int

// Kinds of access.
const (
	// Addressed needs the permission for the object that the request is about.
	Addressed Access = iota
	// Listed needs the permission for anything at all, and shows or does only what it is held for.
	Listed
	// SignedIn needs any caller: it is about themselves.
	SignedIn
	// Public needs no caller.
	Public
)

// String is the word that the description has for it.
func (a Access) String() string {
	switch a {
	case Addressed:
		return "addressed"
	case Listed:
		return "listed"
	case SignedIn:
		return "signed-in"
	case Public:
		return "public"
	}
	return ""
}

// Route is a line of the table.
type Route struct {
	Method, Path string
	Permission   api.Permission
	Access       Access
	// Own is what a limited token needs, at the account, for a route of SignedIn; Within says instead that the handler asks
	// itself what the token may. A route with neither is for no limited token.
	Own    api.Permission
	Within bool
	// Audit is the action in the audit log; "" for what changes nothing.
	Audit string
	// ID names the operation for programs, Summary for people, Tag its noun.
	ID, Summary, Tag string
	// Example is a body that is accepted, as JSON.
	Example string
	// Reads changes nothing although it is no GET.
	Reads bool
	// Secret answers are never kept for an idempotency key.
	Secret bool
	// Unsettled routes are also for users who must choose a password first.
	Unsettled bool
	// Begins a sign-in: how often an address may is limited, as it is for signing in.
	Begins bool
	// Streams last as long as both ends like.
	Streams bool
	// Returns a user whom another server sends here, with parameters of its own beside the known ones (RFC 6749, 4.1.2).
	Returns bool

	Mount Mounter
	// parameters are the names of those that may be in the query, in order.
	parameters []string
	// lists are those of the parameters that may come several times.
	lists []string
}

// Mounter registers a route with the types of its input and output.
type Mounter func(huma.API, huma.Operation)

// Answer is how a route is answered: find says what it is about, do does it. refuse answers what failed in another way than
// by a problem, or with nil by that.
type Answer[I, O any] struct {
	Find   func(context.Context, *Call, *I) (Target, error)
	Do     func(context.Context, *Call, *I) (*O, error)
	Refuse func(*Call, *Problem) *O
}

// Mount registers a route with its types.
func Mount[I, O any](h Answer[I, O]) Mounter {
	return func(to huma.API, op huma.Operation) {
		huma.Register(to, op, func(ctx context.Context, in *I) (*O, error) {
			c := callOf(ctx)
			answered := false
			defer func() {
				if !answered { // it panics: what it did until then is not known
					_ = c.record(ctx, errors.New("panic")) // an error is in the log
				}
			}()
			out, err := answer(ctx, c, h, in)
			answered = true
			if err = c.record(ctx, err); err != nil {
				if Untold(err) && ctx.Err() == nil {
					c.Log.Error("request", "request_id", c.ID, "method", c.Route.Method, "path", c.Route.Path, "err", err)
				}
				said := NewProblem(err, c.ID)
				if h.Refuse != nil {
					if out := h.Refuse(c, said); out != nil {
						return out, nil
					}
				}
				return nil, said
			}
			return out, nil
		})
	}
}

func answer[I, O any](ctx context.Context, c *Call, h Answer[I, O], in *I) (*O, error) {
	err := c.authorise(func() (Target, error) { return h.Find(ctx, c, in) })
	if err != nil {
		return nil, err
	}
	if c.kept {
		c.Quiet, c.replays = true, true
		return nil, errReplays
	}
	return h.Do(ctx, c, in)
}

// operation is the description of a route.
func (r *Route) operation() huma.Operation {
	op := huma.Operation{
		OperationID: r.ID, Method: r.Method, Path: r.Path, Summary: r.Summary, Tags: []string{r.Tag},
		Description:     r.description(),
		MaxBodyBytes:    maxBody,
		BodyReadTimeout: -1, // the body has been read when it comes here
		Responses:       map[string]*huma.Response{},
		Security:        []map[string][]string{{"token": {}}, {"session": {}}},
	}
	if r.Access == Public {
		op.Security = []map[string][]string{{}}
	}
	for _, status := range r.problems() {
		op.Responses[status] = &huma.Response{Ref: "#/components/responses/problem"}
	}
	return op
}

func (r *Route) description() string {
	switch r.Access {
	case Addressed:
		return "Requires the permission `" + string(r.Permission) + "` for the object."
	case Listed:
		return "Requires the permission `" + string(r.Permission) + "` in some scope, and returns only objects for which the caller has it."
	case SignedIn:
		switch {
		case r.Within:
			return "Requires a session or a token, and no permission. A limited token reaches only objects within its limits."
		case r.Own != "":
			return "Requires a session or a token, and no permission. A limited token needs `" + string(r.Own) + "` for the account."
		}
		return "Requires a session, or an unlimited token, and no permission."
	case Public:
	}
	return "Requires no session and no token."
}

// problems are the statuses of errors that a client has to expect.
func (r *Route) problems() []string {
	out := []string{"429", "500"}
	if r.Access != Public {
		out = append(out, "401", "403")
	}
	if r.Access == Addressed {
		out = append(out, "404")
	}
	if r.Method != http.MethodGet {
		out = append(out, "409", "413", "422")
	} else {
		out = append(out, "422")
	}
	return out
}
