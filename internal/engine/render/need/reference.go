package need

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Reference is something that a kustomization names and that is not in its repository.
type Reference struct {
	Need
	Path string // of a kustomization in the Git repository, or of the one file in the tree of a File
}

// scp matches user@host:path and the like.
var scp = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@[^/]+[:/]`)

// IsRemote reports whether Kustomize could take p for something to fetch. It covers more than Kustomize's own rule does. A text
// of several lines is inline content.
func IsRemote(p string) bool {
	if strings.Contains(p, "\n") {
		return false
	}
	l := strings.ToLower(strings.TrimSpace(p))
	for _, prefix := range []string{"git::", "github.com/", "github.com:", "http:", "https:"} {
		if strings.HasPrefix(l, prefix) {
			return true
		}
	}
	return strings.Contains(l, "://") || scp.MatchString(l)
}

// FileOf is the Need of a file by URL.
func FileOf(raw string) (Need, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || len(raw) > maxURL || u.Hostname() == "" || strings.ContainsFunc(raw, unicode.IsControl):
		return Need{}, errors.New("the URL is malformed; write it as https://host/path")
	case u.Scheme != "https" && u.Scheme != "http":
		return Need{}, fmt.Errorf("the scheme %q is not supported; use https", u.Scheme)
	}
	u.Fragment, u.RawFragment = "", ""
	return Need{Kind: File, URL: u.String()}, nil
}

// bases reports whether a field of a kustomization may name directories, and not only files.
func bases(field string) bool {
	return slices.Contains([]string{"resources", "bases", "components", "generators", "transformers", "validators"}, field)
}

// ParseReference reads what IsRemote reports of a path under a field. Where a directory may be named, Kustomize would try to load an
// http(s) URL and take it for a repository where that fails; here the name decides: one that ends like a manifest is a file.
func ParseReference(field, raw string) (Reference, error) {
	if len(raw) > maxURL || strings.ContainsFunc(raw, unicode.IsControl) {
		return Reference{}, fmt.Errorf("the address has more than %d bytes or control characters; correct it", maxURL)
	}
	text := strings.TrimSpace(raw)
	if isFile(text) || !bases(field) {
		n, err := FileOf(text)
		return Reference{Need: n, Path: FileName}, err
	}
	ref, err := parseGit(text)
	if errors.Is(err, errNoRepository) {
		if n, wrong := FileOf(text); wrong == nil {
			return Reference{Need: n, Path: FileName}, nil // https://host/name
		}
	}
	return ref, err
}

// AsRepository reads an address as one of a repository, also where ParseReference takes it for a file: Kustomize's annotations about
// origins do so.
func AsRepository(raw string) (Reference, bool) {
	ref, err := parseGit(strings.TrimSpace(raw))
	return ref, err == nil
}

var errNoRepository = errors.New("it names no repository; write it as https://host/organization/repository//path?ref=revision")

// isFile reports whether a URL names a manifest, and not a directory of a repository.
func isFile(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	if strings.Contains(u.Path, "//") || strings.Contains(u.Path, ".git/") || strings.Contains(u.Path, "_git/") {
		return false
	}
	q := u.Query()
	if q.Has("ref") || q.Has("version") || q.Has("submodules") {
		return false
	}
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(u.Path)))
}

const github = "github.com"

// parseGit splits an address as Kustomize does: in the repository, the path in it, and the parameters. timeout and submodules
// have no effect: there are other limits, and submodules are not fetched.
func parseGit(text string) (Reference, error) {
	for len(text) >= 5 && strings.EqualFold(text[:5], "git::") {
		text = text[5:]
	}
	text, query, _ := strings.Cut(text, "?")
	host, rest, err := splitHost(text)
	if err != nil {
		return Reference{}, err
	}
	repo, dir, ok := splitPath(rest)
	if !ok {
		return Reference{}, errNoRepository
	}
	clean := path.Clean("./" + dir)
	if clean == ".." || strings.HasPrefix(clean, "../") || slices.Contains(strings.Split(repo, "/"), "..") {
		return Reference{}, errors.New("its path leaves the repository; write it without two dots")
	}
	ref, err := refOf(query)
	if err != nil {
		return Reference{}, err
	}
	return Reference{Need: Need{Kind: Git, URL: host + repo, Revision: ref}, Path: clean}, nil
}

func refOf(query string) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", errors.New("what follows ? is malformed; write it as ?ref=revision")
	}
	ref := values.Get("ref")
	if ref == "" {
		ref = values.Get("version")
	}
	odd := func(r rune) bool { return unicode.IsControl(r) || r == ' ' }
	if strings.HasPrefix(ref, "-") || len(ref) > 256 || strings.ContainsFunc(ref, odd) {
		return "", fmt.Errorf("ref %.100q is no branch, tag or commit; correct it", ref)
	}
	return ref, nil
}

// splitHost returns scheme, user and host as git takes them, and what follows.
func splitHost(text string) (host, rest string, err error) {
	scheme := ""
	if i := strings.Index(text, "://"); i >= 0 {
		scheme, text = strings.ToLower(text[:i]), text[i+3:]
	}
	user := ""
	if m := scpUser.FindString(text); m != "" {
		user, text = m, text[len(m):]
	}
	lower := strings.ToLower(text)
	onGitHub := strings.HasPrefix(lower, github+"/") || strings.HasPrefix(lower, github+":")
	switch scheme {
	case "":
		if user == "" && !onGitHub {
			return "", "", errors.New("it has no scheme; write it with https:// or ssh://")
		}
	case "https", "http", "ssh":
	default:
		return "", "", fmt.Errorf("the scheme %q is not supported; use https or ssh", scheme)
	}
	separators := "/"
	if scheme == "" {
		separators = "/:"
	}
	i := strings.IndexAny(text, separators)
	if i <= 0 {
		return "", "", errors.New("it names no host; write it as https://host/organization/repository//path?ref=revision")
	}
	name, rest := text[:i], text[i+1:]
	switch {
	case onGitHub && (scheme == "ssh" || user != ""):
		return "ssh://git@" + github + "/", rest, nil
	case onGitHub:
		return "https://" + github + "/", rest, nil
	case scheme == "":
		return "ssh://" + user + name + "/", strings.TrimPrefix(rest, "/"), nil
	}
	return scheme + "://" + user + name + "/", rest, nil
}

// scpUser matches the user in front of a host.
var scpUser = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// splitPath finds where the repository ends: at "_git/name", at "//", behind ".git", or else after two parts.
func splitPath(p string) (repo, dir string, ok bool) {
	if i := strings.Index(p, "_git/"); i >= 0 {
		name, rest, _ := strings.Cut(p[i+len("_git/"):], "/")
		return p[:i+len("_git/")] + name, rest, name != ""
	}
	if repo, dir, ok = strings.Cut(p, "//"); ok {
		return repo, strings.TrimPrefix(dir, "/"), repo != ""
	}
	if i := strings.Index(p, ".git"); i >= 0 {
		end := i + len(".git")
		return p[:end], strings.TrimPrefix(p[end:], "/"), i > 0
	}
	parts := strings.SplitN(p, "/", 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return "", "", false
	}
	if len(parts) == 3 {
		dir = parts[2]
	}
	return parts[0] + "/" + parts[1], dir, true
}
