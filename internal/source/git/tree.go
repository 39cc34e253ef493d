// Package gitsource gives the files of a Git repository at a commit as a source.Tree, read from git's objects without
// a checkout, and keeps the registry of repositories: which revisions are followed, what they point to, and when to ask.
//
// Content is what the repository stores: filters and line-ending conversion of .gitattributes are not applied. What a commit only
// refers to, files of Git LFS and submodules, comes from Parts; without them such a file is its pointer, and a submodule an
// empty directory.
package gitsource

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
)

// DefaultFileLimit is the size in bytes up to which files are read.
const DefaultFileLimit = 10 << 20

const (
	maxLinks  = 40      // followed for one name, as Linux does
	maxTarget = 4096    // bytes of a link's target
	maxParts  = 4096    // path components walked for one name, links expanded
	maxWalk   = 200_000 // directories walked for one Sum
	maxBelow  = 20_000  // links below one directory
	maxNames  = 4 << 20 // bytes of their names
	maxDepth  = 1000    // directories in each other
)

var (
	errNotDir = errors.New("not a directory")
	errIsDir  = errors.New("is a directory")
)

// Tree is the content of one commit.
type Tree struct {
	mirror  *git.Mirror
	commit  git.ID
	root    node
	limit   int64
	memo    *memo
	damaged func() // called when an object that must be there cannot be read
	parts   *parts // what the commit refers to; nil for nothing
}

var (
	_ source.Tree      = (*Tree)(nil)
	_ source.Explained = (*Tree)(nil)
)

// Change returns who made the commit, and the first line of its message.
func (t *Tree) Change() (source.Change, error) {
	c, err := t.mirror.Commit(t.commit)
	if err != nil {
		return source.Change{}, err
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return source.Change{Author: c.Author.Name + " <" + c.Author.Email + ">", Subject: subject, At: c.Committer.When}, nil
}

// NewTree opens the tree of a commit that is in the mirror. Files of more than limit bytes fail with
// source.ErrTooLarge; 0 means DefaultFileLimit.
func NewTree(m *git.Mirror, commit string, limit int64) (*Tree, error) {
	return newTree(m, commit, limit, newMemo(), func() {})
}

func newTree(m *git.Mirror, commit string, limit int64, memo *memo, damaged func()) (*Tree, error) {
	id, err := git.ParseID(commit)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = DefaultFileLimit
	}
	t := &Tree{mirror: m, commit: id, limit: limit, memo: memo, damaged: damaged}
	root, ok := memo.root(id)
	if !ok {
		c, err := m.Commit(id)
		if err != nil {
			return nil, err
		}
		root = c.Tree
		memo.setRoot(id, root)
	}
	t.root = node{mode: git.ModeDir, id: root, name: "."}
	return t, nil
}

// node is what a name stands for after links are followed.
type node struct {
	mode git.Mode
	id   git.ID
	in   *Tree  // the submodule that it is of; nil for the tree itself
	name string // of a submodule, and of what is in one: its real name in its own tree
}

// of is the tree that a node is of.
func (n node) of(t *Tree) *Tree {
	if n.in != nil {
		return n.in
	}
	return t
}

func (n node) isDir() bool { return n.mode == git.ModeDir || n.mode == git.ModeSubmodule }

func (n node) sum() string {
	b := strconv.AppendUint(make([]byte, 0, 48), uint64(n.mode), 8)
	return string(hex.AppendEncode(append(b, ':'), n.id[:]))
}

// Revision is the full commit id.
func (t *Tree) Revision() string { return t.commit.String() }

// ReadFile returns the content of a file.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	n, err := t.walk("read", name)
	if err != nil {
		return nil, err
	}
	if n.isDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errIsDir}
	}
	b, err := n.of(t).content(n.id)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return b, nil
}

// ReadDir lists a directory, sorted by name. Sizes are not known.
func (t *Tree) ReadDir(name string) ([]source.Entry, error) {
	n, err := t.walk("list", name)
	if err != nil {
		return nil, err
	}
	l, err := t.list(n)
	if err != nil {
		return nil, &fs.PathError{Op: "list", Path: name, Err: err}
	}
	out := make([]source.Entry, len(l))
	for i, e := range l {
		if out[i], err = t.entry(name, e); err != nil {
			return nil, &fs.PathError{Op: "list", Path: name, Err: err}
		}
	}
	return out, nil
}

// entry describes one name of a directory, links followed. It fails only where git does.
func (t *Tree) entry(dir string, e git.TreeEntry) (source.Entry, error) {
	if e.Mode != git.ModeSymlink {
		return describe(e.Name, node{mode: e.Mode, id: e.ID}), nil
	}
	n, err := t.walk("stat", join(dir, e.Name))
	switch {
	case err == nil:
		return describe(e.Name, n), nil
	case isLinkError(err):
		return source.Entry{Name: e.Name, Mode: fs.ModeSymlink, Size: -1}, nil
	}
	return source.Entry{}, err
}

func isLinkError(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, source.ErrEscape) || errors.Is(err, source.ErrLinkLoop)
}

func describe(name string, n node) source.Entry {
	e := source.Entry{Name: name, Size: -1}
	switch {
	case n.isDir():
		e.Mode = fs.ModeDir
	case n.mode&0o111 != 0:
		e.Mode = 0o111
	}
	return e
}

