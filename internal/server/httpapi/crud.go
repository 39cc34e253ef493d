package httpapi

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

// noun is how entities of one kind are listed, read, made, changed and deleted: five routes.
type noun[T any, P entity[T]] struct {
	store Entities[T]
	kind  string
	// many is the last part of the path, "resource-groups"; called is for people, "resource group".
	many, called string
	// example is a body that makes one.
	example string
	// identify fills in id and scope of one that is to be made, and says at which scope one has to have the permission;
	// nil for "<scope>.<name>" and that scope.
	identify func(P) (api.Scope, error)
	// check looks at what is to be stored; before is nil for one that is to be made.
	check func(ctx context.Context, c *call, before, after P) error
}

// PageInput says which part of a list is wanted, and in which order. Its fields are parameters: the decoder sees only what is
// exported.
type PageInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many at most"`
	Cursor string `query:"cursor" maxLength:"2000" doc:"nextCursor of the page before"`
	Page   int    `query:"page" minimum:"1" maximum:"100000" doc:"Number of the page, from 1: another way than the cursor"`
	Sort   string `query:"sort" maxLength:"64" doc:"Field to sort by, with - before it the other way round" example:"-updatedAt"`
}

// put puts them into the options of a list.
func (in *PageInput) put(out *api.ListOptions) error {
	if in.Cursor != "" && in.Page > 0 {
		return api.Errorf(api.CodeInvalid, "cursor and page exclude each other: give one of them")
	}
	out.Limit, out.Cursor, out.Page, out.Sort = in.Limit, in.Cursor, in.Page, in.Sort
	return nil
}

// SelectInput says what is wanted of what has a scope and labels. Its fields are parameters: the decoder sees only what is
// exported.
type SelectInput struct {
	Search string   `query:"search" maxLength:"200" doc:"Text that name, display name or description contain"`
	Scope  string   `query:"scope" maxLength:"140" doc:"Only what is of this scope or inside it" example:"org.acme"`
	Label  []string `query:"label,explode" maxItems:"20" doc:"Only what has this label, key=value or key; several for all of them" example:"[\"team=shop\"]"`
}

func (in *SelectInput) selection() (api.ListOptions, error) {
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

func (in *ListInput) options() (api.ListOptions, error) {
	out, err := in.selection()
	if err != nil {
		return out, err
	}
	return out, in.put(&out)
}

// IDInput names an entity. Its fields are parameters: the decoder sees only what is exported.
type IDInput struct {
	ID string `path:"id" maxLength:"210" doc:"Identifier" example:"org.acme.prod"`
}

// TryInput asks to change nothing. Its fields are parameters: the decoder sees only what is exported.
type TryInput struct {
	DryRun bool `query:"dryRun" doc:"Check everything and change nothing"`
}

// IDTryInput names an entity, and may ask to change nothing. Its fields are parameters: the decoder sees only what is exported.
type IDTryInput struct {
	IDInput
	TryInput
}

type createInput[T any] struct {
	TryInput
	Body T
}

type updateInput[T any] struct {
	IDInput
	TryInput
	Upsert  bool   `query:"upsert" doc:"Make it where it is not there"`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that was read: another way to give the version" example:"\"3\""`
	Body    T
}

type deleteInput struct {
	IDInput
	TryInput
	Force   bool   `query:"force" doc:"Delete it although something refers to it; the references go too"`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that was read"`
}

type output[T any] struct {
	ETag string `header:"ETag" doc:"Version, for If-Match"`
	Body T
}

type pageOutput[T any] struct {
	Body api.Page[T]
}

type noOutput struct{}

// etag is a version as a header.
func etag(version int64) string {
	if version == 0 {
		return ""
	}
	return strconv.Quote(strconv.FormatInt(version, 10))
}

// version reads what If-Match says; 0 for nothing and for "*".
func version(ifMatch string) (int64, error) {
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

func (n *noun[T, P]) object(v P) rbac.Object {
	m := v.Base()
	return rbac.Object{Type: n.kind, Scope: m.Scope, ID: m.ID, Labels: m.Labels}
}

func (n *noun[T, P]) find(ctx context.Context, id string) (target, error) {
	return find[T, P](ctx, n.store, n.kind, id)
}

// find finds an entity of a kind, as an object that rights are asked for.
func find[T any, P entity[T]](ctx context.Context, store Entities[T], kind, id string) (target, error) {
	v, err := store.Get(ctx, id)
	if err != nil {
		return target{}, missing(err, kind, id)
	}
	m := P(&v).Base()
	return target{object: rbac.Object{Type: kind, Scope: m.Scope, ID: m.ID, Labels: m.Labels}, value: &v}, nil
}

// fresh is one that is to be made, as an object that rights are asked for.
func (n *noun[T, P]) fresh(v P) (target, error) {
	m := v.Base()
	if err := api.CheckName(m.Name); err != nil {
		return target{}, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.name"}
	}
	scope, err := api.ParseScope(string(m.Scope))
	if err != nil {
		return target{}, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.scope"}
	}
	m.Scope, m.ID = scope, scope.ID(m.Name)
	if n.identify != nil {
		if scope, err = n.identify(v); err != nil {
			return target{}, err
		}
	}
	object := n.object(v)
	object.Scope, object.Asserted = scope, true
	return target{object: object}, checkLabels(m.Labels)
}

const (
	maxLabels     = 64
	maxLabelKey   = 317
	maxLabelValue = 200
)

func checkLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return &api.Error{Code: api.CodeInvalid, Message: "there are more than 64 labels: leave some out", Field: "body.labels"}
	}
	for key, value := range labels {
		if key == "" || len(key) > maxLabelKey || len(value) > maxLabelValue || strings.ContainsAny(key, " \t\r\n=,") {
			return &api.Error{Code: api.CodeInvalid, Message: "a label has no key, or key or value are too long or have blanks: write them as in Kubernetes", Field: "body.labels"}
		}
	}
	return nil
}

