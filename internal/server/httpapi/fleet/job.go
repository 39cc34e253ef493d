package fleet

import (
	"context"
	"crypto/rand"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/strict"
	"github.com/slipway-gitops/slipway/internal/trace"
)

// Jobs keeps bulk jobs and has them run.
type Jobs interface {
	// AddJob keeps a job with its applications, by id, and has it begin. token is the id of the token that it was asked for
	// with; empty for none.
	AddJob(ctx context.Context, j api.Job, token string, applications []string) error
	GetJob(ctx context.Context, id string) (api.Job, error)
	ListJobs(ctx context.Context, f api.JobFilter) (api.Page[api.Job], error)
	ListJobTargets(ctx context.Context, job, state string, options api.ListOptions) (api.Page[api.JobTarget], error)
	// JobToken is the id of the token that a job was asked for with; empty for none.
	JobToken(ctx context.Context, id string) (string, error)
	// StopBulk has a job begin nothing more; false where it is over, or was stopped already.
	StopBulk(ctx context.Context, id, by string) (bool, error)
}

// JobRoutes do the same with many applications.
type JobRoutes struct {
	*item.Clusters
	Jobs  Jobs
	Fleet Fleet
}

// JobInput names a job. Its fields are parameters: the decoder sees only what is exported.
type JobInput struct {
	ID string `path:"id" maxLength:"64" doc:"Identifier" example:"b7k2m4x6q3w5"`
}

type jobList struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number"`
	Cursor string `query:"cursor" maxLength:"2000" doc:"nextCursor of the previous page"`
	Page   int    `query:"page" minimum:"1" maximum:"100000" doc:"Number of the page, from 1, instead of the cursor"`
	Sort   string `query:"sort" maxLength:"64" doc:"Field to sort by, with - before it in reverse order" example:"-createdAt"`
	Search string `query:"search" maxLength:"200" doc:"Text in id, action, reason or user"`
	State  string `query:"state" enum:"running,done,stopped" doc:"Only those in this state"`
	Mine   bool   `query:"mine" doc:"Only your own, even if you may see those of others"`
}

type jobTargets struct {
	JobInput
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number"`
	Cursor string `query:"cursor" maxLength:"2000" doc:"nextCursor of the previous page"`
	Sort   string `query:"sort" maxLength:"64" doc:"startedAt, finishedAt or state, with - before it in reverse order; default: by id" example:"-finishedAt"`
	State  string `query:"state" enum:"waiting,running,done,failed,refused,skipped" doc:"Only those in this state"`
	Search string `query:"search" maxLength:"200" doc:"Text in id or message"`
}

type jobCreate struct {
	core.TryInput
	Body api.JobRequest
}

type jobOutput struct{ Body api.Job }

type jobPlanOutput struct{ Body api.JobPlan }

// jobObject is a job as rights know it: all are the account's.
func jobObject(id string) core.Target {
	return core.Target{Object: rbac.Object{Type: api.TypeJob, Scope: rbac.Account, ID: id}}
}

// ownsJob says whether a job is the caller's own. A limited token owns those that were asked for with it.
func (h *JobRoutes) ownsJob(ctx context.Context, c *core.Call, j *api.Job) (bool, error) {
	if j.By != c.Who.Principal || c.Who.Subject.Ceiling == nil {
		return j.By == c.Who.Principal, nil
	}
	token, err := h.Jobs.JobToken(ctx, j.ID)
	return token != "" && c.Who.Token != nil && token == c.Who.Token.ID, err
}

// findJob finds a job of the caller, or one of another user if the caller may see it.
func (h *JobRoutes) findJob(ctx context.Context, c *core.Call, id string, want api.Permission) (api.Job, error) {
	c.Object = jobObject(id).Ref()
	j, err := h.Jobs.GetJob(ctx, id)
	if api.CodeOf(err) == api.CodeNotFound {
		return j, core.NotFound("job", id)
	}
	if err != nil {
		return j, err
	}
	if mine, err := h.ownsJob(ctx, c, &j); err != nil || mine {
		return j, err
	}
	if !c.Policy.Can(c.Who.Subject, api.PermJobView, jobObject(id).Object).Allowed {
		return j, core.NotFound("job", id)
	}
	return j, c.May(want, jobObject(id))
}

