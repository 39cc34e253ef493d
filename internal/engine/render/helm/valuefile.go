package helm

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of expanding one pattern.
const (
	maxGlobEntries  = 20_000
	maxGlobPattern  = 1024 // bytes
	maxAlternatives = 100
	maxGlobDepth    = 32
)

// errOutside is what a path that leaves its repository gives.
var errOutside = errors.New("resolved to outside repository root; only files of the repository can be used")

// valueFile is one resolved file: a tree and a name in it.
type valueFile struct {
	ref  string // name of the referenced source; "" is the source itself
	url  string // where the file is by URL
	tree source.Tree
	name string
}

// String names the file for messages.
func (f valueFile) String() string {
	if f.url != "" {
		return redact.Addresses(f.url)
	}
	if f.ref != "" {
		return "$" + f.ref + "/" + f.name
	}
	return f.name
}

func (f valueFile) key() string { return f.ref + "\x00" + f.url + "\x00" + f.name }

func (f valueFile) read(b *budget) ([]byte, error) {
	raw, err := f.tree.ReadFile(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file or directory; check the path or set ignoreMissingValueFiles", f)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f, linkError(err))
	}
	if err := b.take(f.String(), int64(len(raw))); err != nil {
		return nil, err
	}
	if file, err := sops.Read(f.name, raw); file != nil || err != nil {
		return nil, fmt.Errorf("read %s: it is encrypted with SOPS, and the project has no key; store the private key in a Secret "+
			"with the label argocd.argoproj.io/secret-type=sops, see docs/guide/secrets-in-git.md", f)
	}
	return raw, nil
}

// valueFiles resolves spec.source.helm.valueFiles in order, patterns expanded. Each file of a pattern comes once, at
// its first place; one that is also named outright comes where it is named.
func (j *job) valueFiles() ([]valueFile, error) {
	type entry struct {
		file valueFile
		glob bool
	}
	var entries []entry
	named := map[string]bool{}
	for _, raw := range j.opts.ValueFiles {
		f, err := j.resolve(raw)
		if err != nil {
			return nil, fmt.Errorf("value file %s: %w", redact.Addresses(raw), err)
		}
		if !isGlob(f.name) {
			missing, err := isMissing(f)
			if err != nil {
				return nil, fmt.Errorf("value file %s: %w", raw, err)
			}
			if missing && j.opts.IgnoreMissingValueFiles {
				continue
			}
			named[f.key()] = true
			entries = append(entries, entry{file: f})
			continue
		}
		names, err := expandGlob(f.tree, f.name)
		if err != nil {
			return nil, fmt.Errorf("value files %s: %w", raw, err)
		}
		if len(names) == 0 && !j.opts.IgnoreMissingValueFiles {
			return nil, fmt.Errorf("value files %s: no file matches; check the pattern or set ignoreMissingValueFiles", raw)
		}
		for _, n := range names {
			entries = append(entries, entry{file: valueFile{ref: f.ref, tree: f.tree, name: n}, glob: true})
		}
	}
	var out []valueFile
	seen := map[string]bool{}
	for _, e := range entries {
		k := e.file.key()
		if e.glob && (named[k] || seen[k]) {
			continue
		}
		seen[k] = true
		out = append(out, e.file)
	}
	return out, nil
}

// isMissing distinguishes a file that is not there from one that may not be read.
func isMissing(f valueFile) (bool, error) {
	_, err := f.tree.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, linkError(err)
}

// resolve finds the file, or the pattern, that raw means: "$ref/path" is in a referenced source, "/path" counts from
// the root of the repository, anything else from the chart.
func (j *job) resolve(raw string) (valueFile, error) {
	if scheme, _, ok := strings.Cut(raw, "://"); ok && !strings.ContainsAny(scheme, "/$") {
		return j.fetchedFile(scheme, raw)
	}
	if name, rest, ok := j.cutRef(raw); ok {
		tree := j.req.Refs[name]
		if tree == nil {
			return valueFile{}, fmt.Errorf("the source with ref %q has no files that can be used", name)
		}
		if rest == "" {
			return valueFile{}, fmt.Errorf("a path must follow $%s/", name)
		}
		p, err := inside(".", rest)
		return valueFile{ref: name, tree: tree, name: p}, err
	}
	from := j.dir
	if strings.HasPrefix(raw, "/") {
		from = "."
	}
	p, err := inside(from, raw)
	return valueFile{tree: j.req.Tree, name: p}, err
}

