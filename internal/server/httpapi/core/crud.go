package core

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// entity is a pointer to something that has an api.Meta.
type entity[T any] interface {
	*T
	Base() *api.Meta
}

// Noun is how entities of one kind are listed, read, made, changed and deleted: five routes.
type Noun[T any, P entity[T]] struct {
	Store Entities[T]
	Kind  string
	// Many is the last part of the path, "resource-groups"; called is for people, "resource group".
	Many, Called string
	// Example is a body that makes one.
	Example string
	// Identify fills in id and scope of one that is to be made, and says at which scope one has to have the permission;
	// nil for "<scope>.<name>" and that scope.
	Identify func(P) (api.Scope, error)
	// Check looks at what is to be stored; before is nil for one that is to be made.
	Check func(ctx context.Context, c *Call, before, after P) error
}

// PageInput says which part of a list is wanted, and in which order. Its fields are parameters: the decoder sees only what is
// exported.
type PageInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number"`
	Cursor string `query:"cursor" maxLength:"2000" doc:"nextCursor of the previous page"`
	Page   int    `query:"page" minimum:"1" maximum:"100000" doc:"Number of the page, from 1, instead of the cursor"`
	Sort   string `query:"sort" maxLength:"64" doc:"Field to sort by, with - before it in reverse order" example:"-updatedAt"`
}

// Put puts them into the options of a list.
func (in *PageInput) Put(out *api.ListOptions) error {
	if in.Cursor != "" && in.Page > 0 {
		return api.Errorf(api.CodeInvalid, "cursor and page exclude each other: give one of them")
	}
	out.Limit, out.Cursor, out.Page, out.Sort = in.Limit, in.Cursor, in.Page, in.Sort
	return nil
}

// SelectInput says what is wanted of what has a scope and labels. Its fields are parameters: the decoder sees only what is
// exported.
type SelectInput struct {
	Search string   `query:"search" maxLength:"200" doc:"Text in name, display name or description"`
	Scope  string   `query:"scope" maxLength:"140" doc:"Only objects in this scope or below it" example:"org.acme"`
	Label  []string `query:"label,explode" maxItems:"20" doc:"Only objects with this label, key=value or key; several must all match" example:"[\"team=shop\"]"`
}

// Selection is it as options of a list.
func (in *SelectInput) Selection() (api.ListOptions, error) {
	out := api.ListOptions{Search: in.Search}
	if in.Scope != "" {
		scope, err := api.ParseScope(in.Scope)
		if err != nil {
			return out, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "query.scope"}
		}
		out.Scope = scope
	}
	for _, label := range in.Label {
		key, value, _ := strings.Cut(label, "=")
		if key == "" {
			return out, &api.Error{Code: api.CodeInvalid, Message: "a label has no key: write key=value or key", Field: "query.label"}
		}
		if out.Labels == nil {
			out.Labels = map[string]string{}
		}
		out.Labels[key] = value
	}
	return out, nil
}

// ListInput says what of a list is wanted. Its fields are parameters: the decoder sees only what is exported.
type ListInput struct {
	PageInput
	SelectInput
}

// Options are both as options of a list.
func (in *ListInput) Options() (api.ListOptions, error) {
	out, err := in.Selection()
	if err != nil {
		return out, err
	}
	err = in.Put(&out)
	return out, err
}

// IDInput names an entity. Its fields are parameters: the decoder sees only what is exported.
type IDInput struct {
	ID string `path:"id" maxLength:"210" doc:"Identifier" example:"org.acme.prod"`
}

// TryInput asks to change nothing. Its fields are parameters: the decoder sees only what is exported.
type TryInput struct {
	DryRun bool `query:"dryRun" doc:"Only validate, and change nothing"`
}

// IDTryInput names an entity, and may ask to change nothing. Its fields are parameters: the decoder sees only what is exported.
type IDTryInput struct {
	IDInput
	TryInput
}

// CreateInput is one that is to be made.
type CreateInput[T any] struct {
	TryInput
	Body T
}