// Routes are its rows of the table.
func (h *JobRoutes) Routes() []core.Route {
	route := func(method, path, audit, id, summary string) core.Route {
		return core.Route{
			Method: method, Path: "/api/v1/jobs" + path, Access: core.SignedIn, Within: true, Audit: audit, ID: id, Summary: summary, Tag: "jobs",
		}
	}
	create := route(http.MethodPost, "", "job.create", "create-job",
		"Run one operation on many applications, a number of them at a time; dryRun lists the applications, and those that would be refused. "+
			"Each requires the permission when its turn comes")
	create.Access, create.Within, create.Permission = core.Listed, false, api.PermApplicationView
	create.Example = `{"action":"refresh","filter":{"sync":["OutOfSync"]},"limit":5,"reason":"the proxy is back"}`
	create.Mount = core.Mount(core.Answer[jobCreate, jobPlanOutput]{Do: h.createJob})
	list := route(http.MethodGet, "", "", "list-jobs", "List jobs, the newest first: your own, and with job_view those of others")
	list.Mount = core.Mount(core.Answer[jobList, core.PageOutput[api.Job]]{Do: func(ctx context.Context, c *core.Call,
		in *jobList,
	) (*core.PageOutput[api.Job], error) {
		options := api.ListOptions{Search: in.Search}
		if err := (&core.PageInput{Limit: in.Limit, Cursor: in.Cursor, Page: in.Page, Sort: in.Sort}).Put(&options); err != nil {
			return nil, err
		}
		filter := api.JobFilter{ListOptions: options, State: in.State}
		if in.Mine || !c.Policy.Can(c.Who.Subject, api.PermJobView, jobObject("").Object).Allowed {
			filter.By = c.Who.Principal
			if c.Who.Subject.Ceiling != nil && c.Who.Token != nil {
				filter.Token = c.Who.Token.ID
			}
		}
		page, err := h.Jobs.ListJobs(ctx, filter)
		return core.PageOf(page), err
	}})
	get := route(http.MethodGet, "/{id}", "", "get-job", "Get a job and its progress")
	get.Mount = core.Mount(core.Answer[JobInput, jobOutput]{Do: func(ctx context.Context, c *core.Call, in *JobInput) (*jobOutput, error) {
		j, err := h.findJob(ctx, c, in.ID, api.PermJobView)
		return &jobOutput{j}, err
	}})
	targets := route(http.MethodGet, "/{id}/targets", "", "list-job-targets", "List the applications of a job, with the result for each")
	targets.Mount = core.Mount(core.Answer[jobTargets, core.PageOutput[api.JobTarget]]{Do: func(ctx context.Context, c *core.Call,
		in *jobTargets,
	) (*core.PageOutput[api.JobTarget], error) {
		j, err := h.findJob(ctx, c, in.ID, api.PermJobView)
		if err != nil {
			return nil, err
		}
		options := api.ListOptions{Limit: in.Limit, Cursor: in.Cursor, Sort: in.Sort, Search: in.Search}
		page, err := h.Jobs.ListJobTargets(ctx, in.ID, in.State, options)
		if err != nil {
			return nil, err
		}
		page.Items, err = h.seenTargets(ctx, c, &j, page.Items)
		return core.PageOf(page), err
	}})
	stop := route(http.MethodPost, "/{id}/stop", "job.stop", "stop-job",
		"Stop a job: no further applications start, and running ones continue. Jobs of others require job_edit")
	type stopInput struct {
		JobInput
		core.TryInput
	}
	stop.Mount = core.Mount(core.Answer[stopInput, jobOutput]{Do: func(ctx context.Context, c *core.Call, in *stopInput) (*jobOutput, error) {
		j, err := h.findJob(ctx, c, in.ID, api.PermJobEdit)
		if err != nil || in.DryRun {
			c.Quiet = err == nil
			return &jobOutput{j}, err
		}
		if _, err = h.Jobs.StopBulk(ctx, in.ID, c.Who.Principal.Type+":"+c.Who.Principal.ID); err != nil {
			return nil, err
		}
		j, err = h.Jobs.GetJob(ctx, in.ID)
		return &jobOutput{j}, err
	}})
	return []core.Route{create, list, get, targets, stop}
}

