// Package jsonnet evaluates Jsonnet files on the tree of a source alone.
package jsonnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	gojsonnet "github.com/google/go-jsonnet"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of one evaluation. Time and memory can only be bounded from outside, by running in a process of its own.
const (
	maxStack   = 500
	maxMessage = 4096 // of an error, in bytes
)

// New returns a Renderer for directories that hold Jsonnet files, and any other manifest files beside them. An
// evaluation that has begun cannot be interrupted: Render returns when it ends, or when the process is ended.
func New() render.Renderer { return plain.Renderer{Jsonnet: evaluator{}} }

type evaluator struct{}

// Evaluate adds the object, or the objects of the array, that file evaluates to. Null elements are left out.
func (evaluator) Evaluate(ctx context.Context, req render.Request, file string, into *document.Set) error {
	var opts v1alpha1.JsonnetSource
	if d := req.Source.Directory; d != nil {
		opts = d.Jsonnet
	}
	imports := &importer{stopped: ctx.Err, tree: req.Tree, left: req.Limits.WithDefaults().Bytes, found: map[string]gojsonnet.Contents{}}
	// A later library wins over an earlier one, and the source's own directory comes last.
	for i := len(opts.Libs) - 1; i >= 0; i-- {
		dir, err := library(opts.Libs[i])
		if err != nil {
			return err
		}
		imports.dirs = append(imports.dirs, dir)
	}
	imports.dirs = append(imports.dirs, req.Source.Path)

	vm := gojsonnet.MakeVM()
	vm.MaxStack = maxStack
	vm.SetTraceOut(io.Discard)
	vm.Importer(imports)
	for _, v := range opts.ExtVars {
		if v.Code {
			vm.ExtCode(v.Name, v.Value)
		} else {
			vm.ExtVar(v.Name, v.Value)
		}
	}
	for _, v := range opts.TLAs {
		if v.Code {
			vm.TLACode(v.Name, v.Value)
		} else {
			vm.TLAVar(v.Name, v.Value)
		}
	}
	out, err := vm.EvaluateFile(file)
	if err != nil {
		if imports.err != nil {
			return fmt.Errorf("evaluate %s: %w", file, imports.err)
		}
		msg := err.Error()
		if strings.HasPrefix(msg, "(CRASH)") {
			return fmt.Errorf("evaluate %s: %w", file, render.ErrCrash) // the rest is a stack of this process
		}
		return fmt.Errorf("evaluate %s: %s", file, strings.ToValidUTF8(legible.Cut(strings.TrimSpace(msg), maxMessage), "?"))
	}
	return into.AddJSON(file, []byte(out))
}

// library checks one library directory, which is relative to the root of the repository.
func library(dir string) (string, error) {
	clean := path.Clean(strings.TrimPrefix(dir, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("jsonnet library %s resolved to outside repository root; write it relative to the root", dir)
	}
	return clean, nil
}

// importer finds imports beside the importing file and then in the library directories.
type importer struct {
	stopped func() error // an error once the rendering was given up; the library's method takes no context
	tree    source.Tree
	dirs    []string
	left    int64
	found   map[string]gojsonnet.Contents
	err     error // the first error that is no miss: its text is better than what the library makes of it
}

// Import implements the library's Importer.
func (i *importer) Import(from, name string) (gojsonnet.Contents, string, error) {
	if err := i.stopped(); err != nil {
		return i.fail(err)
	}
	if path.IsAbs(name) {
		return i.fail(fmt.Errorf("import %q: the name is absolute; write it relative to the file or a library", name))
	}
	// The file that is evaluated is itself imported, by its full name and from nowhere.
	if from == "" {
		return i.try(path.Clean(name), name)
	}
	for _, dir := range append([]string{path.Dir(from)}, i.dirs...) {
		full := path.Join(dir, name)
		if full == ".." || strings.HasPrefix(full, "../") {
			continue
		}
		c, at, err := i.try(full, name)
		if err == nil {
			return c, at, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return i.fail(err)
		}
	}
	return gojsonnet.Contents{}, "", fmt.Errorf("import %q: not found beside %s nor in the libraries inside the repository", name, from)
}

func (i *importer) try(full, name string) (gojsonnet.Contents, string, error) {
	if c, ok := i.found[full]; ok {
		return c, full, nil
	}
	b, err := i.tree.ReadFile(full)
	if err != nil {
		return gojsonnet.Contents{}, "", fmt.Errorf("import %q: %w", name, err)
	}
	if i.left -= int64(len(b)); i.left < 0 {
		return gojsonnet.Contents{}, "", fmt.Errorf("import %q: %w on the bytes of all imports", name, document.ErrLimit)
	}
	c := gojsonnet.MakeContentsRaw(b)
	i.found[full] = c
	return c, full, nil
}

func (i *importer) fail(err error) (gojsonnet.Contents, string, error) {
	if i.err == nil {
		i.err = err
	}
	return gojsonnet.Contents{}, "", err
}
