package gitsource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
)

// Bounds of what a commit refers to.
const (
	maxModules     = 100 // submodules that are opened for one commit, those in submodules included
	maxModuleDepth = 5   // submodules in each other
	maxConfig      = 256 << 10
	partTime       = 10 * time.Minute // to fetch one of them
)

// Parts gives what a commit refers to and does not hold. A function that is nil leaves such things as they are.
type Parts struct {
	// Module opens a commit of the repository at an address, which is absolute and may be any.
	Module func(ctx context.Context, address, commit string) (*Tree, error)
	// Large returns the content of a file of Git LFS. endpoint is the LFS server that the repository names; "" for none.
	Large func(ctx context.Context, endpoint string, p lfs.Pointer) ([]byte, error)
}

// parts is what a Tree knows of its Parts.
type parts struct {
	Parts
	depth  int
	opened *tally

	reading   sync.Mutex
	addresses map[string]string // of submodules by path; nil before they are read

	mu       sync.Mutex
	endpoint *string           // of LFS; nil before it is read
	trees    map[string]module // by path: an error is kept too, so that one that cannot be reached is tried once
}

type module struct {
	tree *Tree
	err  error
}

// tally counts the submodules of one commit.
type tally struct {
	mu sync.Mutex
	n  int
}

func (c *tally) add() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n <= maxModules
}

// With is the same tree with what its commit refers to. Submodules are opened, and files fetched, when they are read.
func (t *Tree) With(p Parts) *Tree {
	out := *t
	out.parts = &parts{Parts: p, opened: &tally{}, trees: map[string]module{}}
	return &out
}

// below is the tree as a submodule of another one.
func (t *Tree) below(parent *parts) *Tree {
	out := *t
	out.parts = &parts{depth: parent.depth + 1, opened: parent.opened, trees: map[string]module{}}
	if t.parts != nil {
		out.parts.Parts = t.parts.Parts
	}
	return &out
}

func (t *Tree) modules() bool { return t.parts != nil && t.parts.Module != nil }

// errModule begins what is wrong with a submodule.
var errModule = errors.New("submodule")

// module opens a submodule, which is a node of the tree itself.
func (t *Tree) module(n node) (*Tree, error) {
	p := t.parts
	p.mu.Lock()
	defer p.mu.Unlock() // one at a time: what a renderer reads comes in its order
	key := n.name + "\x00" + n.id.String()
	if m, ok := p.trees[key]; ok {
		return m.tree, m.err
	}
	tree, err := t.openModule(n)
	if err != nil {
		err = fmt.Errorf("%w %s: %w", errModule, n.name, err)
	}
	p.trees[key] = module{tree, err}
	return tree, err
}

func (t *Tree) openModule(n node) (*Tree, error) {
	p := t.parts
	if p.depth >= maxModuleDepth {
		return nil, fmt.Errorf("it is more than %d submodules deep: leave some out", maxModuleDepth)
	}
	addresses, err := t.moduleAddresses()
	if err != nil {
		return nil, err
	}
	address := addresses[n.name]
	if address == "" {
		return nil, errors.New("it has no address in .gitmodules: add one, or remove the submodule")
	}
	address, err = t.mirror.Remote().Join(address)
	if err != nil {
		return nil, err
	}
	if !p.opened.add() {
		return nil, fmt.Errorf("more than %d submodules are read: leave some out", maxModules)
	}
	ctx, cancel := context.WithTimeout(context.Background(), partTime)
	defer cancel()
	sub, err := p.Module(ctx, address, n.id.String())
	if err != nil {
		return nil, err
	}
	return sub.below(p), nil
}

// moduleAddresses reads .gitmodules once: the addresses of submodules by path. They are not to be changed.
func (t *Tree) moduleAddresses() (map[string]string, error) {
	p := t.parts
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.addresses != nil {
		return p.addresses, nil
	}
	entries, err := t.config(".gitmodules")
	if err != nil {
		return nil, err
	}
	paths, addresses := map[string]string{}, map[string]string{}
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Key, "submodule."); ok {
			if of, ok := strings.CutSuffix(name, ".path"); ok {
				paths[of] = strings.TrimRight(e.Value, "/")
			} else if of, ok := strings.CutSuffix(name, ".url"); ok {
				addresses[of] = e.Value
			}
		}
	}
	out := map[string]string{}
	for name, path := range paths {
		out[path] = addresses[name]
	}
	p.addresses = out
	return out, nil
}