// seenTargets are those that the caller may see of the applications of a job of another user: to see the job is not to see
// all that it is about.
func (h *JobRoutes) seenTargets(ctx context.Context, c *core.Call, j *api.Job, targets []api.JobTarget) ([]api.JobTarget, error) {
	mine, err := h.ownsJob(ctx, c, j)
	visible := c.Policy.Filter(c.Who.Subject, api.PermApplicationView)
	if err != nil || mine || visible.Everything() {
		return targets, err
	}
	ids, err := h.Fleet.FleetIDs(ctx, visible, api.FleetFilter{}, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		seen[id] = true
	}
	return slices.DeleteFunc(targets, func(t api.JobTarget) bool { return !seen[t.Application] }), nil
}

// shownTargets is how many applications of a dry run are listed.
const shownTargets = 1000

// createJob makes a job of what may be done now. Each application is asked for again when its turn comes.
func (h *JobRoutes) createJob(ctx context.Context, c *core.Call, in *jobCreate) (*jobPlanOutput, error) {
	c.Object, c.Quiet = api.Ref{Type: api.TypeJob, Scope: api.ScopeAccount}, in.DryRun
	request := in.Body
	if request.Reason == "" {
		request.Reason = c.Reason
	}
	c.Reason = request.Reason
	if err := checkJob(c, &request); err != nil {
		return nil, err
	}
	applications, err := h.jobApplications(ctx, c, &request)
	if err != nil {
		return nil, err
	}
	request.Targets = nil
	j := api.Job{
		By: c.Who.Principal, Request: request, State: api.JobRunning, CreatedAt: c.Now().UTC(), Traceparent: trace.Parent(ctx),
		Counts: api.JobCounts{Total: int64(len(applications)), Waiting: int64(len(applications))},
	}
	if in.DryRun {
		out := &jobPlanOutput{api.JobPlan{Job: j, Targets: []api.JobTarget{}}}
		err := h.planTargets(ctx, c, &in.Body, &out.Body, applications)
		return out, err
	}
	if len(applications) == 0 {
		return nil, api.Errorf(api.CodeInvalid,
			"no application that you may do this with is left by the filter: see what there is with a dry run")
	}
	token := ""
	if c.Who.Token != nil {
		token = c.Who.Token.ID
	}
	j.ID = strings.ToLower(rand.Text())
	c.Object.ID, c.After = j.ID, j
	if err := h.Jobs.AddJob(ctx, j, token, applications); err != nil {
		return nil, err
	}
	c.Changed(ctx, c.Object, nil, api.EventChanged, &j)
	return &jobPlanOutput{api.JobPlan{Job: j}}, nil
}

// planTargets lists the applications of a dry run. Those of a filter are such as it may be done with; each that was named is
// asked for, as it will be when its turn comes. Those that are not listed count as waiting.
func (h *JobRoutes) planTargets(ctx context.Context, c *core.Call, asked *api.JobRequest, plan *api.JobPlan, applications []string) error {
	object := c.Object
	defer func() { c.Object = object }()
	for i, id := range applications[:min(len(applications), shownTargets)] {
		t := api.JobTarget{Place: int64(i + 1), Application: id, State: api.TargetWaiting}
		if asked.Filter == nil {
			err := h.mayTarget(ctx, c, id, jobPermission(asked.Action))
			switch code := api.CodeOf(err); {
			case err == nil:
			case code == api.CodeNotFound || code == api.CodeForbidden:
				t.State, t.Message = api.TargetRefused, core.NewProblem(err, c.ID).Detail
				plan.Job.Counts.Waiting--
				plan.Job.Counts.Refused++
			default:
				return err
			}
		}
		plan.Targets = append(plan.Targets, t)
	}
	return nil
}

