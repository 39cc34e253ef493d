package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/slipway-gitops/slipway/api"
)

// Entities are all entities of one noun: organizations, roles and so on.
type Entities[T any] struct {
	c    *Client
	many string
}

// List gives one page.
func (e Entities[T]) List(ctx context.Context, options api.ListOptions) (api.Page[T], error) {
	return ask[api.Page[T]](ctx, e.c, call{method: http.MethodGet, path: at(e.many), query: listQuery(options)})
}

// All gives every one that may be seen and passes the filters, page after page.
func (e Entities[T]) All(ctx context.Context, options api.ListOptions) ([]T, error) {
	return All(options, func(o api.ListOptions) (api.Page[T], error) { return e.List(ctx, o) })
}

// Get reads one.
func (e Entities[T]) Get(ctx context.Context, id string) (T, error) {
	return ask[T](ctx, e.c, call{method: http.MethodGet, path: at(e.many, id)})
}

// Create makes one; with dryRun the server only checks it.
func (e Entities[T]) Create(ctx context.Context, v T, dryRun bool) (T, error) {
	return ask[T](ctx, e.c, call{method: http.MethodPost, path: at(e.many), query: dry(dryRun), body: v})
}

// Update changes one, where its version is still that of v; whatever the version is where that is 0.
func (e Entities[T]) Update(ctx context.Context, id string, v T, dryRun bool) (T, error) {
	return ask[T](ctx, e.c, call{method: http.MethodPut, path: at(e.many, id), query: dry(dryRun), body: v})
}

// Upsert makes one, or changes it where it is there.
func (e Entities[T]) Upsert(ctx context.Context, id string, v T, dryRun bool) (T, error) {
	query := dry(dryRun)
	query.Set("upsert", "true")
	return ask[T](ctx, e.c, call{method: http.MethodPut, path: at(e.many, id), query: query, body: v})
}

// Delete removes one. What something refers to is refused with the references, unless it is forced.
func (e Entities[T]) Delete(ctx context.Context, id string, options api.DeleteOptions, dryRun bool) error {
	return e.c.do(ctx, call{method: http.MethodDelete, path: at(e.many, id), query: deleteQuery(options, dryRun), version: options.Version}, nil)
}

func deleteQuery(options api.DeleteOptions, dryRun bool) url.Values {
	query := dry(dryRun)
	if options.Force {
		query.Set("force", "true")
	}
	return query
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

// CreateUser makes a user. Without a password the answer has one that the server made; it is said once.
func (c *Client) CreateUser(ctx context.Context, user api.UserCreate, dryRun bool) (api.UserCreated, error) {
	return ask[api.UserCreated](ctx, c, call{method: http.MethodPost, path: at("users"), query: dry(dryRun), body: user, once: true})
}

// ResetPassword gives a user a password that they have to change; it is said once.
func (c *Client) ResetPassword(ctx context.Context, user string) (api.PasswordReset, error) {
	return ask[api.PasswordReset](ctx, c, call{method: http.MethodPost, path: at("users", user, "password"), once: true})
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

// get reads something that there is.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	return ask[T](ctx, c, call{method: http.MethodGet, path: path, query: query})
}

func dry(on bool) url.Values {
	query := url.Values{}
	if on {
		query.Set("dryRun", "true")
	}
	return query
}

func listQuery(o api.ListOptions) url.Values {
	query := url.Values{}
	set(query, "cursor", o.Cursor)
	set(query, "sort", o.Sort)
	set(query, "search", o.Search)
	set(query, "scope", string(o.Scope))
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

func set(query url.Values, key, value string) {
	if value != "" {
		query.Set(key, value)
	}
}

func setInt(query url.Values, key string, value int64) {
	if value != 0 {
		query.Set(key, strconv.FormatInt(value, 10))
	}
}