type updateInput[T any] struct {
	IDInput
	TryInput
	Upsert  bool   `query:"upsert" doc:"Create it if it does not exist"`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that was read, instead of the version" example:"\"3\""`
	Body    T
}

// DeleteInput names one that is to go.
type DeleteInput struct {
	IDInput
	TryInput
	Force   bool   `query:"force" doc:"Delete it although other objects refer to it; the references to it are removed too"`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that was read"`
}

// Output is an answer with its version.
type Output[T any] struct {
	ETag string `header:"ETag" doc:"Version, for If-Match"`
	Body T
}

// PageOutput is a page of a list.
type PageOutput[T any] struct {
	Body api.Page[T]
}

// NoOutput is an answer without a body.
type NoOutput struct{}

// ETag is a version as a header.
func ETag(version int64) string {
	if version == 0 {
		return ""
	}
	return strconv.Quote(strconv.FormatInt(version, 10))
}

// Version reads what If-Match says; 0 for nothing and for "*".
func Version(ifMatch string) (int64, error) {
	text := strings.Trim(strings.TrimPrefix(ifMatch, "W/"), `"`)
	if text == "" || text == "*" {
		return 0, nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 {
		return 0, &api.Error{Code: api.CodeInvalid, Message: "If-Match is no version: send the ETag that was read", Field: "header.If-Match"}
	}
	return v, nil
}

func (n *Noun[T, P]) object(v P) rbac.Object {
	m := v.Base()
	return rbac.Object{Type: n.Kind, Scope: m.Scope, ID: m.ID, Labels: m.Labels}
}

// Find finds one by its id.
func (n *Noun[T, P]) Find(ctx context.Context, id string) (Target, error) {
	return Find[T, P](ctx, n.Store, n.Kind, id)
}

// Find finds an entity of a kind, as an object that rights are asked for.
func Find[T any, P entity[T]](ctx context.Context, store Entities[T], kind, id string) (Target, error) {
	v, err := store.Get(ctx, id)
	if err != nil {
		return Target{}, Missing(err, kind, id)
	}
	m := P(&v).Base()
	return Target{Object: rbac.Object{Type: kind, Scope: m.Scope, ID: m.ID, Labels: m.Labels}, Value: &v}, nil
}

// Fresh is one that is to be made, as an object that rights are asked for.
func (n *Noun[T, P]) Fresh(v P) (Target, error) {
	m := v.Base()
	if err := api.CheckName(m.Name); err != nil {
		return Target{}, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.name"}
	}
	scope, err := api.ParseScope(string(m.Scope))
	if err != nil {
		return Target{}, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.scope"}
	}
	m.Scope, m.ID = scope, scope.ID(m.Name)
	if n.Identify != nil {
		if scope, err = n.Identify(v); err != nil {
			return Target{}, err
		}
	}
	object := n.object(v)
	object.Scope, object.Asserted = scope, true
	return Target{Object: object}, CheckLabels(m.Labels)
}

const (
	// MaxLabels is how many one may have.
	MaxLabels     = 64
	maxLabelKey   = 317
	maxLabelValue = 200
)

// CheckLabels refuses labels that are too many, too long, or none.
func CheckLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return &api.Error{Code: api.CodeInvalid, Message: "there are more than 64 labels: leave some out", Field: "body.labels"}
	}
	for key, value := range labels {
		if key == "" || len(key) > maxLabelKey || len(value) > maxLabelValue || strings.ContainsAny(key, " \t\r\n=,") {
			return &api.Error{
				Code:    api.CodeInvalid,
				Message: "a label has no key, or key or value are too long or have blanks: write them as in Kubernetes", Field: "body.labels",
			}
		}
	}
	return nil
}

func (n *Noun[T, P]) permission(verb string) api.Permission {
	return api.Permission(string(n.Kind) + "_" + verb)
}

func (n *Noun[T, P]) route(method, verb, id, summary string) Route {
	path := "/api/v1/" + n.Many
	if !strings.HasPrefix(id, "list-") && !strings.HasPrefix(id, "create-") {
		path += "/{id}"
	}
	return Route{Method: method, Path: path, Permission: n.permission(verb), ID: id, Summary: summary, Tag: n.Many}
}