// Stat describes a file or directory.
func (t *Tree) Stat(name string) (source.Entry, error) {
	n, err := t.walk("stat", name)
	if err != nil {
		return source.Entry{}, err
	}
	return describe(name[strings.LastIndexByte(name, '/')+1:], n), nil
}

// Sum is the mode and object id of what name stands for. Where a directory holds links somewhere below, what those
// stand for is part of it.
func (t *Tree) Sum(name string) (string, error) {
	n, err := t.walk("identify", name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if n.mode != git.ModeDir {
		return n.sum(), nil
	}
	of := t
	if n.in != nil { // links in a submodule stay there, so its own names are enough
		of, name = n.in, n.name
	}
	s, err := of.sumDir(name, n)
	if err != nil {
		return "", &fs.PathError{Op: "identify", Path: name, Err: err}
	}
	return s, nil
}

// sumDir follows the links below a directory, and those below what they lead to, each directory once.
func (t *Tree) sumDir(name string, n node) (string, error) {
	links, err := t.linksBelow(n.id)
	if err != nil || len(links) == 0 {
		return n.sum(), err
	}
	type place struct {
		name string
		id   git.ID
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", n.sum())
	seen := map[place]bool{}
	queue := []place{{name, n.id}}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		if seen[p] {
			continue
		}
		seen[p] = true
		if len(seen) > maxLinks*maxLinks {
			return "", fmt.Errorf("%w: more than %d directories are linked", source.ErrLinkLoop, maxLinks*maxLinks)
		}
		links, err := t.linksBelow(p.id)
		if err != nil {
			return "", err
		}
		for _, link := range links {
			full := join(p.name, link)
			target, real, err := t.resolve(full)
			if err != nil && !isLinkError(err) {
				return "", err
			}
			if err != nil {
				fmt.Fprintf(h, "%q broken\n", full)
				continue
			}
			fmt.Fprintf(h, "%q %s\n", full, target.sum())
			if target.mode == git.ModeDir {
				queue = append(queue, place{real, target.id})
			}
		}
	}
	return "links:" + hex.EncodeToString(h.Sum(nil)), nil
}

// linksBelow lists the symbolic links anywhere below a directory, by relative name. The answer is kept by tree id, so
// an unchanged directory of a later commit costs one look-up. A few objects can describe more names than memory holds, by
// naming each other often: their number, their length and the depth have limits.
func (t *Tree) linksBelow(id git.ID) ([]string, error) {
	budget := maxWalk
	return t.links(id, &budget, maxDepth)
}

func (t *Tree) links(id git.ID, budget *int, depth int) ([]string, error) {
	if l, ok := t.memo.linked(id); ok {
		return l, nil
	}
	if *budget--; *budget < 0 {
		return nil, fmt.Errorf("the directory has more than %d directories below", maxWalk)
	}
	if depth == 0 {
		return nil, fmt.Errorf("the directory has more than %d levels of directories below", maxDepth)
	}
	l, err := t.list(node{mode: git.ModeDir, id: id})
	if err != nil {
		return nil, err
	}
	var out []string
	size := 0
	add := func(name string) error {
		if size += len(name); len(out) >= maxBelow || size > maxNames {
			return fmt.Errorf("the directory has more than %d symbolic links below, or their names have more than %d MiB", maxBelow, maxNames>>20)
		}
		out = append(out, name)
		return nil
	}
	for _, e := range l {
		switch e.Mode {
		case git.ModeSymlink:
			if err := add(e.Name); err != nil {
				return nil, err
			}
		case git.ModeDir:
			below, err := t.links(e.ID, budget, depth-1)
			if err != nil {
				return nil, err
			}
			for _, b := range below {
				if err := add(e.Name + "/" + b); err != nil {
					return nil, err
				}
			}
		}
	}
	t.memo.setLinked(id, out)
	return out, nil
}

// ListSum is a hash of the names and types in a directory.
func (t *Tree) ListSum(name string) (string, error) {
	n, err := t.walk("list", name)
	if err != nil {
		return "", err
	}
	memo := n.of(t).memo
	if s, ok := memo.listing(n.id); ok && n.mode == git.ModeDir {
		return s, nil
	}
	l, err := t.list(n)
	if err != nil {
		return "", &fs.PathError{Op: "list", Path: name, Err: err}
	}
	h := sha256.New()
	links := false
	for _, e := range l {
		links = links || e.Mode == git.ModeSymlink
		d, err := t.entry(name, e)
		if err != nil {
			return "", &fs.PathError{Op: "list", Path: name, Err: err}
		}
		fmt.Fprintf(h, "%q %o\n", d.Name, uint32(d.Mode))
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if !links && n.mode == git.ModeDir {
		memo.setListing(n.id, sum)
	}
	return sum, nil
}

func (t *Tree) blob(id git.ID, limit int64) ([]byte, error) {
	b, err := t.mirror.Blob(id, limit)
	t.check(err)
	return b, err
}

func (t *Tree) check(err error) {
	if errors.Is(err, git.ErrCorrupt) || errors.Is(err, git.ErrMissing) {
		t.damaged()
	}
}

func join(dir, name string) string {
	if dir == "." || dir == "" {
		return name
	}
	return dir + "/" + name
}
