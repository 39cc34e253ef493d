package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// Entities are all entities of one noun: organizations, roles and so on.
type Entities[T any] struct {
	c    *Client
	many string
}

// List gives one page.
func (e Entities[T]) List(ctx context.Context, options api.ListOptions) (api.Page[T], error) {
	return get[api.Page[T]](ctx, e.c, listQuery(options), e.many)
}

// All gives every one that may be seen and passes the filters, page after page.
func (e Entities[T]) All(ctx context.Context, options api.ListOptions) ([]T, error) {
	return All(options, func(o api.ListOptions) (api.Page[T], error) { return e.List(ctx, o) })
}

// Get reads one.
func (e Entities[T]) Get(ctx context.Context, id string) (T, error) {
	return get[T](ctx, e.c, nil, e.many, id)
}

// Create makes one; with dryRun the server only checks it.
func (e Entities[T]) Create(ctx context.Context, v T, dryRun bool) (T, error) {
	return post[T](ctx, e.c, dry(dryRun), v, e.many)
}

// Update changes one, where its version is still that of v; whatever the version is where that is 0.
func (e Entities[T]) Update(ctx context.Context, id string, v T, dryRun bool) (T, error) {
	return put[T](ctx, e.c, dry(dryRun), v, e.many, id)
}

// Upsert makes one, or changes it where it is there.
func (e Entities[T]) Upsert(ctx context.Context, id string, v T, dryRun bool) (T, error) {
	return put[T](ctx, e.c, setBool(dry(dryRun), "upsert", true), v, e.many, id)
}

// Delete removes one. What something refers to is refused with the references, unless it is forced.
func (e Entities[T]) Delete(ctx context.Context, id string, options api.DeleteOptions, dryRun bool) error {
	query := setBool(dry(dryRun), "force", options.Force)
	return e.c.do(ctx, call{method: http.MethodDelete, path: at(e.many, id), query: query, version: options.Version}, nil)
}

// Organizations of the account.
func (c *Client) Organizations() Entities[api.Organization] {
	return Entities[api.Organization]{c, "organizations"}
}

// Projects of organizations.
func (c *Client) Projects() Entities[api.Project] { return Entities[api.Project]{c, "projects"} }

// Groups of users.
func (c *Client) Groups() Entities[api.Group] { return Entities[api.Group]{c, "groups"} }

// ServiceAccounts are programs that use the API.
func (c *Client) ServiceAccounts() Entities[api.ServiceAccount] {
	return Entities[api.ServiceAccount]{c, "service-accounts"}
}

// Roles are sets of permissions.
func (c *Client) Roles() Entities[api.Role] { return Entities[api.Role]{c, "roles"} }

// ResourceGroups are sets of objects.
func (c *Client) ResourceGroups() Entities[api.ResourceGroup] {
	return Entities[api.ResourceGroup]{c, "resource-groups"}
}

// Bindings give roles to principals.
func (c *Client) Bindings() Entities[api.Binding] { return Entities[api.Binding]{c, "bindings"} }

// Users of the account. CreateUser makes one, since that may say a password.
func (c *Client) Users() Entities[api.User] { return Entities[api.User]{c, "users"} }

// AgentEntities are the agents. CreateAgent makes one with its registration token.
func (c *Client) AgentEntities() Entities[api.Agent] { return Entities[api.Agent]{c, "agents"} }

// CreateUser makes a user. Without a password the answer has one that the server made; it is shown once.
func (c *Client) CreateUser(ctx context.Context, user api.UserCreate, dryRun bool) (api.UserCreated, error) {
	return once[api.UserCreated](ctx, c, dry(dryRun), user, "users")
}

// ResetPassword gives a user a password that they have to change; it is shown once.
func (c *Client) ResetPassword(ctx context.Context, user string) (api.PasswordReset, error) {
	return once[api.PasswordReset](ctx, c, nil, nil, "users", user, "password")
}

// All reads a list page after page.
func All[T any](options api.ListOptions, page func(api.ListOptions) (api.Page[T], error)) ([]T, error) {
	if options.Limit == 0 {
		options.Limit = api.MaxLimit
	}
	var out []T
	err := readOn(options.Cursor, func(cursor string) (string, error) {
		if cursor != options.Cursor {
			options.Cursor, options.Page = cursor, 0
		}
		p, err := page(options)
		out = append(out, p.Items...)
		return p.NextCursor, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// all gives all pages that a filter leaves; options are those in it.
func all[F, T any](ctx context.Context, filter *F, options *api.ListOptions,
	page func(context.Context, F) (api.Page[T], error),
) ([]T, error) {
	return All(*options, func(o api.ListOptions) (api.Page[T], error) {
		*options = o
		return page(ctx, *filter)
	})
}

// readOn asks for the parts of an answer, one after the other. part asks for the one at a cursor, and returns the cursor of the
// next, "" at the end.
func readOn(cursor string, part func(cursor string) (next string, err error)) error {
	for {
		next, err := part(cursor)
		if err != nil || next == "" || next == cursor {
			return err
		}
		cursor = next
	}
}

func dry(on bool) url.Values { return setBool(url.Values{}, "dryRun", on) }

func listQuery(o api.ListOptions) url.Values {
	query := set(url.Values{}, "cursor", o.Cursor, "sort", o.Sort, "search", o.Search, "scope", string(o.Scope))
	setInt(query, "limit", int64(o.Limit))
	setInt(query, "page", int64(o.Page))
	for key, value := range o.Labels {
		if value != "" {
			key += "=" + value
		}
		query.Add("label", key)
	}
	return query
}

// set adds parameters to a query, name and value by turns, but for those without a value.
func set(query url.Values, pairs ...string) url.Values {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			query.Set(pair[0], pair[1])
		}
	}
	return query
}

func setBool(query url.Values, key string, on bool) url.Values {
	if on {
		query.Set(key, "true")
	}
	return query
}

func setInt(query url.Values, key string, value int64) url.Values {
	if value != 0 {
		query.Set(key, strconv.FormatInt(value, 10))
	}
	return query
}

func setTime(query url.Values, key string, t time.Time) url.Values {
	if !t.IsZero() {
		query.Set(key, t.UTC().Format(time.RFC3339Nano))
	}
	return query
}
