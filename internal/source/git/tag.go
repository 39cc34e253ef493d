package gitsource

import (
	"context"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
)

// held is what a reference is in the mirror: its commit, and the annotated tag that leads to it, "" for none. A tag can be made
// again for the same commit, with another signature.
type held struct{ commit, tag string }

// mirrored reads what a reference is in the mirror; nothing where it is not there.
func mirrored(m *git.Mirror, ref string) held {
	id, err := m.Ref(ref)
	if err != nil {
		return held{}
	}
	out := held{commit: id.String()}
	if tag, ok := m.TagOf(ref); ok {
		out.tag = tag.String()
	}
	return out
}

// stateOf is what followers know of a resolved revision.
func stateOf(refs git.Refs, res git.Resolved) string {
	if tag := refs.Tags[res.Ref]; tag != "" {
		return res.Commit + " " + tag
	}
	return res.Commit
}

// Tag is an annotated tag as Git stores it.
type Tag struct {
	Name string // without refs/tags/
	ID   string
	Data []byte
}

// Signed reads what is signed in a repository.
type Signed struct{ repo *Repo }

// SignedIn reads what is signed in a repository.
func SignedIn(r *Repo) Signed { return Signed{r} }

// Tags returns the annotated tags that a revision can mean and that lead to a commit, as the remote has them. Where a commit came
// from is not asked of the remote again, unless nothing is known of it.
func (s Signed) Tags(ctx context.Context, rev Revision, commit string) ([]Tag, error) {
	if !moves(rev) || isHead(rev) {
		return nil, nil
	}
	r := s.repo
	r.mu.Lock()
	unknown := r.listed.IsZero() && len(r.refs.IDs) == 0
	r.mu.Unlock()
	if unknown {
		if err := r.refresh(ctx, time.Now(), false, false); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	refs := r.refs.TagsTo(rev.Name, rev.TagPrefix, commit)
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = r.refs.Tags[ref]
	}
	r.mu.Unlock()
	var out []Tag
	for i, ref := range refs {
		id, err := git.ParseID(ids[i])
		if err != nil {
			return nil, err
		}
		if !r.mirror.Has(ids[i]) {
			if _, err := r.ensure(ctx, git.Resolved{Ref: ref, Commit: commit}); err != nil {
				return nil, err
			}
		}
		data, err := r.mirror.Raw(id)
		if err != nil {
			return nil, err
		}
		out = append(out, Tag{Name: strings.TrimPrefix(ref, "refs/tags/"), ID: ids[i], Data: data})
	}
	return out, nil
}

// Raw returns a commit as Git stores it.
func (s Signed) Raw(commit string) ([]byte, error) {
	id, err := git.ParseID(commit)
	if err != nil {
		return nil, err
	}
	return s.repo.mirror.Raw(id)
}
