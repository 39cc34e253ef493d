package record

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Ledger knows what operations were.
type Ledger interface {
	ListLedger(context.Context, rbac.Filter, api.LedgerFilter) (api.Page[api.LedgerEntry], error)
	GetLedger(ctx context.Context, id string) (api.LedgerDetail, error)
	// LedgerContents gives the manifests behind hashes that an entry names, those that are there: up to limit bytes.
	LedgerContents(ctx context.Context, entry string, hashes []string, limit int) (map[string][]byte, error)
	// LedgerAt says what ran at filter.To, by the ids of applications unless filter.Sort says otherwise.
	LedgerAt(context.Context, rbac.Filter, api.LedgerFilter) (api.Page[api.LedgerState], error)
	// LedgerAfter is the cursor of LedgerAt behind an application.
	LedgerAfter(application string) string
	LedgerObjectChanges(context.Context, rbac.Filter, api.LedgerFilter) (api.Page[api.LedgerObjectChange], error)
}

// LedgerRoutes return operations, and what ran at a time.
type LedgerRoutes struct {
	Ledger Ledger
	Items  item.Items
}

// Bounds of one answer.
const (
	maxManifestBytes = 8 << 20
	maxDifferences   = 2_000
	maxStates        = 200
)

// LedgerEntries says which entries are wanted. Its fields are parameters: the decoder sees only what is exported.
type LedgerEntries struct {
	core.SelectInput
	Agent       string    `query:"agent" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	Namespace   string    `query:"namespace" maxLength:"63" doc:"Only those of applications in this namespace" example:"argocd"`
	Name        string    `query:"name" maxLength:"253" doc:"Only those of applications of this name" example:"shop"`
	ArgoProject string    `query:"argoProject" maxLength:"253" doc:"Only those of this Argo project"`
	Service     string    `query:"service" maxLength:"210" doc:"Only those of applications of this service at that time"`
	Environment string    `query:"environment" maxLength:"210" doc:"Only those of applications of this environment at that time"`
	Destination string    `query:"destination" maxLength:"500" doc:"Only those to this cluster, by address or name, as in the application"`
	Phase       string    `query:"phase" enum:"Succeeded,Failed,Error" doc:"Only those with this result"`
	Action      string    `query:"action" enum:"sync,rollback,restore,dry-run,partial,delete" doc:"Only those of this kind"`
	Actor       string    `query:"actor" maxLength:"210" doc:"Only those that this user requested" example:"ada"`
	Command     string    `query:"command" maxLength:"64" doc:"Only actions of this command"`
	Revision    string    `query:"revision" maxLength:"253" doc:"Only those of revisions with this prefix" example:"3f2a9c1"`
	Automatic   string    `query:"automatic" enum:"true,false" doc:"Only automatic ones, or only requested ones"`
	Changed     bool      `query:"changed" doc:"Only those that changed something"`
	From        time.Time `query:"from" doc:"Only those that ended at this time or later" example:"2030-06-01T00:00:00Z"`
	To          time.Time `query:"to" doc:"Only those that ended before this time"`
}

// LedgerList is a list of entries. Its fields are parameters: the decoder sees only what is exported.
type LedgerList struct {
	core.PageInput
	LedgerEntries
}

func (in *LedgerList) filter() (api.LedgerFilter, error) {
	f, err := in.LedgerEntries.filter()
	if err != nil {
		return f, err
	}
	err = in.Put(&f.ListOptions)
	return f, err
}

func (in *LedgerEntries) filter() (api.LedgerFilter, error) {
	options, err := in.Selection()
	f := api.LedgerFilter{
		ListOptions: options, Agent: in.Agent, Namespace: in.Namespace, Name: in.Name, ArgoProject: in.ArgoProject, Service: in.Service,
		Environment: in.Environment, Destination: in.Destination, Phase: in.Phase, Action: in.Action, Actor: in.Actor, Command: in.Command,
		Revision: in.Revision, Changed: in.Changed, From: in.From, To: in.To,
	}
	if in.Automatic != "" {
		automatic := in.Automatic == "true"
		f.Automatic = &automatic
	}
	return f, err
}

// LedgerID names an entry. Its fields are parameters: the decoder sees only what is exported.
type LedgerID struct {
	ID string `path:"id" maxLength:"64" doc:"Id of the entry"`
}

type ledgerManifestsInput struct {
	LedgerID
	Kind            string `query:"kind" maxLength:"63" doc:"Only objects of this kind"`
	ObjectName      string `query:"objectName" maxLength:"253" doc:"Only objects of this name"`
	ObjectNamespace string `query:"objectNamespace" maxLength:"63" doc:"Only objects in this namespace"`
}

// LedgerApplications are the applications that a question about a time is about. Its fields are parameters: the decoder sees
// only what is exported.
type LedgerApplications struct {
	core.SelectInput
	Agent       string `query:"agent" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	Namespace   string `query:"namespace" maxLength:"63" doc:"Only those in this namespace" example:"argocd"`
	Name        string `query:"name" maxLength:"253" doc:"Only those of this name" example:"shop"`
	ArgoProject string `query:"argoProject" maxLength:"253" doc:"Only those of this Argo project"`
	Service     string `query:"service" maxLength:"210" doc:"Only those of this service at that time"`
	Environment string `query:"environment" maxLength:"210" doc:"Only those of this environment at that time"`
	Destination string `query:"destination" maxLength:"500" doc:"Only those to this cluster, by address or name, as in the application"`
}

