package webhook

import (
	"cmp"
	"net/http"
	"strings"
)

// hubPush is a push as GitHub describes it; Gogs and Gitea follow it. Only what is used is decoded.
type hubPush struct {
	Ref          string   `json:"ref"`
	Before       string   `json:"before"`
	After        string   `json:"after"`
	Forced       bool     `json:"forced"`
	Commits      []commit `json:"commits"`
	TotalCommits int      `json:"total_commits"` // Gitea: Commits holds only the newest few
	Repository   struct {
		HTMLURL       string `json:"html_url"`
		CloneURL      string `json:"clone_url"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
}

// maxHubCommits is how many commits GitHub lists at most; a full list may be a cut one.
const maxHubCommits = 2048

func (p hubPush) events() ([]Event, error) {
	e := Event{
		RepoURLs: []string{cmp.Or(p.Repository.HTMLURL, p.Repository.CloneURL)},
		Ref:      p.Ref, Before: p.Before, After: p.After,
	}
	e.ChangedFiles, e.Partial = filesOf(p.Commits, p.TotalCommits)
	// The commits of a forced push do not show what it took away.
	e.Partial = e.Partial || p.Forced || len(p.Commits) >= maxHubCommits
	return push(e, p.Repository.DefaultBranch)
}

func decodeGitHub(h http.Header, body []byte) ([]Event, error) {
	p, err := parse[hubPush](body)
	if err != nil || h.Get("X-Github-Event") != "push" {
		return nil, err
	}
	return p.events()
}

func decodeGogs(h http.Header, body []byte) ([]Event, error) {
	p, err := parse[hubPush](body)
	if err != nil || cmp.Or(h.Get("X-Gitea-Event"), h.Get("X-Gogs-Event")) != "push" {
		return nil, err
	}
	return p.events()
}

type gitlabPush struct {
	ObjectKind   string   `json:"object_kind"`
	EventName    string   `json:"event_name"` // system hooks of old servers have only this one
	Ref          string   `json:"ref"`
	Before       string   `json:"before"`
	After        string   `json:"after"`
	Commits      []commit `json:"commits"` // the newest 20
	TotalCommits int      `json:"total_commits_count"`
	Project      struct {
		WebURL        string `json:"web_url"`
		HTTPURL       string `json:"git_http_url"`
		DefaultBranch string `json:"default_branch"`
	} `json:"project"`
}

func decodeGitLab(h http.Header, body []byte) ([]Event, error) {
	switch h.Get("X-Gitlab-Event") {
	case "Push Hook", "Tag Push Hook", "System Hook":
	default:
		_, err := parse[struct{}](body)
		return nil, err
	}
	p, err := parse[gitlabPush](body)
	if err != nil {
		return nil, err
	}
	switch cmp.Or(p.ObjectKind, p.EventName) {
	case "push", "tag_push":
	default:
		return nil, nil
	}
	files, partial := filesOf(p.Commits, p.TotalCommits)
	return push(Event{
		RepoURLs: []string{cmp.Or(p.Project.WebURL, p.Project.HTTPURL)},
		Ref:      p.Ref, Before: p.Before, After: p.After,
		ChangedFiles: files, Partial: partial,
	}, p.Project.DefaultBranch)
}

type bitbucketPush struct {
	Push struct {
		Changes []struct {
			New *bitbucketRef `json:"new"` // null for a deleted ref
			Old *bitbucketRef `json:"old"` // null for a new one
		} `json:"changes"`
	} `json:"push"`
	Repository struct {
		Links struct {
			HTML struct {
				Href string `json:"href"`
			} `json:"html"`
		} `json:"links"`
	} `json:"repository"`
}

type bitbucketRef struct {
	Type   string `json:"type"` // branch or tag
	Name   string `json:"name"` // without refs/heads/
	Target struct {
		Hash string `json:"hash"`
	} `json:"target"`
}

func (r *bitbucketRef) hash() string {
	if r == nil {
		return ""
	}
	return r.Target.Hash
}

// decodeBitbucketCloud cannot know the default branch or the files: the payload has neither.
func decodeBitbucketCloud(h http.Header, body []byte) ([]Event, error) {
	p, err := parse[bitbucketPush](body)
	if err != nil || h.Get("X-Event-Key") != "" && h.Get("X-Event-Key") != "repo:push" {
		return nil, err
	}
	var events []Event
	for _, c := range p.Push.Changes {
		ref := cmp.Or(c.New, c.Old)
		if ref == nil {
			continue
		}
		full := branchRef + ref.Name
		if ref.Type == "tag" || ref.Type == "annotated_tag" {
			full = tagRef + ref.Name
		}
		e, err := push(Event{
			RepoURLs: []string{p.Repository.Links.HTML.Href},
			Ref:      full, Before: c.Old.hash(), After: c.New.hash(),
		}, "")
		if err != nil {
			return nil, err
		}
		events = append(events, e...)
	}
	return events, nil
}

type bitbucketServerPush struct {
	Changes []struct {
		Ref struct {
			ID string `json:"id"`
		} `json:"ref"`
		FromHash string `json:"fromHash"`
		ToHash   string `json:"toHash"`
	} `json:"changes"`
	Repository struct {
		Links struct {
			Clone []struct {
				Name string `json:"name"`
				Href string `json:"href"`
			} `json:"clone"`
		} `json:"links"`
	} `json:"repository"`
}

// decodeBitbucketServer reports both clone URLs: their paths differ, so neither can be distinguished from the other.
func decodeBitbucketServer(h http.Header, body []byte) ([]Event, error) {
	if h.Get("X-Event-Key") != "repo:refs_changed" {
		_, err := parse[struct{}](body)
		return nil, err
	}
	p, err := parse[bitbucketServerPush](body)
	if err != nil {
		return nil, err
	}
	var urls []string
	for _, link := range p.Repository.Links.Clone {
		if (link.Name == "http" || link.Name == "ssh") && link.Href != "" && len(urls) < 4 {
			urls = append(urls, link.Href)
		}
	}
	var events []Event
	for _, c := range p.Changes {
		e, err := push(Event{RepoURLs: urls, Ref: c.Ref.ID, Before: c.FromHash, After: c.ToHash}, "")
		if err != nil {
			return nil, err
		}
		events = append(events, e...)
	}
	return events, nil
}

type azurePush struct {
	EventType string `json:"eventType"`
	Resource  struct {
		RefUpdates []struct {
			Name        string `json:"name"`
			OldObjectID string `json:"oldObjectId"`
			NewObjectID string `json:"newObjectId"`
		} `json:"refUpdates"`
		Repository struct {
			RemoteURL     string `json:"remoteUrl"`
			DefaultBranch string `json:"defaultBranch"` // with refs/heads/
		} `json:"repository"`
	} `json:"resource"`
}

func decodeAzure(_ http.Header, body []byte) ([]Event, error) {
	p, err := parse[azurePush](body)
	if err != nil || p.EventType != "git.push" {
		return nil, err
	}
	var events []Event
	for _, u := range p.Resource.RefUpdates {
		e, err := push(Event{
			RepoURLs: []string{p.Resource.Repository.RemoteURL},
			Ref:      u.Name, Before: u.OldObjectID, After: u.NewObjectID,
		}, strings.TrimPrefix(p.Resource.Repository.DefaultBranch, branchRef))
		if err != nil {
			return nil, err
		}
		events = append(events, e...)
	}
	return events, nil
}
