// Package plain renders a directory of YAML and JSON files.
package plain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gobwas/glob"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/source"
)

// skipMarker anywhere in a file keeps the file from being read as manifests.
const skipMarker = "+argocd:skip-file-rendering"

// Bounds of one directory walk. Links can make a small tree look endless.
const (
	maxDirDepth = 64
	maxDirs     = 50_000
	maxFiles    = 50_000
	maxPattern  = 4096
)

// Evaluator evaluates the Jsonnet files of a directory.
type Evaluator interface {
	// Evaluate adds the objects that file, a name in req.Tree, evaluates to.
	Evaluate(ctx context.Context, req render.Request, file string, into *document.Set) error
}

// Renderer reads plain files. The zero value is ready to use.
type Renderer struct {
	// Jsonnet evaluates Jsonnet files. Without it a directory that has any fails with render.ErrJsonnet.
	Jsonnet Evaluator
	// Bytes is how large all files together may be; a larger directory fails with render.ErrElsewhere. 0: Limits.Bytes are.
	Bytes int64
}

var _ render.Renderer = Renderer{}

// Render reads the manifest files of the directory in the order of their names.
func (r Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	req.Limits = req.Limits.WithDefaults()
	res := render.Result{Tool: render.Directory}
	files, err := find(ctx, req)
	if err != nil {
		return res, err
	}
	if r.Jsonnet == nil {
		for _, f := range files {
			if f.jsonnet() {
				return res, fmt.Errorf("%s: %w", f.name, render.ErrJsonnet)
			}
		}
	}
	set := document.NewSet(req.Limits.Bytes, req.Limits.Objects)
	left := req.Limits.Bytes
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		if f.jsonnet() {
			if err := r.Jsonnet.Evaluate(ctx, req, f.name, set); err != nil {
				return res, err
			}
			continue
		}
		data, err := req.Tree.ReadFile(f.name)
		if errors.Is(err, source.ErrTooLarge) {
			return res, fmt.Errorf("%w: split it, or leave it out by spec.source.directory.exclude", err) // names the file
		}
		if err != nil {
			return res, fmt.Errorf("read %s: %w", f.name, err)
		}
		if left -= int64(len(data)); left < 0 {
			return res, tooLarge(req.Limits.Bytes)
		}
		if r.Bytes > 0 && req.Limits.Bytes-left > r.Bytes {
			return res, fmt.Errorf("%s: %w", f.name, render.ErrElsewhere)
		}
		docs, err := Documents(f.name, data)
		if err != nil {
			return res, err
		}
		if err := set.AddDocuments(f.name, docs); err != nil {
			return res, err
		}
	}
	res.Objects = set.Manifests()
	return res, nil
}

// Documents reads one file of a directory: a .json file holds one object, anything else is YAML. A YAML file in which
// nothing looks like a manifest is no error but has no documents.
func Documents(name string, data []byte) ([]document.Document, error) {
	if bytes.Contains(data, []byte(skipMarker)) {
		return nil, nil
	}
	if strings.HasSuffix(name, ".json") {
		docs, err := document.ReadJSON(data)
		if err != nil {
			return nil, document.In(name, err)
		}
		if len(docs) > 0 && docs[0].Kind() == "" {
			return nil, &document.Error{File: name, Line: 1, Err: errors.New("the object has no kind; exclude the file if it is no manifest")}
		}
		return docs, nil
	}
	docs, err := document.ReadYAML(data)
	for i := range docs {
		if docs[i].Kind() == "" {
			err = &document.Error{
				Line: docs[i].Line, Err: fmt.Errorf("document %d: the object has no kind; exclude the file if it is no manifest", docs[i].Number),
			}
			docs = docs[:i]
			break
		}
	}
	if err == nil {
		return docs, nil
	}
	if len(docs) > 0 || looksLikeManifest(data) {
		return nil, document.In(name, err)
	}
	return nil, nil
}

func looksLikeManifest(data []byte) bool {
	for _, field := range []string{"apiVersion:", "kind:", "metadata:"} {
		if !bytes.Contains(data, []byte(field)) {
			return false
		}
	}
	return true
}

// file is a manifest file that was found.
type file struct{ name string }

func (f file) jsonnet() bool { return path.Ext(f.name) == ".jsonnet" }

// walk finds the manifest files of one directory.
type walk struct {
	tree             source.Tree
	root             string
	opts             v1alpha1.DirectorySource
	include, exclude *glob.Pattern
	max, size        int64
	dirs             int
	files            []file
}

func find(ctx context.Context, req render.Request) ([]file, error) {
	w := walk{tree: req.Tree, root: req.Source.Path, max: req.Limits.Bytes}
	if d := req.Source.Directory; d != nil {
		w.opts = *d
	}
	var err error
	if w.include, err = compile("include", w.opts.Include); err != nil {
		return nil, err
	}
	if w.exclude, err = compile("exclude", w.opts.Exclude); err != nil {
		return nil, err
	}
	if err := w.dir(ctx, w.root, 0); err != nil {
		return nil, err
	}
	return w.files, nil
}

func compile(field, pattern string) (*glob.Pattern, error) {
	if pattern == "" {
		return nil, nil
	}
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("spec.source.directory.%s is longer than %d characters", field, maxPattern)
	}
	g, err := glob.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("spec.source.directory.%s %q is no valid glob: %w", field, pattern, err)
	}
	return g, nil
}

func (w *walk) dir(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxDirDepth {
		return fmt.Errorf("%s: directories are nested deeper than %d; look for a symbolic link that leads back", dir, maxDirDepth)
	}
	if w.dirs++; w.dirs > maxDirs {
		return fmt.Errorf("%s: more than %d directories: %w; look for a symbolic link that leads back, or split the application",
			w.root, maxDirs, document.ErrLimit)
	}
	entries, err := w.tree.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if e.IsDir() {
			if w.opts.Recurse {
				if err := w.dir(ctx, name, depth+1); err != nil {
					return err
				}
			}
			continue
		}
		if !w.wanted(name, e.Name) {
			continue
		}
		if err := w.add(name, e); err != nil {
			return err
		}
	}
	return nil
}

// wanted applies the filter on extensions and the globs, which see the name relative to the source's directory.
func (w *walk) wanted(name, base string) bool {
	if !w.opts.DisableExtensionFilter {
		switch path.Ext(base) {
		case ".yaml", ".yml", ".json", ".jsonnet":
		default:
			return false
		}
	}
	rel := name
	if w.root != "." {
		rel = strings.TrimPrefix(name, w.root+"/")
	}
	if w.exclude != nil && w.exclude.Match(rel) {
		return false
	}
	return w.include == nil || w.include.Match(rel)
}

func (w *walk) add(name string, e source.Entry) error {
	if e.Mode&fs.ModeSymlink != 0 {
		switch _, err := w.tree.Stat(name); {
		case errors.Is(err, fs.ErrNotExist):
			return nil // a dangling link is as good as no file
		case errors.Is(err, source.ErrEscape):
			return fmt.Errorf("illegal filepath %s: %w; link to a file inside, or remove the link", name, err)
		case err != nil:
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	f := file{name: name}
	if e.Size > 0 && !f.jsonnet() {
		if w.size += e.Size; w.size > w.max {
			return tooLarge(w.max)
		}
	}
	if len(w.files) >= maxFiles {
		return fmt.Errorf("%s: more than %d manifest files: %w; split the application", w.root, maxFiles, document.ErrLimit)
	}
	w.files = append(w.files, f)
	return nil
}

func tooLarge(limit int64) error {
	return fmt.Errorf("the manifest files are larger than %d bytes together: %w; split the application", limit, document.ErrLimit)
}
