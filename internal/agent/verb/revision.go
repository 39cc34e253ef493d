package verb

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/setting"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/git"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
)

// Bounds of what is reported about revisions.
const (
	maxCommitText   = 64 << 10 // of one message
	maxCommitTexts  = 1 << 20  // of all messages of an answer
	maxCommitPerson = 300      // characters of a name or an address
	maxCommitTags   = 20
	revisionLimit   = 20 * time.Second
)

// revisions returns the authors of commits of an Application's repositories, from the mirrors. A commit that the Application
// names is fetched where it is not there; others are not, so that a user cannot make the agent fetch any repository.
func (v *looks) revisions(ctx context.Context, cmd agentapi.Command, req api.RevisionsRequest) (any, error) {
	if len(req.Revisions) == 0 || len(req.Revisions) > api.MaxRevisions {
		return nil, command.Refuse(agentapi.CodeInvalid, "give from 1 to %d revisions", api.MaxRevisions)
	}
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	repos, err := v.reposOf(app)
	if err != nil {
		return nil, err
	}
	named := revisionsNamed(app)
	ctx, cancel := context.WithTimeout(ctx, revisionLimit)
	defer cancel()
	out := api.RevisionsAnswer{Items: make([]api.RevisionInfo, 0, len(req.Revisions))}
	left := maxCommitTexts
	for _, revision := range req.Revisions {
		info := lookUpRevision(ctx, repos, revision, named[strings.ToLower(revision)])
		info.Message = object.Lines(info.Message, min(left, maxCommitText))
		left -= len(info.Message)
		out.Items = append(out.Items, info)
	}
	return out, nil
}

// reposOf are the repositories of an Application that its project permits: those of its sources, first, and of its history.
func (v *looks) reposOf(app *v1alpha1.Application) ([]*gitsource.Repo, error) {
	src, ok := v.Engine.Sources.(*place.Sources)
	if !ok {
		return nil, errors.New("this agent reads no repositories")
	}
	rules, err := setting.RulesFor(v.Engine.Projects, v.Namespace, app.Spec.ProjectName(), app.Namespace)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(app.Spec.EffectiveSources())
	for _, h := range app.Status.History {
		list = append(append(list, h.Sources...), h.Source)
	}
	var out []*gitsource.Repo
	for _, s := range list {
		if s.RepoURL == "" || rules.PermitsChart(s.RepoURL, s.Chart) != nil {
			continue
		}
		if repo, _, err := src.Repo(app.Spec.ProjectName(), s); err == nil && !slices.Contains(out, repo) {
			out = append(out, repo)
		}
	}
	return out, nil
}

// revisionsNamed are the commits that an Application names.
func revisionsNamed(app *v1alpha1.Application) map[string]bool {
	out := map[string]bool{}
	add := func(one string, several []string) {
		out[strings.ToLower(one)] = true
		for _, r := range several {
			out[strings.ToLower(r)] = true
		}
	}
	add(app.Status.Sync.Revision, app.Status.Sync.Revisions)
	for _, h := range app.Status.History {
		add(h.Revision, h.Revisions)
	}
	if op := app.Status.OperationState; op != nil && op.SyncResult != nil {
		add(op.SyncResult.Revision, op.SyncResult.Revisions)
	}
	return out
}

// lookUpRevision looks a commit up in the repositories, one after the other.
func lookUpRevision(ctx context.Context, repos []*gitsource.Repo, revision string, fetch bool) api.RevisionInfo {
	out := api.RevisionInfo{
		Revision: object.Brief(object.Line(revision), maxCommitPerson),
		Reason:   "it is not in the agent's copy of the application's repositories",
	}
	if _, err := git.ParseID(revision); err != nil {
		out.Reason = "it is no commit: give the whole id, 40 hexadecimal digits"
		return out
	}
	revision = strings.ToLower(revision)
	find := func(repo *gitsource.Repo) *git.Commit { //nolint:contextcheck // it reads a copy on disk, which always ends
		c, err := repo.Commit(revision)
		if err != nil || c.ID.String() != revision { // an object that is no commit leads to one, or to none
			return nil
		}
		return c
	}
	for _, repo := range repos {
		if c := find(repo); c != nil {
			return commitInfo(repo, c)
		}
	}
	for _, repo := range repos {
		if !fetch || ctx.Err() != nil {
			break
		}
		if _, err := repo.Resolve(ctx, gitsource.Revision{Name: revision}, time.Time{}); err != nil {
			continue
		}
		if c := find(repo); c != nil {
			return commitInfo(repo, c)
		}
	}
	return out
}

func commitInfo(repo *gitsource.Repo, c *git.Commit) api.RevisionInfo {
	id := c.ID.String()
	out := api.RevisionInfo{
		Revision: id, Known: true, RepoURL: repo.URL(), Date: c.Committer.When, Message: c.Message, WebURL: commitPage(repo.URL(), id),
		Author: api.RevisionPerson{
			Name: object.Brief(object.Line(c.Author.Name), maxCommitPerson), Email: object.Brief(object.Line(c.Author.Email), maxCommitPerson),
		},
	}
	if out.Date.Year() < 1 || out.Date.Year() > 9999 { // JSON has no such time
		out.Date = time.Time{}
	}
	switch s := c.Signature; {
	case s == "":
	case strings.Contains(s, "BEGIN PGP"):
		out.Signature = "gpg"
	case strings.Contains(s, "BEGIN SSH"):
		out.Signature = "ssh"
	case strings.Contains(s, "BEGIN SIGNED"):
		out.Signature = "x509"
	default:
		out.Signature = "unknown"
	}
	refs, _ := repo.Refs()
	for ref, at := range refs.IDs {
		if name, ok := strings.CutPrefix(ref, "refs/tags/"); ok && at == id {
			out.Tags = append(out.Tags, object.Brief(object.Line(name), maxCommitPerson))
		}
	}
	slices.Sort(out.Tags)
	out.Tags = out.Tags[:min(len(out.Tags), maxCommitTags)]
	return out
}

// commitPage is where a known forge shows a commit; "" if it is not known. The forge is recognized by its name: the first label
// of a host, or the host of one that is public.
func commitPage(address, id string) string {
	host, path := "", ""
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host, path = strings.ToLower(u.Hostname()), u.EscapedPath()
	} else if at, rest, ok := strings.Cut(address, ":"); ok && !strings.Contains(at, "/") {
		host, path = strings.ToLower(at[strings.LastIndex(at, "@")+1:]), (&url.URL{Path: rest}).EscapedPath()
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if host == "" || path == "" || strings.ContainsAny(host, "[]:") {
		return ""
	}
	first, rest, _ := strings.Cut(host, ".")
	if strings.HasPrefix(rest, "com.") || strings.HasPrefix(rest, "org.") { // it only looks like a public one
		return ""
	}
	switch {
	case host == "github.com", host == "codeberg.org", first == "github", first == "gitea", first == "forgejo":
		return "https://" + host + "/" + path + "/commit/" + id
	case host == "gitlab.com", first == "gitlab":
		return "https://" + host + "/" + path + "/-/commit/" + id
	case host == "bitbucket.org":
		return "https://" + host + "/" + path + "/commits/" + id
	case host == "dev.azure.com":
		return "https://" + host + "/" + path + "/commit/" + id
	case host == "ssh.dev.azure.com": // v3/ORGANIZATION/PROJECT/REPOSITORY
		if parts := strings.Split(path, "/"); len(parts) == 4 && parts[0] == "v3" {
			return "https://dev.azure.com/" + parts[1] + "/" + parts[2] + "/_git/" + parts[3] + "/commit/" + id
		}
	}
	return ""
}
