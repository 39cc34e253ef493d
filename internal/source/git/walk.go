package gitsource

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
)

func (t *Tree) walk(op, name string) (node, error) {
	n, ok, err := t.plain(name)
	if !ok && err == nil {
		n, _, err = t.resolve(name)
	}
	if err != nil {
		return n, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return n, nil
}

// plain walks to a name without links on the way, which is nearly every one, in the fewest steps. It returns false where
// resolve has to do it.
func (t *Tree) plain(name string) (node, bool, error) {
	if !fs.ValidPath(name) {
		return node{}, false, fs.ErrInvalid
	}
	n := t.root
	for rest, more := name, name != "."; more; {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		if !n.isDir() {
			return node{}, false, fs.ErrNotExist
		}
		if n.mode == git.ModeSubmodule && t.modules() {
			sub, err := t.module(n)
			if err != nil {
				return node{}, false, err
			}
			if more {
				part += "/" + rest
			}
			n, _, err = sub.inside(part)
			return n, true, err
		}
		l, err := t.list(n)
		if err != nil {
			return node{}, false, err
		}
		e, ok := l.Find(part)
		if !ok {
			return node{}, false, fs.ErrNotExist
		}
		if e.Mode == git.ModeSymlink {
			return node{}, false, nil
		}
		n = node{mode: e.Mode, id: e.ID}
		if e.Mode == git.ModeSubmodule {
			n.name = strings.TrimSuffix(strings.TrimSuffix(name, rest), "/")
		}
	}
	return n, true, nil
}

// resolve walks to a name component by component, following links, and returns what is there and its real name.
func (t *Tree) resolve(name string) (node, string, error) {
	if !fs.ValidPath(name) {
		return node{}, "", fs.ErrInvalid
	}
	at := []node{t.root} // the directories from the root to the current one
	var names []string   // their names, without the root
	todo := strings.Split(name, "/")
	links := 0
	for steps := 0; len(todo) > 0; steps++ {
		if steps > maxParts {
			return node{}, "", source.ErrLinkLoop
		}
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(at) == 1 {
				return node{}, "", source.ErrEscape
			}
			at, names = at[:len(at)-1], names[:len(names)-1]
			continue
		}
		here := at[len(at)-1]
		if here.mode == git.ModeSubmodule && t.modules() {
			sub, err := t.module(here)
			if err != nil {
				return node{}, "", err
			}
			n, real, err := sub.inside(strings.Join(append([]string{part}, todo...), "/"))
			return n, join(here.name, real), err
		}
		l, err := t.list(here)
		if errors.Is(err, errNotDir) {
			return node{}, "", fs.ErrNotExist
		}
		if err != nil {
			return node{}, "", err
		}
		e, ok := l.Find(part)
		if !ok {
			return node{}, "", fs.ErrNotExist
		}
		if e.Mode != git.ModeSymlink {
			names = append(names, part)
			at = append(at, node{mode: e.Mode, id: e.ID, name: strings.Join(names, "/")})
			continue
		}
		if links++; links > maxLinks {
			return node{}, "", source.ErrLinkLoop
		}
		target, err := t.target(e.ID)
		if err != nil {
			return node{}, "", err
		}
		todo = slices.Concat(strings.Split(target, "/"), todo)
	}
	real := "."
	if len(names) > 0 {
		real = strings.Join(names, "/")
	}
	return at[len(at)-1], real, nil
}

// target reads where a link points to. An absolute target leaves the repository.
func (t *Tree) target(id git.ID) (string, error) {
	if s, ok := t.memo.target(id); ok {
		return s, nil
	}
	b, err := t.blob(id, maxTarget)
	if errors.Is(err, git.ErrObjectLarge) {
		return "", fmt.Errorf("%w: its target has more than %d bytes", source.ErrEscape, maxTarget)
	}
	if err != nil {
		return "", err
	}
	s := string(b)
	if strings.HasPrefix(s, "/") || s == "" || strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("%w: it points to %q", source.ErrEscape, s)
	}
	t.memo.setTarget(id, s)
	return s, nil
}

func (t *Tree) list(n node) (git.Listing, error) {
	switch n.mode {
	case git.ModeSubmodule:
		of := n.of(t)
		if !of.modules() {
			return nil, nil
		}
		sub, err := of.module(n)
		if err != nil {
			return nil, err
		}
		return sub.list(sub.root)
	case git.ModeDir:
		of := n.of(t)
		l, err := of.mirror.Tree(n.id)
		of.check(err)
		return l, err
	}
	return nil, errNotDir
}
