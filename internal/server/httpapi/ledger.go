package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Ledger knows what operations were.
type Ledger interface {
	ListLedger(context.Context, rbac.Filter, api.LedgerFilter) (api.Page[api.LedgerEntry], error)
	GetLedger(ctx context.Context, id string) (api.LedgerDetail, error)
	// LedgerContents gives the manifests behind hashes that an entry names, those that are there: up to limit bytes.
	LedgerContents(ctx context.Context, entry string, hashes []string, limit int) (map[string][]byte, error)
	// LedgerAt says what ran at filter.To.
	LedgerAt(context.Context, rbac.Filter, api.LedgerFilter) (api.Page[api.LedgerState], error)
	LedgerObjectChanges(context.Context, rbac.Filter, api.LedgerFilter) (api.Page[api.LedgerObjectChange], error)
}

// Bounds of one answer.
const (
	maxManifestBytes = 8 << 20
	maxDifferences   = 2_000
	maxStates        = 200
)

// LedgerEntries says which entries are wanted. Its fields are parameters: the decoder sees only what is exported.
type LedgerEntries struct {
	SelectInput
	Agent       string    `query:"agent" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	Namespace   string    `query:"namespace" maxLength:"63" doc:"Only those of applications in this namespace" example:"argocd"`
	Name        string    `query:"name" maxLength:"253" doc:"Only those of applications of this name" example:"shop"`
	ArgoProject string    `query:"argoProject" maxLength:"253" doc:"Only those of this Argo project"`
	Service     string    `query:"service" maxLength:"210" doc:"Only those of applications that were linked to this service then"`
	Environment string    `query:"environment" maxLength:"210" doc:"Only those of applications that were linked to this environment then"`
	Destination string    `query:"destination" maxLength:"500" doc:"Only those to this cluster, by address or name as the application says it"`
	Phase       string    `query:"phase" enum:"Succeeded,Failed,Error" doc:"Only those that ended like this"`
	Action      string    `query:"action" enum:"sync,rollback,restore,dry-run,partial,delete" doc:"Only those of this kind"`
	Actor       string    `query:"actor" maxLength:"210" doc:"Only those that this user asked for" example:"ada"`
	Command     string    `query:"command" maxLength:"64" doc:"Only what this command did"`
	Revision    string    `query:"revision" maxLength:"253" doc:"Only those of revisions that begin with this" example:"3f2a9c1"`
	Automatic   string    `query:"automatic" enum:"true,false" doc:"Only those that nobody asked for, or that somebody did"`
	Changed     bool      `query:"changed" doc:"Only those that changed something"`
	From        time.Time `query:"from" doc:"Only those that ended at this time or later" example:"2030-06-01T00:00:00Z"`
	To          time.Time `query:"to" doc:"Only those that ended before this time"`
}

// LedgerList is a list of entries. Its fields are parameters: the decoder sees only what is exported.
type LedgerList struct {
	PageInput
	LedgerEntries
}

func (in *LedgerList) filter() (api.LedgerFilter, error) {
	f, err := in.LedgerEntries.filter()
	if err != nil {
		return f, err
	}
	return f, in.put(&f.ListOptions)
}

func (in *LedgerEntries) filter() (api.LedgerFilter, error) {
	options, err := in.selection()
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
	SelectInput
	Agent       string `query:"agent" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	Namespace   string `query:"namespace" maxLength:"63" doc:"Only those in this namespace" example:"argocd"`
	Name        string `query:"name" maxLength:"253" doc:"Only those of this name" example:"shop"`
	Service     string `query:"service" maxLength:"210" doc:"Only those that were linked to this service then"`
	Environment string `query:"environment" maxLength:"210" doc:"Only those that were linked to this environment then"`
}

func (in *LedgerApplications) filter() (api.LedgerFilter, error) {
	options, err := in.selection()
	return api.LedgerFilter{
		ListOptions: options, Agent: in.Agent, Namespace: in.Namespace, Name: in.Name, Service: in.Service, Environment: in.Environment,
	}, err
}

type ledgerAtInput struct {
	PageInput
	LedgerApplications
	At time.Time `query:"at" doc:"The time; now where it is left out" example:"2030-06-01T00:00:00Z"`
}