func (in *LedgerApplications) filter() (api.LedgerFilter, error) {
	options, err := in.Selection()
	return api.LedgerFilter{
		ListOptions: options, Agent: in.Agent, Namespace: in.Namespace, Name: in.Name, ArgoProject: in.ArgoProject, Service: in.Service,
		Environment: in.Environment, Destination: in.Destination,
	}, err
}

type ledgerAtInput struct {
	core.PageInput
	LedgerApplications
	At time.Time `query:"at" doc:"The time; default: now" example:"2030-06-01T00:00:00Z"`
}

type ledgerDiffInput struct {
	LedgerApplications
	Limit     int       `query:"limit" minimum:"1" maximum:"200" default:"200" doc:"Maximum number of applications, with their differences"`
	Cursor    string    `query:"cursor" maxLength:"2000" doc:"nextCursor of the previous page"`
	From      time.Time `query:"from" doc:"The earlier time; default: a day before to" example:"2030-05-31T00:00:00Z"`
	To        time.Time `query:"to" doc:"The later time; default: now" example:"2030-06-01T00:00:00Z"`
	Manifests bool      `query:"manifests" doc:"Include the manifests, before and after"`
}

type ledgerObjectInput struct {
	LedgerList
	Kind            string `query:"kind" required:"true" minLength:"1" maxLength:"63" doc:"Kind of the object" example:"Deployment"`
	ObjectName      string `query:"objectName" required:"true" minLength:"1" maxLength:"253" doc:"Name of the object" example:"web"`
	ObjectNamespace string `query:"objectNamespace" maxLength:"63" doc:"Namespace of the object" example:"shop"`
	Group           string `query:"group" maxLength:"253" doc:"API group of the object" example:"apps"`
}