// fetchedFile finds a file that is named by a URL.
func (j *job) fetchedFile(scheme, raw string) (valueFile, error) {
	if !j.req.Settings.ValueFileURL(raw) {
		return valueFile{}, fmt.Errorf("the URL scheme %.100q is not allowed; use https, or have helm.valuesFileSchemes in argocd-cm changed",
			scheme)
	}
	n, err := need.FileOf(raw)
	if err != nil {
		return valueFile{}, err
	}
	tree := j.req.Needs[n.Key()]
	if tree == nil {
		return valueFile{}, errors.New("the file was not fetched; copy it into the repository")
	}
	return valueFile{url: n.URL, tree: tree, name: need.FileName}, nil
}

// cutRef splits "$name/path" where name is a referenced source.
func (j *job) cutRef(raw string) (name, rest string, ok bool) {
	raw, ok = strings.CutPrefix(raw, "$")
	if !ok {
		return "", "", false
	}
	name, rest, _ = strings.Cut(raw, "/")
	_, ok = j.req.Refs[name]
	return name, rest, ok
}

// inside joins p to the directory from and makes sure that no ".." leads above the root on the way.
func inside(from, p string) (string, error) {
	full := path.Clean(from + "/" + p)
	if full == ".." || strings.HasPrefix(full, "../") {
		return "", errOutside
	}
	return treePath(full), nil
}

// isGlob reports whether a value file entry is a pattern.
func isGlob(name string) bool { return strings.ContainsAny(name, "*?[") }

// expandGlob returns the files that match: those of a directory in order, then those of its directories.
func expandGlob(tree source.Tree, pattern string) ([]string, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, errors.New("the pattern is malformed; close every [ with a ]")
	}
	if len(pattern) > maxGlobPattern || alternatives(pattern) > maxAlternatives {
		return nil, fmt.Errorf("the pattern is longer than %d bytes, or its {} make more than %d patterns; write several patterns",
			maxGlobPattern, maxAlternatives)
	}
	segs := strings.Split(pattern, "/")
	base := 0
	for base < len(segs)-1 && !isGlob(segs[base]) {
		base++
	}
	g := &globber{tree: tree, pattern: pattern, segs: segs, left: maxGlobEntries}
	err := g.walk(treePath(strings.Join(segs[:base], "/")), base)
	return g.found, err
}

// alternatives is how many patterns the {} of one pattern can make, or a little more. They are tried one by one.
func alternatives(pattern string) int {
	n := 1
	for _, group := range strings.Split(pattern, "{")[1:] {
		n = min(n*(1+strings.Count(group, ",")), 1<<20)
	}
	return n
}

type globber struct {
	tree    source.Tree
	pattern string
	segs    []string
	left    int
	found   []string
}

func (g *globber) walk(dir string, depth int) error {
	if depth > maxGlobDepth {
		return nil
	}
	entries, err := g.tree.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return linkError(err)
	}
	if g.left -= len(entries); g.left < 0 {
		return errLimit(fmt.Sprintf("more than %d names to look at", maxGlobEntries))
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		// A link that leaves the repository is listed and fails when it is read.
		if ok, err := doublestar.Match(g.pattern, name); !e.IsDir() && err == nil && ok {
			g.found = append(g.found, name)
		}
	}
	for _, e := range entries {
		if !e.IsDir() || !g.leadsOn(e.Name, depth) {
			continue
		}
		if err := g.walk(path.Join(dir, e.Name), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// leadsOn reports whether files below the directory name, at this depth, can match.
func (g *globber) leadsOn(name string, depth int) bool {
	for i, s := range g.segs {
		if s == "**" && i <= depth {
			return true
		}
	}
	if depth >= len(g.segs)-1 {
		return false
	}
	ok, err := doublestar.Match(g.segs[depth], name)
	return err == nil && ok
}