func (n *noun[T, P]) permission(verb string) api.Permission {
	return api.Permission(string(n.kind) + "_" + verb)
}

func (n *noun[T, P]) route(method, verb, id, summary string) Route {
	path := "/api/v1/" + n.many
	if !strings.HasPrefix(id, "list-") && !strings.HasPrefix(id, "create-") {
		path += "/{id}"
	}
	return Route{Method: method, Path: path, Permission: n.permission(verb), ID: id, Summary: summary, Tag: n.many}
}

// name is the noun in ids of operations: "resource-group".
func (n *noun[T, P]) name() string { return strings.ReplaceAll(n.called, " ", "-") }

// routes are list, get, create, update and delete; those of skip are left out, for a noun that has its own.
func (n *noun[T, P]) routes(skip ...string) []Route {
	all := []Route{n.list(), n.get(), n.create(), n.update(), n.remove()}
	return slices.DeleteFunc(all, func(r Route) bool {
		verb, _, _ := strings.Cut(r.ID, "-")
		return slices.Contains(skip, verb)
	})
}

func (n *noun[T, P]) list() Route {
	r := n.route(http.MethodGet, "view", "list-"+n.many, "List "+strings.ReplaceAll(n.many, "-", " "))
	r.Access = Listed
	r.mount = mount(handler[ListInput, pageOutput[T]]{do: func(ctx context.Context, c *call, in *ListInput) (*pageOutput[T], error) {
		options, err := in.options()
		if err != nil {
			return nil, err
		}
		page, err := n.store.List(ctx, c.visible, options)
		return pageOf(page), err
	}})
	return r
}

// pageOf makes an empty list of none, which JSON would call null.
func pageOf[T any](page api.Page[T]) *pageOutput[T] {
	if page.Items == nil {
		page.Items = []T{}
	}
	return &pageOutput[T]{Body: page}
}

func (n *noun[T, P]) get() Route {
	r := n.route(http.MethodGet, "view", "get-"+n.name(), "Get a "+n.called)
	r.mount = mount(handler[IDInput, output[T]]{
		find: func(ctx context.Context, _ *call, in *IDInput) (target, error) { return n.find(ctx, in.ID) },
		do: func(_ context.Context, c *call, _ *IDInput) (*output[T], error) {
			v, _ := c.before.(*T)
			return &output[T]{ETag: etag(P(v).Base().Version), Body: *v}, nil
		},
	})
	return r
}

func (n *noun[T, P]) create() Route {
	r := n.route(http.MethodPost, "edit", "create-"+n.name(), "Create a "+n.called)
	r.Audit, r.Example = n.name()+".create", n.example
	r.mount = mount(handler[createInput[T], output[T]]{
		find: func(_ context.Context, _ *call, in *createInput[T]) (target, error) { return n.fresh(&in.Body) },
		do: func(ctx context.Context, c *call, in *createInput[T]) (*output[T], error) {
			return n.make(ctx, c, in.Body, in.DryRun)
		},
	})
	return r
}

