package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/source"
)

// maxFiles bounds how many files one build reads.
const maxFiles = 20_000

// refusal is an error with which the file system stops a build. It is kept aside, since the libraries turn errors
// into text.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// treeFS shows trees to Kustomize as the file system of a machine: the repository, and what the source needs from elsewhere, each
// in a directory of its own below the root. It cannot be written to; edited kustomizations lie over the files of the trees. Links
// are followed by a Tree, inside the repository. The names of the directories cannot be foreseen by the author of a remote base, so
// a path leads from one tree to another only through the kustomization that names it.
type treeFS struct {
	mounts  map[string]*mount // by the name of the directory
	overlay map[string][]byte // by path
	rewrite func(at *mount, name string, raw []byte) ([]byte, error)
	bytes   int64 // that may still be read
	files   int
	schema  bool  // a kustomization that was read has an openapi field
	refused error // the first refusal
}

// mount is a tree with the directory in which Kustomize sees it.
type mount struct {
	dir  string // "/0123abcd"
	tree source.Tree
	raw  string         // as a kustomization names it; "" for the source's own repository
	from need.Reference // what raw means
}

var _ filesys.FileSystem = (*treeFS)(nil)

func newTreeFS(bytes int64) *treeFS {
	return &treeFS{mounts: map[string]*mount{}, overlay: map[string][]byte{}, bytes: bytes, files: maxFiles}
}

// add shows a tree in the directory called name.
func (f *treeFS) add(name string, m *mount) *mount {
	if have := f.mounts[name]; have != nil {
		return have
	}
	m.dir = "/" + name
	f.mounts[name] = m
	return m
}

// treeName turns a path of a spec into the name of a Tree.
func treeName(p string) string {
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if p == "" {
		return "."
	}
	return p
}

// find returns the tree that a path is in, and its name there; nil where it is in none.
func (f *treeFS) find(p string) (*mount, string) {
	top, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+p), "/"), "/")
	if rest == "" {
		rest = "."
	}
	return f.mounts[top], rest
}

func (f *treeFS) refuse(err error) error {
	r := &refusal{err: err}
	if f.refused == nil {
		f.refused = r
	}
	return r
}

// missing is the error of a path that is in no tree.
func missing(p string) error {
	return fmt.Errorf("%s: %w: it is outside the repository", p, fs.ErrNotExist)
}

// ReadFile reads name, and prepares a kustomization before Kustomize acts on it.
func (f *treeFS) ReadFile(name string) ([]byte, error) {
	m, n := f.find(name)
	raw, ok := f.overlay[path.Clean(name)]
	switch {
	case ok:
	case m == nil:
		return nil, missing(name)
	default:
		var err error
		if raw, err = m.tree.ReadFile(n); err != nil {
			if errors.Is(err, source.ErrEscape) || errors.Is(err, source.ErrLinkLoop) || errors.Is(err, source.ErrTooLarge) {
				return nil, f.refuse(fmt.Errorf("read %s: %w", n, err))
			}
			return nil, err
		}
	}
	f.bytes -= int64(len(raw))
	f.files--
	if f.bytes < 0 || f.files < 0 {
		return nil, f.refuse(fmt.Errorf("the kustomization reads too many or too large files: %w; split it", document.ErrLimit))
	}
	if m != nil && isKustomization(path.Base(n)) && f.rewrite != nil {
		var err error
		if raw, err = f.rewrite(m, n, raw); err != nil {
			return nil, f.refuse(err)
		}
	}
	// Kustomize may work in place; a Tree's bytes must stay as they are.
	return bytes.Clone(raw), nil
}

// Exists reports whether there is a file or directory.
func (f *treeFS) Exists(name string) bool {
	_, err := f.stat(name)
	return err == nil
}

// stat describes a path.
func (f *treeFS) stat(name string) (source.Entry, error) {
	if _, ok := f.overlay[path.Clean(name)]; ok {
		return source.Entry{Name: path.Base(name)}, nil
	}
	m, n := f.find(name)
	if m == nil {
		return source.Entry{}, missing(name)
	}
	return m.tree.Stat(n)
}