// name is the noun in ids of operations: "resource-group".
func (n *Noun[T, P]) name() string { return strings.ReplaceAll(n.Called, " ", "-") }

// Routes are list, get, create, update and delete; those of skip are left out, for a noun that has its own.
func (n *Noun[T, P]) Routes(skip ...string) []Route {
	all := []Route{n.list(), n.get(), n.Create(), n.update(), n.Remove()}
	return slices.DeleteFunc(all, func(r Route) bool {
		verb, _, _ := strings.Cut(r.ID, "-")
		return slices.Contains(skip, verb)
	})
}

func (n *Noun[T, P]) list() Route {
	r := n.route(http.MethodGet, "view", "list-"+n.Many, "List "+strings.ReplaceAll(n.Many, "-", " "))
	r.Access = Listed
	r.Mount = Mount(Answer[ListInput, PageOutput[T]]{Do: func(ctx context.Context, c *Call, in *ListInput) (*PageOutput[T], error) {
		options, err := in.Options()
		if err != nil {
			return nil, err
		}
		page, err := n.Store.List(ctx, c.Visible, options)
		return PageOf(page), err
	}})
	return r
}

// PageOf makes an empty list of none, which JSON would call null.
func PageOf[T any](page api.Page[T]) *PageOutput[T] {
	if page.Items == nil {
		page.Items = []T{}
	}
	return &PageOutput[T]{Body: page}
}