// Routes are its rows of the table.
func (h *LedgerRoutes) Routes() []core.Route {
	route := func(path, id, summary string, access core.Access) core.Route {
		return core.Route{
			Method: http.MethodGet, Path: "/api/v1/ledger" + path, Permission: api.PermApplicationView, Access: access, ID: id,
			Summary: summary, Tag: "ledger",
		}
	}
	list := route("", "list-ledger", "List operations on applications, the newest first", core.Listed)
	list.Mount = core.Mount(core.Answer[LedgerList, core.PageOutput[api.LedgerEntry]]{
		Do: func(ctx context.Context, c *core.Call, in *LedgerList) (*core.PageOutput[api.LedgerEntry], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			page, err := h.Ledger.ListLedger(ctx, c.Visible, filter)
			return core.PageOf(page), err
		},
	})
	get := route("/{id}", "get-ledger", "Get an operation with its manifests and changes", core.Addressed)
	type detail struct{ Body api.LedgerDetail }
	get.Mount = core.Mount(core.Answer[LedgerID, detail]{
		Find: func(ctx context.Context, _ *core.Call, in *LedgerID) (core.Target, error) {
			return h.findEntry(ctx, in.ID)
		},
		Do: func(_ context.Context, c *core.Call, _ *LedgerID) (*detail, error) {
			d, _ := c.Before.(*api.LedgerDetail)
			return &detail{*d}, nil
		},
	})
	manifests := route("/{id}/manifests", "get-ledger-manifests",
		"Get the manifests that an operation rendered, secrets as hashes", core.Addressed)
	type contents struct{ Body api.LedgerManifests }
	manifests.Mount = core.Mount(core.Answer[ledgerManifestsInput, contents]{
		Find: func(ctx context.Context, _ *core.Call, in *ledgerManifestsInput) (core.Target, error) {
			return h.findEntry(ctx, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *ledgerManifestsInput) (*contents, error) {
			d, _ := c.Before.(*api.LedgerDetail)
			out, err := h.ledgerManifests(ctx, d, in)
			return &contents{out}, err
		},
	})
	at := route("/at", "ledger-at", "Get what ran at a time, for at most 200 applications per page", core.Listed)
	at.Mount = core.Mount(core.Answer[ledgerAtInput, core.PageOutput[api.LedgerState]]{
		Do: func(ctx context.Context, c *core.Call, in *ledgerAtInput) (*core.PageOutput[api.LedgerState], error) {
			filter, err := in.filter()
			if err == nil {
				err = in.Put(&filter.ListOptions)
			}
			if err != nil {
				return nil, err
			}
			filter.To, filter.Limit = moment(c, in.At), min(filter.Limit, maxStates)
			page, err := h.Ledger.LedgerAt(ctx, c.Visible, filter)
			return core.PageOf(page), err
		},
	})
	diff := route("/diff", "ledger-diff", "Compare two times, for at most 200 applications per page", core.Listed)
	type differences struct{ Body api.LedgerDiff }
	diff.Mount = core.Mount(core.Answer[ledgerDiffInput, differences]{
		Do: func(ctx context.Context, c *core.Call, in *ledgerDiffInput) (*differences, error) {
			out, err := h.ledgerDiff(ctx, c, in)
			return &differences{out}, err
		},
	})
	object := route("/objects", "ledger-object", "Every change to an object, the newest first", core.Listed)
	object.Mount = core.Mount(core.Answer[ledgerObjectInput, core.PageOutput[api.LedgerObjectChange]]{
		Do: func(ctx context.Context, c *core.Call, in *ledgerObjectInput) (*core.PageOutput[api.LedgerObjectChange], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			filter.Kind, filter.Object, filter.ObjectNS, filter.ObjectGroup = in.Kind, in.ObjectName, in.ObjectNamespace, in.Group
			page, err := h.Ledger.LedgerObjectChanges(ctx, c.Visible, filter)
			return core.PageOf(page), err
		},
	})
	return []core.Route{list, at, diff, object, h.ledgerExport(), get, manifests, h.ledgerCompare()}
}

// moment is a time that was asked for, or now.
func moment(c *core.Call, t time.Time) time.Time {
	if t.IsZero() {
		return c.Now()
	}
	return t
}

// findEntry finds an entry; rights are those of its application where it was then.
func (h *LedgerRoutes) findEntry(ctx context.Context, id string) (core.Target, error) {
	unseen := api.Errorf(api.CodeNotFound, "there is no entry %q in the ledger, or you may not see it: list what there is", id)
	d, err := h.Ledger.GetLedger(ctx, id)
	if api.CodeOf(err) == api.CodeNotFound {
		return core.Target{}, unseen
	}
	if err != nil {
		return core.Target{}, err
	}
	app := api.ItemID(d.Agent, d.Namespace, d.Name)
	object := rbac.Object{Type: api.TypeApplication, ID: app, Scope: d.Scope, Asserted: true}
	if now, err := h.Items.GetApplication(ctx, d.Agent, d.Namespace, d.Name); err == nil {
		object.Labels, object.Asserted = now.Labels, false
	} else if api.CodeOf(err) != api.CodeNotFound {
		return core.Target{}, err
	}
	return core.Target{Object: object, Value: &d, Unseen: unseen}, nil
}

func (h *LedgerRoutes) ledgerManifests(ctx context.Context, d *api.LedgerDetail, in *ledgerManifestsInput) (api.LedgerManifests, error) {
	out := api.LedgerManifests{Manifests: []api.LedgerManifest{}}
	var hashes []string
	for _, o := range d.Objects {
		if in.Kind != "" && o.Kind != in.Kind || in.ObjectName != "" && o.Name != in.ObjectName ||
			in.ObjectNamespace != "" && o.Namespace != in.ObjectNamespace {
			continue
		}
		hashes = append(hashes, o.Hash)
		out.Manifests = append(out.Manifests, api.LedgerManifest{LedgerKey: o.LedgerKey, Hash: o.Hash})
	}
	found, err := h.Ledger.LedgerContents(ctx, d.ID, hashes, maxManifestBytes)
	for i := range out.Manifests {
		m := &out.Manifests[i]
		m.Manifest = found[m.Hash]
		lacking := slices.ContainsFunc(d.Objects, func(o api.LedgerObject) bool { return o.Hash == m.Hash && o.Lacking })
		out.Truncated = out.Truncated || m.Manifest == nil && !lacking
	}
	return out, err
}