type ledgerDiffInput struct {
	LedgerApplications
	From      time.Time `query:"from" doc:"The time before; a day before to where it is left out" example:"2030-05-31T00:00:00Z"`
	To        time.Time `query:"to" doc:"The time after; now where it is left out" example:"2030-06-01T00:00:00Z"`
	Manifests bool      `query:"manifests" doc:"Bring the manifests along, before and after"`
}

type ledgerObjectInput struct {
	LedgerList
	Kind            string `query:"kind" required:"true" minLength:"1" maxLength:"63" doc:"Kind of the object" example:"Deployment"`
	ObjectName      string `query:"objectName" required:"true" minLength:"1" maxLength:"253" doc:"Name of the object" example:"web"`
	ObjectNamespace string `query:"objectNamespace" maxLength:"63" doc:"Namespace of the object" example:"shop"`
	Group           string `query:"group" maxLength:"253" doc:"API group of the object" example:"apps"`
}

func (h *Handler) ledgerRoutes() []Route {
	route := func(path, id, summary string, access Access) Route {
		return Route{
			Method: http.MethodGet, Path: "/api/v1/ledger" + path, Permission: api.PermApplicationView, Access: access, ID: id, Summary: summary, Tag: "ledger",
		}
	}
	list := route("", "list-ledger", "List operations on applications, the newest first", Listed)
	list.mount = mount(handler[LedgerList, pageOutput[api.LedgerEntry]]{
		do: func(ctx context.Context, c *call, in *LedgerList) (*pageOutput[api.LedgerEntry], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			page, err := h.cfg.Ledger.ListLedger(ctx, c.visible, filter)
			return pageOf(page), err
		},
	})
	get := route("/{id}", "get-ledger", "Get an operation with what it rendered and changed", Addressed)
	type detail struct{ Body api.LedgerDetail }
	get.mount = mount(handler[LedgerID, detail]{
		find: func(ctx context.Context, _ *call, in *LedgerID) (target, error) { return h.findEntry(ctx, in.ID) },
		do: func(_ context.Context, c *call, _ *LedgerID) (*detail, error) {
			d, _ := c.before.(*api.LedgerDetail)
			return &detail{*d}, nil
		},
	})
	manifests := route("/{id}/manifests", "get-ledger-manifests", "Get the manifests that an operation rendered, secrets as hashes", Addressed)
	type contents struct{ Body api.LedgerManifests }
	manifests.mount = mount(handler[ledgerManifestsInput, contents]{
		find: func(ctx context.Context, _ *call, in *ledgerManifestsInput) (target, error) {
			return h.findEntry(ctx, in.ID)
		},
		do: func(ctx context.Context, c *call, in *ledgerManifestsInput) (*contents, error) {
			d, _ := c.before.(*api.LedgerDetail)
			out, err := h.ledgerManifests(ctx, d, in)
			return &contents{out}, err
		},
	})
	at := route("/at", "ledger-at", "What ran at a time, at most 200 applications to a page", Listed)
	at.mount = mount(handler[ledgerAtInput, pageOutput[api.LedgerState]]{
		do: func(ctx context.Context, c *call, in *ledgerAtInput) (*pageOutput[api.LedgerState], error) {
			filter, err := in.filter()
			if err == nil {
				err = in.put(&filter.ListOptions)
			}
			if err != nil {
				return nil, err
			}
			filter.To, filter.Limit = h.moment(in.At), min(filter.Limit, maxStates)
			page, err := h.cfg.Ledger.LedgerAt(ctx, c.visible, filter)
			return pageOf(page), err
		},
	})
	diff := route("/diff", "ledger-diff", "What differs between two times, of the first 200 applications", Listed)
	type differences struct{ Body api.LedgerDiff }
	diff.mount = mount(handler[ledgerDiffInput, differences]{
		do: func(ctx context.Context, c *call, in *ledgerDiffInput) (*differences, error) {
			out, err := h.ledgerDiff(ctx, c, in)
			return &differences{out}, err
		},
	})
	object := route("/objects", "ledger-object", "Every change to an object, the newest first", Listed)
	object.mount = mount(handler[ledgerObjectInput, pageOutput[api.LedgerObjectChange]]{
		do: func(ctx context.Context, c *call, in *ledgerObjectInput) (*pageOutput[api.LedgerObjectChange], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			filter.Kind, filter.Object, filter.ObjectNS, filter.ObjectGroup = in.Kind, in.ObjectName, in.ObjectNamespace, in.Group
			page, err := h.cfg.Ledger.LedgerObjectChanges(ctx, c.visible, filter)
			return pageOf(page), err
		},
	})
	return []Route{list, at, diff, object, h.ledgerExport(), get, manifests}
}

