// Package dirtree is a source.Tree over a directory of the local file system, for rendering without a repository. It
// never reads outside that directory.
package dirtree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of a tree.
const (
	maxFile  = 64 << 20 // bytes
	maxLinks = 40       // links followed for one name, as Linux has it
	maxDepth = 255      // directories below each other when a directory is summed
)

// Tree is the content of a directory. What was summed once is remembered, so the directory must not change while the
// Tree is in use.
type Tree struct {
	root     *os.Root
	revision string
	mu       sync.Mutex
	sums     map[string]string
}

var _ source.Tree = (*Tree)(nil)

// Open opens dir as a Tree; revision is what Revision reports. The caller closes it.
func Open(dir, revision string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open directory %s: %w", dir, err)
	}
	return &Tree{root: root, revision: revision, sums: map[string]string{}}, nil
}

// Close releases the directory.
func (t *Tree) Close() error { return t.root.Close() }

// Revision is what Open was given.
func (t *Tree) Revision() string { return t.revision }

// ReadFile returns the content of a file of at most 64 MiB.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	real, info, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	f, err := t.root.Open(real)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, plain(err))
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, plain(err))
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("%s: %w of %d MiB", name, source.ErrTooLarge, maxFile>>20)
	}
	return b, nil
}

// ReadDir lists a directory, sorted by name. The .git entry of a work tree is left out: it is no content.
func (t *Tree) ReadDir(name string) ([]source.Entry, error) {
	real, info, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a directory", name)
	}
	f, err := t.root.Open(real)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", name, plain(err))
	}
	defer func() { _ = f.Close() }()
	list, err := f.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", name, plain(err))
	}
	out := make([]source.Entry, 0, len(list))
	for _, e := range list {
		if e.Name() == ".git" {
			continue
		}
		child, err := t.Stat(path.Join(real, e.Name()))
		if err != nil {
			child = source.Entry{Mode: fs.ModeSymlink, Size: -1}
		}
		child.Name = e.Name()
		out = append(out, child)
	}
	slices.SortFunc(out, func(a, b source.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Stat describes a name, links followed.
func (t *Tree) Stat(name string) (source.Entry, error) {
	_, info, err := t.resolve(name)
	if err != nil {
		return source.Entry{}, err
	}
	e := source.Entry{Name: path.Base(name), Size: info.Size()}
	switch {
	case info.IsDir():
		e.Mode, e.Size = fs.ModeDir, -1
	case info.Mode().IsRegular():
		e.Mode = info.Mode() & 0o111
	default:
		return source.Entry{}, fmt.Errorf("%s: neither a file nor a directory", name)
	}
	return e, nil
}

// Sum is a hash over what name holds. It reads the content once.
func (t *Tree) Sum(name string) (string, error) {
	s, err := t.sum(name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return s, err
}

func (t *Tree) sum(name string, depth int) (string, error) {
	if depth > maxDepth {
		return "", fmt.Errorf("%s: directories are nested deeper than %d", name, maxDepth)
	}
	e, err := t.Stat(name)
	if err != nil {
		return "", err
	}
	return t.once("sum "+name, func() (string, error) {
		if !e.IsDir() {
			b, err := t.ReadFile(name)
			if err != nil {
				return "", err
			}
			h := sha256.Sum256(b)
			return hex.EncodeToString(h[:]), nil
		}
		entries, err := t.ReadDir(name)
		if err != nil {
			return "", err
		}
		h := sha256.New()
		for _, c := range entries {
			sum := "unresolvable"
			if c.Mode&fs.ModeSymlink == 0 {
				if sum, err = t.sum(path.Join(name, c.Name), depth+1); err != nil {
					return "", err
				}
			}
			fmt.Fprintf(h, "%s\x00%o\x00%s\n", c.Name, c.Mode, sum)
		}
		return hex.EncodeToString(h.Sum(nil)), nil
	})
}

// ListSum is a hash over the names and types in a directory.
func (t *Tree) ListSum(name string) (string, error) {
	return t.once("list "+name, func() (string, error) {
		entries, err := t.ReadDir(name)
		if err != nil {
			return "", err
		}
		h := sha256.New()
		for _, c := range entries {
			fmt.Fprintf(h, "%s\x00%o\n", c.Name, c.Mode)
		}
		return hex.EncodeToString(h.Sum(nil)), nil
	})
}

// once remembers what compute returned for key. Two callers may compute the same sum at the same time.
func (t *Tree) once(key string, compute func() (string, error)) (string, error) {
	t.mu.Lock()
	s, ok := t.sums[key]
	t.mu.Unlock()
	if ok {
		return s, nil
	}
	s, err := compute()
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	t.sums[key] = s
	t.mu.Unlock()
	return s, nil
}

// resolve follows symbolic links by hand, since the error of os.Root does not distinguish an escape from other failures. The
// file is still opened through os.Root, which holds even when the directory changes in between.
func (t *Tree) resolve(name string) (string, fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return "", nil, fmt.Errorf("%q: not a clean relative name: %w", name, fs.ErrInvalid)
	}
	rest := strings.Split(name, "/")
	done := "."
	links := 0
	info, err := t.root.Lstat(".")
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", nil, fmt.Errorf("%s: %w", name, source.ErrEscape)
			}
			done = path.Dir(done)
			if info, err = t.root.Lstat(done); err != nil {
				return "", nil, fmt.Errorf("%s: %w", name, plain(err))
			}
			continue
		}
		next := path.Join(done, part)
		if info, err = t.root.Lstat(next); err != nil {
			return "", nil, fmt.Errorf("%s: %w", name, plain(err))
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", nil, fmt.Errorf("%s: %w", name, source.ErrLinkLoop)
		}
		target, err := t.root.Readlink(next)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", name, plain(err))
		}
		if path.IsAbs(target) {
			return "", nil, fmt.Errorf("%s: %w", name, source.ErrEscape)
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, info, nil
}

// plain takes the name of the host's file out of an error.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		// A path through a file is as missing as any other.
		if strings.Contains(pe.Err.Error(), "not a directory") {
			return fs.ErrNotExist
		}
		return pe.Err
	}
	return err
}