func (n *noun[T, P]) make(ctx context.Context, c *call, v T, dry bool) (*output[T], error) {
	if n.check != nil {
		if err := n.check(ctx, c, nil, &v); err != nil {
			return nil, err
		}
	}
	if dry {
		c.quiet = true
		if _, err := n.store.Get(ctx, P(&v).Base().ID); api.CodeOf(err) != api.CodeNotFound {
			return nil, api.Errorf(api.CodeConflict, "%s %s is there already: choose another name", n.called, P(&v).Base().ID)
		}
		return &output[T]{Body: v}, nil
	}
	made, err := n.store.Create(ctx, v)
	if err != nil {
		return nil, err
	}
	return n.done(ctx, c, made), nil
}

// done tells of what was stored.
func (n *noun[T, P]) done(ctx context.Context, c *call, v T) *output[T] {
	m := P(&v).Base()
	c.after = &v
	c.object = target{object: n.object(&v)}.ref()
	c.changed(ctx, c.object, m.Labels, api.EventChanged, &v)
	return &output[T]{ETag: etag(m.Version), Body: v}
}

func (n *noun[T, P]) update() Route {
	r := n.route(http.MethodPut, "edit", "update-"+n.name(), "Change a "+n.called+", or make it with upsert")
	r.Audit, r.Example = n.name()+".update", n.example
	r.mount = mount(handler[updateInput[T], output[T]]{
		find: func(ctx context.Context, _ *call, in *updateInput[T]) (target, error) {
			t, err := n.find(ctx, in.ID)
			if in.Upsert && api.CodeOf(err) == api.CodeNotFound {
				if t, err = n.fresh(&in.Body); err == nil && P(&in.Body).Base().ID != in.ID {
					err = api.Errorf(api.CodeInvalid, "the body is about %s and the path about %s: make them the same", P(&in.Body).Base().ID, in.ID)
				}
			}
			return t, err
		},
		do: n.change,
	})
	return r
}

func (n *noun[T, P]) change(ctx context.Context, c *call, in *updateInput[T]) (*output[T], error) {
	before, there := c.before.(*T)
	if !there {
		return n.make(ctx, c, in.Body, in.DryRun)
	}
	after := P(&in.Body)
	was, m := P(before).Base(), after.Base()
	if m.Name != was.Name || (m.Scope != "" && m.Scope != was.Scope) {
		return nil, api.Errorf(api.CodeInvalid, "name and scope of %s %s never change: make another and delete this one", n.called, was.ID)
	}
	asked, err := version(in.IfMatch)
	if err != nil {
		return nil, err
	}
	if asked > 0 {
		m.Version = asked
	}
	if m.Version > 0 && m.Version != was.Version {
		return nil, stale(n.called, was.ID, m.Version, was.Version)
	}
	m.ID, m.Scope, m.CreatedAt = was.ID, was.Scope, was.CreatedAt
	if err := checkLabels(m.Labels); err != nil {
		return nil, err
	}
	// Nobody moves something out of their own reach, into that of others.
	if err := c.mayBecome(target{object: n.object(after)}); err != nil {
		return nil, err
	}
	if n.check != nil {
		if err := n.check(ctx, c, before, after); err != nil {
			return nil, err
		}
	}
	if in.DryRun {
		c.quiet = true
		return &output[T]{ETag: etag(was.Version), Body: in.Body}, nil
	}
	stored, err := n.store.Update(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	return n.done(ctx, c, stored), nil
}

func stale(what, id string, asked, present int64) error {
	return api.Errorf(api.CodeConflict, "%s %s has changed since version %d, it is at %d: read it again and repeat the change", what, id, asked, present)
}

func (n *noun[T, P]) remove() Route {
	r := n.route(http.MethodDelete, "delete", "delete-"+n.name(), "Delete a "+n.called)
	r.Audit = n.name() + ".delete"
	r.mount = mount(handler[deleteInput, noOutput]{
		find: func(ctx context.Context, _ *call, in *deleteInput) (target, error) { return n.find(ctx, in.ID) },
		do: func(ctx context.Context, c *call, in *deleteInput) (*noOutput, error) {
			v, _ := c.before.(*T)
			m := P(v).Base()
			asked, err := version(in.IfMatch)
			if err != nil {
				return nil, err
			}
			if asked > 0 && asked != m.Version {
				return nil, stale(n.called, m.ID, asked, m.Version)
			}
			if n.check != nil {
				if err := n.check(ctx, c, v, nil); err != nil {
					return nil, err
				}
			}
			if in.DryRun {
				c.quiet = true
				return nil, nil //nolint:nilnil // no content
			}
			if err := n.store.Delete(ctx, m.ID, api.DeleteOptions{Version: asked, Force: in.Force}); err != nil {
				return nil, err
			}
			c.changed(ctx, c.object, m.Labels, api.EventDeleted, nil)
			return nil, nil //nolint:nilnil // no content
		},
	})
	return r
}

type empty struct{}
