package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Refs is what a remote has: full reference names and the commits they point to.
type Refs struct {
	Default string            // the reference that HEAD names, such as refs/heads/main; "" where HEAD names none
	IDs     map[string]string // annotated tags are followed to what they tag
	Tags    map[string]string // the ids of annotated tags themselves
}

// Resolved is a revision that was found: the reference it came from ("" for a bare commit id) and the commit.
type Resolved struct {
	Ref    string
	Commit string
}

// LsRemote lists the references of the remote, with one command. With patterns ("HEAD", full names, or prefixes that
// end in "/*") the answer is limited to what matches; without, HEAD, branches and tags are listed. Where only branches
// and tags are asked for, the server sends nothing else: with many pull requests that is far less.
func (m *Mirror) LsRemote(ctx context.Context, patterns ...string) (Refs, error) {
	if len(patterns) == 0 {
		patterns = []string{"HEAD", "refs/heads/*", "refs/tags/*"}
	}
	args := []string{"ls-remote", "--quiet", "--symref"}
	if slices.Equal(patterns, []string{"refs/heads/*", "refs/tags/*"}) {
		args = append(args, "--heads", "--tags")
	}
	args = append(args, "origin")
	for _, p := range patterns {
		if p == "HEAD" {
			args = append(args, p)
			continue
		}
		if err := CheckRef(strings.TrimSuffix(p, "/*")); err != nil {
			return Refs{}, err
		}
		args = append(args, p)
		if !strings.HasSuffix(p, "/*") {
			args = append(args, p+"^{}")
		}
	}
	out, err := m.remoteRun(ctx, command{args: args}, m.client.opts.Timeout)
	if err != nil {
		return Refs{}, err
	}
	return parseRefs(out), nil
}

func parseRefs(out []byte) Refs {
	r := Refs{IDs: map[string]string{}, Tags: map[string]string{}}
	for line := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		if target, symbolic := strings.CutPrefix(id, "ref: "); symbolic {
			if name == "HEAD" && CheckRef(target) == nil {
				r.Default = target
			}
			continue
		}
		if tag, peeled := strings.CutSuffix(name, "^{}"); peeled { // the line of the tagged commit follows that of the tag
			if name = tag; CheckRef(name) == nil && r.IDs[name] != "" {
				r.Tags[name] = r.IDs[name]
			}
		}
		if name == "HEAD" || CheckRef(name) == nil {
			r.IDs[name] = id
		}
	}
	return r
}

// Range reports whether a revision is a range of versions ("1.*", "~1.2", ">=1.0 <2") and not a plain name or version.
func Range(revision string) bool {
	if _, err := semver.NewVersion(revision); err == nil {
		return false
	}
	_, err := semver.NewConstraint(revision)
	return err == nil
}

// Resolve finds a revision among the references as Argo CD does: "" and "HEAD" are the default branch; a range of
// versions is the highest tag in it, tags being compared without tagPrefix; then come full reference names, branches,
// tags and remaining references by their short name, in this order. A full commit id is not looked up.
// Where nothing is found the error wraps ErrNoRevision and names close matches.
func (r Refs) Resolve(revision, tagPrefix string) (Resolved, error) {
	if _, err := ParseID(revision); err == nil {
		return Resolved{Commit: strings.ToLower(revision)}, nil
	}
	if revision == "" || revision == "HEAD" {
		if id, ok := r.IDs[r.Default]; ok {
			return Resolved{Ref: r.Default, Commit: id}, nil
		}
		if id, ok := r.IDs["HEAD"]; ok {
			return Resolved{Ref: r.Default, Commit: id}, nil
		}
		return Resolved{}, fmt.Errorf("resolve HEAD: %w: the repository is empty or has no default branch: push a commit or name a branch",
			ErrNoRevision)
	}
	if Range(revision) {
		if ref := r.highest(revision, tagPrefix); ref != "" {
			return Resolved{Ref: ref, Commit: r.IDs[ref]}, nil
		}
	}
	for _, prefix := range []string{"", "refs/heads/", "refs/tags/", "refs/"} {
		ref := prefix + revision
		if id, ok := r.IDs[ref]; ok && strings.HasPrefix(ref, "refs/") {
			return Resolved{Ref: ref, Commit: id}, nil
		}
	}
	return Resolved{}, fmt.Errorf("resolve %q: %w%s", clean(revision), ErrNoRevision, r.hint(revision, tagPrefix))
}

func (r Refs) highest(constraint, tagPrefix string) string {
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		return ""
	}
	var best *semver.Version
	ref := ""
	for name := range r.IDs {
		tag, ok := strings.CutPrefix(name, "refs/tags/"+tagPrefix)
		if !ok {
			continue
		}
		v, err := semver.NewVersion(tag)
		if err != nil || !c.Check(v) {
			continue
		}
		// Tags that are equal as versions (1.0 and v1.0.0) are distinguished by name, so that the choice is stable.
		if best == nil || v.GreaterThan(best) || v.Equal(best) && name > ref {
			best, ref = v, name
		}
	}
	return ref
}

// TagsTo returns the annotated tags (full names) that a revision can mean and that lead to a commit: one of that name, or all in
// a range of versions.
func (r Refs) TagsTo(revision, tagPrefix, commit string) []string {
	var out []string
	within, err := semver.NewConstraint(revision)
	ranged := err == nil && Range(revision)
	for ref := range r.Tags {
		name, ok := strings.CutPrefix(ref, "refs/tags/")
		if !ok || r.IDs[ref] != commit {
			continue
		}
		if ranged {
			v, err := semver.NewVersion(strings.TrimPrefix(name, tagPrefix))
			if ok = err == nil && strings.HasPrefix(name, tagPrefix) && within.Check(v); ok {
				out = append(out, ref)
			}
			continue
		}
		if revision == name || revision == ref || "refs/"+revision == ref {
			out = append(out, ref)
		}
	}
	slices.Sort(out)
	return out
}

// hint names references that look like what was asked for.
func (r Refs) hint(revision, tagPrefix string) string {
	if Range(revision) {
		if tagPrefix != "" {
			return fmt.Sprintf(": no tag with prefix %q lies in this range: check the range or push a tag", tagPrefix)
		}
		return ": no tag lies in this range: check the range or push a tag"
	}
	want := strings.ToLower(revision[strings.LastIndexByte(revision, '/')+1:])
	var near []string
	for name := range r.IDs {
		short := strings.TrimPrefix(strings.TrimPrefix(name, "refs/heads/"), "refs/tags/")
		low := strings.ToLower(short)
		if want != "" && (strings.Contains(low, want) || distance(low, strings.ToLower(revision)) <= 2) {
			near = append(near, short)
		}
	}
	if len(near) == 0 {
		return ": name a branch, tag or commit that exists"
	}
	slices.Sort(near)
	near = near[:min(len(near), 5)]
	return ": did you mean " + clean(strings.Join(near, ", ")) + "?"
}

// distance is the number of single-character edits between two short names; long or very unequal ones count as far.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 || len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 99
	}
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		cur := make([]int, len(b)+1)
		cur[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur[j+1] = min(cur[j]+1, prev[j+1]+1, prev[j]+cost)
		}
		prev = cur
	}
	return prev[len(b)]
}