// moment is a time that was asked for, or now.
func (h *Handler) moment(t time.Time) time.Time {
	if t.IsZero() {
		return h.now()
	}
	return t
}

// findEntry finds an entry; rights are those of its application where it was then.
func (h *Handler) findEntry(ctx context.Context, id string) (target, error) {
	d, err := h.cfg.Ledger.GetLedger(ctx, id)
	if err != nil {
		return target{}, err
	}
	app := api.ItemID(d.Agent, d.Namespace, d.Name)
	object := rbac.Object{Type: api.TypeApplication, ID: app, Scope: d.Scope}
	if now, err := h.cfg.Items.GetApplication(ctx, d.Agent, d.Namespace, d.Name); err == nil {
		object.Labels = now.Labels
	} else if api.CodeOf(err) != api.CodeNotFound {
		return target{}, err
	}
	return target{object: object, value: &d}, nil
}

func (h *Handler) ledgerManifests(ctx context.Context, d *api.LedgerDetail, in *ledgerManifestsInput) (api.LedgerManifests, error) {
	out := api.LedgerManifests{Manifests: []api.LedgerManifest{}}
	var hashes []string
	for _, o := range d.Objects {
		if in.Kind != "" && o.Kind != in.Kind || in.ObjectName != "" && o.Name != in.ObjectName || in.ObjectNamespace != "" && o.Namespace != in.ObjectNamespace {
			continue
		}
		hashes = append(hashes, o.Hash)
		out.Manifests = append(out.Manifests, api.LedgerManifest{LedgerKey: o.LedgerKey, Hash: o.Hash})
	}
	found, err := h.cfg.Ledger.LedgerContents(ctx, d.ID, hashes, maxManifestBytes)
	for i := range out.Manifests {
		m := &out.Manifests[i]
		m.Manifest = found[m.Hash]
		lacking := slices.ContainsFunc(d.Objects, func(o api.LedgerObject) bool { return o.Hash == m.Hash && o.Lacking })
		out.Truncated = out.Truncated || m.Manifest == nil && !lacking
	}
	return out, err
}

// states gives what ran at a time, of as many applications as an answer may be about.
func (h *Handler) states(ctx context.Context, c *call, filter api.LedgerFilter, at time.Time) (list []api.LedgerState, truncated bool, err error) {
	filter.To, filter.Limit = at, maxStates
	page, err := h.cfg.Ledger.LedgerAt(ctx, c.visible, filter)
	return page.Items, page.NextCursor != "", err
}

// ledgerDiff compares what ran at two times.
func (h *Handler) ledgerDiff(ctx context.Context, c *call, in *ledgerDiffInput) (api.LedgerDiff, error) {
	out := api.LedgerDiff{Differences: []api.LedgerDifference{}}
	filter, err := in.filter()
	if err != nil {
		return out, err
	}
	to := h.moment(in.To)
	from := in.From
	if from.IsZero() {
		from = to.Add(-24 * time.Hour)
	}
	before, more, err := h.states(ctx, c, filter, from)
	if err != nil {
		return out, err
	}
	after, evenMore, err := h.states(ctx, c, filter, to)
	if err != nil {
		return out, err
	}
	out.Truncated = more || evenMore
	before, after = common(before, more, after, evenMore)
	left := maxManifestBytes
	for _, pair := range pairs(before, after) {
		found := compareStates(pair)
		if len(out.Differences)+len(found) > maxDifferences {
			out.Truncated = true
			break
		}
		if in.Manifests {
			if err := h.bringManifests(ctx, pair, found, &left, &out.Truncated); err != nil {
				return out, err
			}
		}
		out.Differences = append(out.Differences, found...)
	}
	return out, nil
}

