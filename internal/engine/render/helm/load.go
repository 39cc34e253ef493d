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

	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of a chart, subcharts included.
const (
	maxFiles    = 20_000
	maxFileSize = 5 << 20 // as Helm has it
	maxDirDepth = 40
)

// budget is what may still be read for one rendering.
type budget struct {
	bytes int64
	files int
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

// load reads the chart and the dependencies that it brings along.
func (j *job) load() (loaded, error) {
	c, err := j.loadDir(j.dir)
	if err != nil {
		return nil, err
	}
	missing := missingDependencies(c)
	if len(missing) == 0 {
		return c, nil
	}
	var absent []string
	for _, d := range missing {
		dep, err := j.localDependency(d)
		if err != nil {
			return nil, fmt.Errorf("load dependency %s: %w", d.name, err)
		}
		if dep == nil {
			absent = append(absent, d.name)
			continue
		}
		c.add(dep)
	}
	if len(absent) > 0 {
		return nil, fmt.Errorf("Chart.yaml names dependencies that are not in charts/: %s; run \"helm dependency update\" and commit charts/, "+
			"since rendering fetches nothing", strings.Join(absent, ", "))
	}
	return c, nil
}

// loadDir reads one chart directory as helm does, .helmignore included.
func (j *job) loadDir(dir string) (loaded, error) {
	if _, err := j.req.Tree.Stat(path.Join(dir, "Chart.yaml")); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errNoChart
		}
		return nil, err
	}
	rules, err := j.ignoreRules(dir)
	if err != nil {
		return nil, err
	}
	w := &walker{tree: j.req.Tree, rules: rules, budget: j.budget, root: dir}
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

func (j *job) ignoreRules(dir string) (*ignore.Rules, error) {
	rules := ignore.Empty()
	raw, err := j.req.Tree.ReadFile(path.Join(dir, ignore.HelmIgnore))
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

// localDependency loads a dependency with a file:// repository from the tree. It returns nil for any other: it
// would have to be fetched.
func (j *job) localDependency(d dependency) (loaded, error) {
	rest, ok := strings.CutPrefix(d.repository, "file://")
	if !ok {
		return nil, nil
	}
	dir, err := inside(j.dir, rest)
	if err != nil {
		return nil, err
	}
	return j.loadDir(dir)
}