// IsDir reports whether name is a directory.
func (f *treeFS) IsDir(name string) bool {
	e, err := f.stat(name)
	return err == nil && e.IsDir()
}

// ReadDir lists the names in a directory.
func (f *treeFS) ReadDir(name string) ([]string, error) {
	m, n := f.find(name)
	if m == nil {
		return nil, missing(name)
	}
	entries, err := m.tree.ReadDir(n)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name
	}
	return out, nil
}

// CleanedAbs splits name into a directory that exists and a file in it.
func (f *treeFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	p := path.Clean("/" + name)
	e, err := f.stat(p)
	if errors.Is(err, source.ErrEscape) {
		return "", "", f.refuse(fmt.Errorf("read %s: %w", treeName(p), err))
	}
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", p, err)
	}
	if e.IsDir() {
		return filesys.ConfirmedDir(p), "", nil
	}
	return filesys.ConfirmedDir(path.Dir(p)), path.Base(p), nil
}

// Glob lists the names that match pattern, in which only path elements have wildcards (there is no **).
func (f *treeFS) Glob(pattern string) ([]string, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, err
	}
	found := []string{"/"}
	for seg := range strings.SplitSeq(strings.TrimPrefix(path.Clean("/"+pattern), "/"), "/") {
		var next []string
		for _, dir := range found {
			more, err := f.globIn(dir, seg)
			if err != nil {
				return nil, err
			}
			next = append(next, more...)
		}
		found = next
	}
	return found, nil
}

func (f *treeFS) globIn(dir, seg string) ([]string, error) {
	if !strings.ContainsAny(seg, `*?[\`) {
		if p := path.Join(dir, seg); f.Exists(p) {
			return []string{p}, nil
		}
		return nil, nil
	}
	if !f.IsDir(dir) {
		return nil, nil
	}
	names, err := f.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if f.files -= len(names); f.files < 0 {
		return nil, f.refuse(fmt.Errorf("a pattern looks at too many files: %w; name them", document.ErrLimit))
	}
	var out []string
	for _, n := range names {
		if ok, err := path.Match(seg, n); err == nil && ok {
			out = append(out, path.Join(dir, n))
		}
	}
	return out, nil
}

// Walk is refused: no feature that is enabled needs it, and it would read a whole repository.
func (f *treeFS) Walk(name string, _ filepath.WalkFunc) error { return f.readOnly("walk", name) }

// Open opens a file for reading.
func (f *treeFS) Open(name string) (filesys.File, error) {
	raw, err := f.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &file{Reader: bytes.NewReader(raw), name: path.Base(name), size: int64(len(raw))}, nil
}

func (f *treeFS) readOnly(verb, name string) error {
	_, n := f.find(name)
	return f.refuse(fmt.Errorf("%s %s: the repository cannot be changed while it is rendered; "+
		"a feature of the kustomization that writes files is not supported", verb, n))
}

// Create is refused.
func (f *treeFS) Create(name string) (filesys.File, error) { return nil, f.readOnly("create", name) }

// Mkdir is refused.
func (f *treeFS) Mkdir(name string) error { return f.readOnly("create directory", name) }

// MkdirAll is refused.
func (f *treeFS) MkdirAll(name string) error { return f.readOnly("create directory", name) }

// RemoveAll is refused.
func (f *treeFS) RemoveAll(name string) error { return f.readOnly("remove", name) }

// WriteFile is refused.
func (f *treeFS) WriteFile(name string, _ []byte) error { return f.readOnly("write", name) }

// file is an open file.
type file struct {
	*bytes.Reader
	name string
	size int64
}

// Write is refused.
func (f *file) Write([]byte) (int, error) { return 0, fs.ErrPermission }

// Close does nothing.
func (f *file) Close() error { return nil }

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) { return fileInfo{f}, nil }

type fileInfo struct{ f *file }

func (i fileInfo) Name() string       { return i.f.name }
func (i fileInfo) Size() int64        { return i.f.size }
func (i fileInfo) Mode() fs.FileMode  { return 0o444 }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return false }
func (i fileInfo) Sys() any           { return nil }