// Article is a name with its article.
func Article(name string) string {
	if strings.ContainsRune("AEIOaeio", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

func (n *Noun[T, P]) get() Route {
	r := n.route(http.MethodGet, "view", "get-"+n.name(), "Get "+Article(n.Called))
	r.Mount = Mount(Answer[IDInput, Output[T]]{
		Find: func(ctx context.Context, _ *Call, in *IDInput) (Target, error) { return n.Find(ctx, in.ID) },
		Do: func(_ context.Context, c *Call, _ *IDInput) (*Output[T], error) {
			v, _ := c.Before.(*T)
			return &Output[T]{ETag: ETag(P(v).Base().Version), Body: *v}, nil
		},
	})
	return r
}

// Create is the route that makes one.
func (n *Noun[T, P]) Create() Route {
	r := n.route(http.MethodPost, "edit", "create-"+n.name(), "Create "+Article(n.Called))
	r.Audit, r.Example = n.name()+".create", n.Example
	r.Mount = Mount(Answer[CreateInput[T], Output[T]]{
		Find: func(_ context.Context, _ *Call, in *CreateInput[T]) (Target, error) { return n.Fresh(&in.Body) },
		Do: func(ctx context.Context, c *Call, in *CreateInput[T]) (*Output[T], error) {
			return n.Make(ctx, c, in.Body, in.DryRun)
		},
	})
	return r
}

// Make makes one, or only checks it.
func (n *Noun[T, P]) Make(ctx context.Context, c *Call, v T, dry bool) (*Output[T], error) {
	if n.Check != nil {
		if err := n.Check(ctx, c, nil, &v); err != nil {
			return nil, err
		}
	}
	if dry {
		c.Quiet = true
		if _, err := n.Store.Get(ctx, P(&v).Base().ID); api.CodeOf(err) != api.CodeNotFound {
			return nil, api.Errorf(api.CodeConflict, "%s %s is there already: choose another name", n.Called, P(&v).Base().ID)
		}
		return &Output[T]{Body: v}, nil
	}
	made, err := n.Store.Create(ctx, v)
	if err != nil {
		return nil, err
	}
	return n.done(ctx, c, made), nil
}

// done reports what was stored.
func (n *Noun[T, P]) done(ctx context.Context, c *Call, v T) *Output[T] {
	m := P(&v).Base()
	c.After = &v
	c.Object = Target{Object: n.object(&v)}.Ref()
	c.Changed(ctx, c.Object, m.Labels, api.EventChanged, &v)
	return &Output[T]{ETag: ETag(m.Version), Body: v}
}

func (n *Noun[T, P]) update() Route {
	r := n.route(http.MethodPut, "edit", "update-"+n.name(), "Change "+Article(n.Called)+", or make it with upsert")
	r.Audit, r.Example = n.name()+".update", n.Example
	r.Mount = Mount(Answer[updateInput[T], Output[T]]{
		Find: func(ctx context.Context, _ *Call, in *updateInput[T]) (Target, error) {
			t, err := n.Find(ctx, in.ID)
			if in.Upsert && api.CodeOf(err) == api.CodeNotFound {
				if t, err = n.Fresh(&in.Body); err == nil && P(&in.Body).Base().ID != in.ID {
					err = api.Errorf(api.CodeInvalid, "the body is about %s and the path about %s: make them the same", P(&in.Body).Base().ID, in.ID)
				}
			}
			return t, err
		},
		Do: n.change,
	})
	return r
}

func (n *Noun[T, P]) change(ctx context.Context, c *Call, in *updateInput[T]) (*Output[T], error) {
	before, there := c.Before.(*T)
	if !there {
		return n.Make(ctx, c, in.Body, in.DryRun)
	}
	after := P(&in.Body)
	was, m := P(before).Base(), after.Base()
	if m.Name != was.Name || (m.Scope != "" && m.Scope != was.Scope) {
		return nil, api.Errorf(api.CodeInvalid, "name and scope of %s %s never change: make another and delete this one", n.Called, was.ID)
	}
	asked, err := Version(in.IfMatch)
	if err != nil {
		return nil, err
	}
	if asked > 0 {
		m.Version = asked
	}
	if m.Version > 0 && m.Version != was.Version {
		return nil, stale(n.Called, was.ID, m.Version, was.Version)
	}
	m.ID, m.Scope, m.CreatedAt = was.ID, was.Scope, was.CreatedAt
	if err := CheckLabels(m.Labels); err != nil {
		return nil, err
	}
	// A user cannot move something out of their own reach, into that of others.
	if err := c.MayBecome(Target{Object: n.object(after)}); err != nil {
		return nil, err
	}
	if n.Check != nil {
		if err := n.Check(ctx, c, before, after); err != nil {
			return nil, err
		}
	}
	if in.DryRun {
		c.Quiet = true
		return &Output[T]{ETag: ETag(was.Version), Body: in.Body}, nil
	}
	stored, err := n.Store.Update(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	return n.done(ctx, c, stored), nil
}

func stale(what, id string, asked, present int64) error {
	return api.Errorf(api.CodeConflict, "%s %s has changed since version %d, it is at %d: read it again and repeat the change",
		what, id, asked, present)
}

// Remove is the route that deletes one.
func (n *Noun[T, P]) Remove() Route {
	r := n.route(http.MethodDelete, "delete", "delete-"+n.name(), "Delete "+Article(n.Called))
	r.Audit = n.name() + ".delete"
	r.Mount = Mount(Answer[DeleteInput, NoOutput]{
		Find: func(ctx context.Context, _ *Call, in *DeleteInput) (Target, error) { return n.Find(ctx, in.ID) },
		Do: func(ctx context.Context, c *Call, in *DeleteInput) (*NoOutput, error) {
			v, _ := c.Before.(*T)
			m := P(v).Base()
			asked, err := Version(in.IfMatch)
			if err != nil {
				return nil, err
			}
			if asked > 0 && asked != m.Version {
				return nil, stale(n.Called, m.ID, asked, m.Version)
			}
			if n.Check != nil {
				if err := n.Check(ctx, c, v, nil); err != nil {
					return nil, err
				}
			}
			if in.DryRun {
				c.Quiet = true
				return nil, nil //nolint:nilnil // no content
			}
			if err := n.Store.Delete(ctx, m.ID, api.DeleteOptions{Version: asked, Force: in.Force}); err != nil {
				return nil, err
			}
			c.Changed(ctx, c.Object, m.Labels, api.EventDeleted, nil)
			return nil, nil //nolint:nilnil // no content
		},
	})
	return r
}

// Empty is a request without parameters and body.
type Empty struct{}