// mayTarget is the error of an application that is not there, or that the caller may not do this with.
func (h *JobRoutes) mayTarget(ctx context.Context, c *core.Call, id string, want api.Permission) error {
	agent, namespace, name, err := api.ParseItemID(id)
	if err != nil {
		return err
	}
	at, err := h.FindApplication(ctx, item.At(agent, namespace, name))
	if err != nil {
		return err
	}
	return c.May(want, at)
}

// jobPermission is what an action takes of each application.
func jobPermission(action string) api.Permission {
	if action == api.JobSync || action == api.JobRollback {
		return api.PermApplicationSync
	}
	return api.PermApplicationView
}

func checkJob(c *core.Call, r *api.JobRequest) error {
	invalid := func(field, message string) error {
		return &api.Error{Code: api.CodeInvalid, Message: message, Field: "body." + field}
	}
	switch {
	case (r.Filter == nil) == (len(r.Targets) == 0):
		return invalid("filter", "a job has a filter or targets: give one of them; an empty filter stands for all applications")
	case r.Filter == nil && len(r.Except) > 0:
		return invalid("except", "this leaves applications out of a filter, and there is none: name the others only")
	case r.Sync != nil && r.Action != api.JobSync:
		return invalid("sync", "this sets how to sync, and the action is "+r.Action)
	case r.Rollback != nil && r.Action != api.JobRollback:
		return invalid("rollback", "this sets how to roll back, and the action is "+r.Action)
	case r.Sync != nil && len(r.Sync.Manifests) > 0:
		return invalid("sync.manifests", "manifests are of one application: sync that one alone")
	}
	if r.Limit == 0 {
		r.Limit = api.DefaultJobLimit
	}
	if r.Timeout == 0 {
		r.Timeout = api.DefaultJobTimeout
	}
	if r.Filter != nil {
		return checkFleet(r.Filter, c.Now())
	}
	return nil
}

// jobApplications are the ids of what a job is about: of a filter what may be done now, of targets what was named.
func (h *JobRoutes) jobApplications(ctx context.Context, c *core.Call, r *api.JobRequest) ([]string, error) {
	permission := jobPermission(r.Action)
	may := c.Policy.Filter(c.Who.Subject, permission)
	if may.Nothing() {
		return nil, api.Errorf(api.CodeForbidden, "nothing gives you %s: ask an administrator of bindings for a role with it", permission)
	}
	if r.Filter == nil {
		return targetIDs(r.Targets)
	}
	except, err := targetIDs(r.Except)
	if err != nil {
		return nil, err
	}
	ids, err := h.Fleet.FleetIDs(ctx, may, *r.Filter, api.MaxJobTargets+len(except))
	if err != nil {
		return nil, err
	}
	if len(except) > 0 {
		out := make(map[string]bool, len(except))
		for _, id := range except {
			out[id] = true
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return out[id] })
	}
	if len(ids) > api.MaxJobTargets {
		return nil, api.Errorf(api.CodeInvalid, "the filter leaves more than %d applications: narrow it", api.MaxJobTargets)
	}
	return ids, nil
}

// targetIDs are the ids of applications that were named, each once.
func targetIDs(targets []api.Target) ([]string, error) {
	seen := make(map[string]bool, len(targets))
	var ids []string
	for _, t := range targets {
		id := api.ItemID(t.Agent, t.Namespace, t.Name)
		if _, _, _, err := api.ParseItemID(id); err != nil {
			return nil, err
		}
		if !seen[id] {
			ids = append(ids, id)
		}
		seen[id] = true
	}
	return ids, nil
}

// OwnJob is true for an event about a job that the reader has asked for.
func (h *JobRoutes) OwnJob(ctx context.Context, c *core.Call, e api.Event) bool {
	var j api.Job
	if strict.Decode(e.Data, &j, strict.Foreign) != nil || j.By.ID == "" { // it was too large
		var err error
		if j, err = h.Jobs.GetJob(ctx, e.Object.ID); err != nil {
			return false
		}
	}
	mine, err := h.ownsJob(ctx, c, &j)
	return err == nil && mine
}