// config reads a file in git's format in the root of the commit; nothing where there is none. A link is not followed.
func (t *Tree) config(name string) ([]git.ConfigEntry, error) {
	l, err := t.list(t.root)
	if err != nil {
		return nil, err
	}
	e, ok := l.Find(name)
	if !ok || e.Mode != git.ModeFile && e.Mode != git.ModeExecutable {
		return nil, nil
	}
	c, err := t.configOf(e.ID)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if c.wrong {
		return nil, fmt.Errorf("read %s: it is no configuration of git: correct it", name)
	}
	return c.entries, nil
}

// configOf has git read a file in its format. The answer is kept by blob id: each turn of thousands of applications asks for it, and
// git is a process.
func (t *Tree) configOf(id git.ID) (config, error) {
	if c, ok := t.memo.config(id); ok {
		return c, nil
	}
	t.memo.reading.Lock()
	defer t.memo.reading.Unlock()
	if c, ok := t.memo.config(id); ok { // another caller has read it by now
		return c, nil
	}
	raw, err := t.blob(id, maxConfig)
	if err != nil {
		return config{}, err
	}
	entries, err := t.mirror.Config(raw)
	if err != nil && !errors.Is(err, git.ErrConfig) {
		return config{}, err
	}
	c := config{entries: entries, wrong: err != nil}
	t.memo.setConfig(id, c)
	return c, nil
}

// inside walks in a submodule. A link that leaves it is refused: so its commit decides on all that is read in it.
func (t *Tree) inside(name string) (node, string, error) {
	if !fs.ValidPath(name) {
		return node{}, "", source.ErrEscape
	}
	n, real, err := t.resolve(name)
	if err != nil {
		return n, real, err
	}
	if n.in == nil {
		n.in, n.name = t, real
	}
	return n, real, nil
}

// Prepare opens the submodules that a directory is in, or that are in it, so that reading them later does not wait. What is wrong
// with one is reported when it is read.
func (t *Tree) Prepare(ctx context.Context, dir string) {
	if !t.modules() {
		return
	}
	found, err := t.moduleAddresses()
	if err != nil {
		return
	}
	for path := range found {
		if ctx.Err() != nil {
			return
		}
		if dir == "." || dir == "" || path == dir || strings.HasPrefix(path, dir+"/") || strings.HasPrefix(dir, path+"/") {
			_, _ = t.ReadDir(path)
		}
	}
}

// content reads a file of the tree itself.
func (t *Tree) content(id git.ID) ([]byte, error) {
	tooLarge := fmt.Errorf("%w of %d bytes", source.ErrTooLarge, t.limit)
	b, err := t.blob(id, t.limit)
	if errors.Is(err, git.ErrObjectLarge) {
		return nil, tooLarge
	}
	if err != nil || t.parts == nil || t.parts.Large == nil {
		return b, err
	}
	p, is, err := lfs.ReadPointer(b)
	if err != nil || !is {
		return b, err
	}
	if p.Size > t.limit {
		return nil, tooLarge
	}
	endpoint, err := t.lfsEndpoint()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), partTime)
	defer cancel()
	return t.parts.Large(ctx, endpoint, p)
}

// lfsEndpoint reads .lfsconfig.
func (t *Tree) lfsEndpoint() (string, error) {
	p := t.parts
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.endpoint != nil {
		return *p.endpoint, nil
	}
	entries, err := t.config(".lfsconfig")
	if err != nil {
		return "", err
	}
	found := ""
	for _, e := range entries {
		if e.Key == "lfs.url" {
			found = e.Value
		}
	}
	p.endpoint = &found
	return found, nil
}
