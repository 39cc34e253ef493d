// Package bundle reads all files of a tree, within bounds, for config management plugins, which get them as a whole.
package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of what a plugin gets.
const (
	maxNames = 50_000    // files, directories and links
	maxBytes = 256 << 20 // of all files together
	maxDepth = 100
)

// advice says how to stay within the bounds.
const advice = "exclude it from what plugins get by reposerver.plugin.tar.exclusions in argocd-cmd-params-cm"

// Sink takes directories and files, each directory before what is in it. Names are relative and clean, and no link is among them.
type Sink interface {
	Dir(name string) error
	File(name string, mode fs.FileMode, content []byte) error
}

// Read gives the files of a tree, as they are stored, to a Sink. Paths that a pattern of exclude matches are left out, and so are
// links that lead nowhere. Links can make a small tree look endless, so directories count as files do.
func Read(ctx context.Context, tree source.Tree, exclude []string, into Sink) error {
	whole, err := source.WholeOf(tree)
	if err != nil {
		return err
	}
	r := reader{tree: whole, exclude: exclude, into: into}
	if err := r.dir(ctx, ".", 0); err != nil {
		return err
	}
	if r.files == 0 {
		return errors.New("the repository has no file that the plugin may get")
	}
	return nil
}

// reader walks a tree.
type reader struct {
	tree    source.Tree
	exclude []string
	into    Sink
	names   int
	files   int
	bytes   int64
}

func (r *reader) dir(ctx context.Context, name string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("directories are nested deeper than %d at %s: %w", maxDepth, name, document.ErrLimit)
	}
	entries, err := r.tree.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		full := path.Join(name, e.Name)
		if r.excluded(full) {
			continue
		}
		if r.names++; r.names > maxNames {
			return fmt.Errorf("the repository has more than %d files and directories for a plugin, links followed, at %.300s: %w; "+advice,
				maxNames, full, document.ErrLimit)
		}
		switch {
		case e.Mode&fs.ModeSymlink != 0: // a link that leads nowhere
		case e.IsDir():
			if err := r.into.Dir(full); err != nil {
				return err
			}
			if err := r.dir(ctx, full, depth+1); err != nil {
				return err
			}
		default:
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.file(full, e.Mode); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) excluded(name string) bool {
	for _, pattern := range r.exclude {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

func (r *reader) file(name string, mode fs.FileMode) error {
	raw, err := r.tree.ReadFile(name)
	if errors.Is(err, source.ErrTooLarge) {
		return fmt.Errorf("%w: %s", err, advice)
	}
	if err != nil {
		return err
	}
	r.files++
	r.bytes += int64(len(raw))
	if r.bytes > maxBytes {
		return fmt.Errorf("the files of the repository have more than %d MiB for a plugin: %w; "+advice, maxBytes>>20, document.ErrLimit)
	}
	return r.into.File(name, mode, raw)
}
