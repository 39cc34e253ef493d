package webhook

import (
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// maxRevision bounds the revisions that are read as version ranges, in bytes.
const maxRevision = 256

// Of reports whether the event is about the repository at repoURL.
func (e Event) Of(repoURL string) bool {
	for _, u := range e.RepoURLs {
		if SameRepository(u, repoURL) {
			return true
		}
	}
	return false
}

// Concerns reports whether a source that follows target may resolve to another commit after the event: target is the
// branch or tag that was pushed (in full or short), a version range that the pushed name is in, the default branch
// (empty or HEAD), or the commit that arrived. Branches and tags of one name are not distinguished. Where tagPrefix is not
// empty, a range looks only at tags that start with it, and at their rest.
func (e Event) Concerns(target, tagPrefix string) bool {
	if target == "" || target == "HEAD" {
		return e.TouchedHead
	}
	short := shortRef(target)
	if short == e.Revision || isCommit(target) && strings.HasPrefix(e.After, target) {
		return true
	}
	version, ok := strings.CutPrefix(e.Revision, tagPrefix)
	return ok && inRange(short, version)
}

// ConcernsArtifact does the same for a chart or another OCI artifact: chart is empty where repoURL names all of it.
func (e Event) ConcernsArtifact(repoURL, chart, target string) bool {
	if e.Kind != Registry {
		return false
	}
	name := artifactName(repoURL)
	if chart != "" {
		name += "/" + strings.ToLower(chart)
	}
	return name == artifactName(e.Artifact.Registry+"/"+e.Artifact.Repository) &&
		(target == e.Artifact.Tag || target == "" || inRange(target, e.Artifact.Tag))
}

func inRange(constraint, version string) bool {
	if len(constraint) > maxRevision || len(version) > maxRevision {
		return false
	}
	v, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	c, err := semver.NewConstraint(constraint)
	return err == nil && c.Check(v)
}

// isCommit reports whether s can be a commit id, whole or shortened to at least 7 digits.
func isCommit(s string) bool {
	return len(s) >= 7 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// Source is what decides which files of a repository matter to an application.
type Source struct {
	Path string // folder of the source, relative to the root of the repository
	// Hydrated marks a folder that rendered manifests are written to and synced from: nothing outside of it matters,
	// whatever the annotation says.
	Hydrated bool
}

// maxPaths bounds the entries of one annotation.
const maxPaths = 256

// Paths reads the annotation argocd.argoproj.io/manifest-generate-paths for a source: the files, folders and patterns
// that matter, relative to the root of the repository. No paths mean that every file matters.
func (s Source) Paths(annotation string) []string {
	if s.Hydrated {
		return []string{path.Clean(s.Path)}
	}
	var paths []string
	for item := range strings.SplitSeq(annotation, ";") {
		item = strings.TrimSpace(item)
		switch {
		case item == "":
			continue
		case item[0] == '/':
			paths = append(paths, path.Clean(item)[1:])
		default:
			paths = append(paths, path.Join(s.Path, item))
		}
		if len(paths) > maxPaths {
			return nil // too long to be looked through: everything matters
		}
	}
	return paths
}

// Touches reports whether one of the changed files is one of paths, is below one, or matches one as a pattern. Without
// paths, or without knowing all files, it must say yes.
func (e Event) Touches(paths []string) bool {
	if len(paths) == 0 || len(e.ChangedFiles) == 0 || e.Partial {
		return true
	}
	for _, p := range paths {
		p = path.Clean("/" + p)
		for _, file := range e.ChangedFiles {
			file = path.Clean("/" + file)
			if p == "/" || file == p || strings.HasPrefix(file, p+"/") {
				return true
			}
			if ok, err := path.Match(p, file); err == nil && ok {
				return true
			}
		}
	}
	return false
}
