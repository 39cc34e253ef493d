package helm

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of a chart, subcharts included.
const (
	maxFiles    = 20_000
	maxNames    = 100_000 // looked at, those that are ignored and directories included
	maxFileSize = 5 << 20 // as Helm has it
	maxDirDepth = 40
)

// budget is what may still be read for one rendering.
type budget struct {
	bytes int64
	files int
	names int
}

// look accounts for the listing of one directory. Links can make a small tree look endless.
func (b *budget) look(listed int) error {
	if b.names -= listed; b.names < 0 {
		return errLimit(fmt.Sprintf("the chart has more than %d names of files and directories, links followed", maxNames))
	}
	return nil
}

// take accounts for one file of n bytes.
func (b *budget) take(name string, n int64) error {
	if n > maxFileSize {
		return errLimit(fmt.Sprintf("%s is larger than %d MiB", name, maxFileSize>>20))
	}
	b.bytes -= n
	b.files--
	if b.bytes < 0 {
		return errLimit("the chart and its values are too large")
	}
	if b.files < 0 {
		return errLimit(fmt.Sprintf("the chart has more than %d files", maxFiles))
	}
	return nil
}

// load reads the chart, the dependencies that it brings along, and those that were fetched for it.
func (j *job) load() (loaded, error) {
	c, err := j.loadDir(j.req.Tree, j.dir, false)
	if err != nil {
		return nil, err
	}
	missing := missingDependencies(c)
	if len(missing) == 0 {
		return c, nil
	}
	has := func(name string) bool {
		return slices.ContainsFunc(c.dependencies(), func(h loaded) bool { return h.about().name == name })
	}
	charts, err := need.Charts(j.req.Tree, j.dir, has)
	if err != nil {
		return nil, err
	}
	for _, d := range missing {
		dep, err := j.localDependency(d)
		if err != nil {
			return nil, fmt.Errorf("load dependency %s: %w", d.name, err)
		}
		if dep != nil {
			c.add(dep)
		}
	}
	for _, n := range charts {
		tree := j.req.Needs[n.Key()]
		if tree == nil {
			continue
		}
		dep, err := j.loadDir(tree, ".", true)
		if err != nil {
			return nil, fmt.Errorf("load dependency %s: %w", n.Name, err)
		}
		if has := dep.about().name; has != n.Name {
			return nil, fmt.Errorf("load dependency %s: the chart is called %.100q; correct the name in Chart.yaml", n.Name, has)
		}
		c.add(dep)
	}
	if absent := missingDependencies(c); len(absent) > 0 {
		names := make([]string, len(absent))
		for i, d := range absent {
			names[i] = d.name
		}
		return nil, fmt.Errorf("Chart.yaml names dependencies that are neither in charts/ nor fetched: %s; give each a repository that can be "+
			"reached, or run \"helm dependency update\" and commit charts/", strings.Join(names, ", "))
	}
	return c, nil
}

// loadDir reads one chart directory as helm does. From an archive, which is what a tree of a need was, .helmignore takes nothing.
func (j *job) loadDir(tree source.Tree, dir string, archived bool) (loaded, error) {
	if _, err := tree.Stat(path.Join(dir, "Chart.yaml")); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errNoChart
		}
		return nil, err
	}
	rules := ignore.Empty()
	if !archived {
		var err error
		if rules, err = ignoreRules(tree, dir); err != nil {
			return nil, err
		}
	}
	w := &walker{tree: tree, rules: rules, budget: j.budget, root: dir}
	if err := w.walk("", 0); err != nil {
		return nil, err
	}
	files, err := unpackArchives(w.files, j.budget, 0)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		j.noteCapabilities(f.Data)
	}
	c, err := j.helm.load(files)
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	j.scrub.addValues(c.about().defaults)
	return c, nil
}

func ignoreRules(tree source.Tree, dir string) (*ignore.Rules, error) {
	rules := ignore.Empty()
	raw, err := tree.ReadFile(path.Join(dir, ignore.HelmIgnore))
	switch {
	case err == nil:
		if rules, err = ignore.Parse(bytes.NewReader(raw)); err != nil {
			return nil, fmt.Errorf("read .helmignore: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read .helmignore: %w", err)
	}
	rules.AddDefaults()
	return rules, nil
}

// walker reads the files of a chart directory.
type walker struct {
	tree   source.Tree
	rules  *ignore.Rules
	budget *budget
	root   string
	files  []*archive.BufferedFile
}

func (w *walker) walk(rel string, depth int) error {
	if depth > maxDirDepth {
		return errLimit(fmt.Sprintf("directories are nested deeper than %d at %s", maxDirDepth, rel))
	}
	entries, err := w.tree.ReadDir(path.Join(w.root, rel))
	if err != nil {
		return err
	}
	if err := w.budget.look(len(entries)); err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name)
		if w.rules.Ignore(name, info{e}) {
			continue
		}
		if e.IsDir() {
			if err := w.walk(name, depth+1); err != nil {
				return err
			}
			continue
		}
		if e.Size > maxFileSize {
			return w.budget.take(name, e.Size)
		}
		// A link that cannot be followed fails here, with the reason.
		raw, err := w.tree.ReadFile(path.Join(w.root, name))
		if errors.Is(err, source.ErrSealed) && !needed(name) {
			continue // the secrets of another environment: who names it as a value file gets the error
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, linkError(err))
		}
		if err := w.budget.take(name, int64(len(raw))); err != nil {
			return err
		}
		w.files = append(w.files, &archive.BufferedFile{Name: name, Data: bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))})
	}
	return nil
}

// needed reports whether a file is a part of the chart itself, and not one that a template or a source may ask for.
func needed(name string) bool {
	switch base := path.Base(name); base {
	case "Chart.yaml", "values.yaml", "values.schema.json":
		return true
	}
	dir, _, _ := strings.Cut(name, "/")
	return dir == "templates" || dir == "crds" || dir == "charts"
}

// linkError says of an escaping link what a user of the contract expects to read.
func linkError(err error) error {
	if errors.Is(err, source.ErrEscape) {
		return fmt.Errorf("resolved to outside repository root: %w", err)
	}
	return err
}

// info presents an Entry to the ignore rules, which ask for the type alone.
type info struct{ e source.Entry }

func (i info) Name() string       { return i.e.Name }
func (i info) Size() int64        { return i.e.Size }
func (i info) Mode() fs.FileMode  { return i.e.Mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.e.IsDir() }
func (i info) Sys() any           { return nil }

// missingDependencies lists what Chart.yaml requires and charts/ does not hold.
func missingDependencies(c loaded) []dependency {
	have := c.dependencies()
	return slices.DeleteFunc(c.about().required, func(d dependency) bool {
		return slices.ContainsFunc(have, func(h loaded) bool { return h.about().name == d.name })
	})
}

// localDependency loads a dependency with a file:// repository from the tree. It returns nil for any other.
func (j *job) localDependency(d dependency) (loaded, error) {
	rest, ok := strings.CutPrefix(d.repository, "file://")
	if !ok {
		return nil, nil
	}
	dir, err := inside(j.dir, rest)
	if err != nil {
		return nil, err
	}
	return j.loadDir(j.req.Tree, dir, false)
}
