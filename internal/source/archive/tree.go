package archive

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/source"
)

var (
	errNotDir = errors.New("not a directory")
	errIsDir  = errors.New("is a directory")
)

// Tree is what an archive holds, or a directory of it.
type Tree struct {
	pack     *pack
	root     string // the directory of the archive that is the root
	revision string
}

var _ source.Tree = (*Tree)(nil)

// At returns the tree with a revision.
func (t *Tree) At(revision string) *Tree {
	out := *t
	out.revision = revision
	return &out
}

// Sub returns the tree below a directory.
func (t *Tree) Sub(dir string) (*Tree, error) {
	n, full, err := t.find("open", dir)
	if err != nil {
		return nil, err
	}
	if !n.Mode.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errNotDir}
	}
	out := *t
	out.root = full
	return &out, nil
}

// Revision is what At was given.
func (t *Tree) Revision() string { return t.revision }

// Archive is the digest of the archive that the tree was unpacked from, "sha256:…"; "" where an earlier version unpacked it.
func (t *Tree) Archive() string { return t.pack.nodes["."].Archive }

// ReadFile returns the content of a file.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	n, _, err := t.find("read", name)
	if err != nil {
		return nil, err
	}
	if n.Mode.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errIsDir}
	}
	b, err := t.pack.read(n)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return b, nil
}

// ReadDir lists a directory, sorted by name.
func (t *Tree) ReadDir(name string) ([]source.Entry, error) {
	n, full, err := t.find("list", name)
	if err != nil {
		return nil, err
	}
	if !n.Mode.IsDir() {
		return nil, &fs.PathError{Op: "list", Path: name, Err: errNotDir}
	}
	out := make([]source.Entry, 0, len(t.pack.children[full]))
	for _, child := range t.pack.children[full] {
		out = append(out, describe(path.Base(child), t.pack.nodes[child]))
	}
	slices.SortFunc(out, func(a, b source.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func describe(name string, n *node) source.Entry {
	e := source.Entry{Name: name, Mode: n.Mode, Size: n.Size}
	if n.Mode&(fs.ModeDir|fs.ModeSymlink) != 0 {
		e.Size = -1
	}
	return e
}

// Stat describes a file or directory.
func (t *Tree) Stat(name string) (source.Entry, error) {
	n, _, err := t.find("stat", name)
	if err != nil {
		return source.Entry{}, err
	}
	return describe(path.Base(name), n), nil
}

// Sum is the mode and the hash of what name holds.
func (t *Tree) Sum(name string) (string, error) {
	n, _, err := t.find("identify", name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return n.identity(), nil
}

// ListSum is a hash of the names and types in a directory.
func (t *Tree) ListSum(name string) (string, error) {
	n, _, err := t.find("list", name)
	if err != nil {
		return "", err
	}
	if !n.Mode.IsDir() {
		return "", &fs.PathError{Op: "list", Path: name, Err: errNotDir}
	}
	return n.List, nil
}

// find looks a name up. A broken link is not there.
func (t *Tree) find(op, name string) (*node, string, error) {
	if !fs.ValidPath(name) {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	full := path.Join(t.root, name)
	n := t.pack.nodes[full]
	if n == nil || n.Mode&fs.ModeSymlink != 0 {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, full, nil
}