// common leaves out applications that were read of one time only because there are more than are read: nobody has removed
// or added those.
func common(before []api.LedgerState, more bool, after []api.LedgerState, evenMore bool) (was, is []api.LedgerState) {
	last := ""
	for _, read := range []struct {
		list []api.LedgerState
		cut  bool
	}{{before, more}, {after, evenMore}} {
		if n := len(read.list); n > 0 && read.cut {
			if id := stateID(&read.list[n-1]); last == "" || id < last {
				last = id
			}
		}
	}
	beyond := func(s api.LedgerState) bool { return last != "" && stateID(&s) > last }
	return slices.DeleteFunc(before, beyond), slices.DeleteFunc(after, beyond)
}

func stateID(s *api.LedgerState) string {
	return api.ItemID(s.Entry.Agent, s.Entry.Namespace, s.Entry.Name)
}

// statePair is what ran for one application at two times; either can be missing.
type statePair struct {
	application   string
	before, after *api.LedgerState
}

func pairs(before, after []api.LedgerState) []statePair {
	byID := map[string]*statePair{}
	var out []*statePair
	at := func(s *api.LedgerState) *statePair {
		id := stateID(s)
		if byID[id] == nil {
			byID[id] = &statePair{application: id}
			out = append(out, byID[id])
		}
		return byID[id]
	}
	for i := range before {
		at(&before[i]).before = &before[i]
	}
	for i := range after {
		at(&after[i]).after = &after[i]
	}
	list := make([]statePair, 0, len(out))
	for _, p := range out {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b statePair) int { return strings.Compare(a.application, b.application) })
	return list
}

func compareStates(p statePair) []api.LedgerDifference {
	found := map[api.LedgerKey]*api.LedgerDifference{}
	if p.before != nil {
		for _, o := range p.before.Objects {
			found[o.LedgerKey] = &api.LedgerDifference{Application: p.application, LedgerKey: o.LedgerKey, Change: "removed", Before: o.Hash}
		}
	}
	if p.after != nil {
		for _, o := range p.after.Objects {
			d := found[o.LedgerKey]
			switch {
			case d == nil:
				d = &api.LedgerDifference{Application: p.application, LedgerKey: o.LedgerKey, Change: "added"}
				found[o.LedgerKey] = d
			case d.Before == o.Hash:
				delete(found, o.LedgerKey)
				continue
			default:
				d.Change = "changed"
			}
			d.After, d.Images = o.Hash, o.Images
		}
	}
	out := make([]api.LedgerDifference, 0, len(found))
	for _, d := range found {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b api.LedgerDifference) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// bringManifests fills in the manifests of differences, as far as there is room. Those before are those of the agent that
// told of them: another one may have come in its place since.
func (h *Handler) bringManifests(ctx context.Context, p statePair, list []api.LedgerDifference, left *int, truncated *bool) error {
	for _, side := range []struct {
		state *api.LedgerState
		hash  func(*api.LedgerDifference) string
		into  func(*api.LedgerDifference) *json.RawMessage
	}{
		{p.before, func(d *api.LedgerDifference) string { return d.Before }, func(d *api.LedgerDifference) *json.RawMessage { return &d.ManifestBefore }},
		{p.after, func(d *api.LedgerDifference) string { return d.After }, func(d *api.LedgerDifference) *json.RawMessage { return &d.ManifestAfter }},
	} {
		var hashes []string
		for i := range list {
			if hash := side.hash(&list[i]); hash != "" {
				hashes = append(hashes, hash)
			}
		}
		if side.state == nil || len(hashes) == 0 {
			continue
		}
		found, err := h.cfg.Ledger.LedgerContents(ctx, side.state.Entry.ID, hashes, max(*left, 0))
		if err != nil {
			return err
		}
		for _, raw := range found {
			*left -= len(raw)
		}
		for i := range list {
			*side.into(&list[i]) = found[side.hash(&list[i])]
		}
		*truncated = *truncated || *left <= 0
	}
	return nil
}
