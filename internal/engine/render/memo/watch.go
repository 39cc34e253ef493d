package memo

import (
	"errors"
	"io/fs"
	"sync/atomic"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source"
)

// watched holds the trees of one rendering.
type watched struct {
	main   *tree
	beside map[string]*tree // by the names of Request.Beside
}

// watch returns req with trees that record what is read.
func watch(req render.Request) (render.Request, *watched) {
	w := &watched{main: newTree(req.Tree), beside: map[string]*tree{}}
	beside := req.Beside()
	for name, t := range beside {
		if t != nil {
			w.beside[name] = newTree(t)
			beside[name] = w.beside[name]
		}
	}
	req.SetBeside(beside)
	req.Tree = w.main
	return req, w
}

// failed returns how a tree failed for a reason that may pass, such as a repository that cannot be read; nil where none did.
func (w *watched) failed() error {
	if err := w.main.failed.Load(); err != nil {
		return *err
	}
	for _, t := range w.beside {
		if err := t.failed.Load(); err != nil {
			return *err
		}
	}
	return nil
}

// tree records what is read through it, and whether reading failed for another reason than what is in the tree.
type tree struct {
	tree   source.Tree
	trace  *source.Trace
	failed atomic.Pointer[error]
}

var _ source.Tree = (*tree)(nil)

func newTree(t source.Tree) *tree { return &tree{tree: t, trace: source.NewTrace(t)} }

func (t *tree) note(err error) {
	if err == nil {
		return
	}
	for _, known := range []error{fs.ErrNotExist, fs.ErrInvalid, source.ErrEscape, source.ErrLinkLoop, source.ErrTooLarge} {
		if errors.Is(err, known) {
			return
		}
	}
	t.failed.Store(&err)
}

func (t *tree) Revision() string { return t.trace.Revision() }

func (t *tree) ReadFile(name string) ([]byte, error) {
	b, err := t.trace.ReadFile(name)
	t.note(err)
	return b, err
}

func (t *tree) ReadDir(name string) ([]source.Entry, error) {
	l, err := t.trace.ReadDir(name)
	t.note(err)
	return l, err
}

func (t *tree) Stat(name string) (source.Entry, error) {
	e, err := t.trace.Stat(name)
	t.note(err)
	return e, err
}

func (t *tree) Sum(name string) (string, error) {
	s, err := t.trace.Sum(name)
	t.note(err)
	return s, err
}

func (t *tree) ListSum(name string) (string, error) {
	s, err := t.trace.ListSum(name)
	t.note(err)
	return s, err
}

// Whole is the tree to be read as a whole.
func (t *tree) Whole() (source.Tree, error) {
	w, err := t.trace.Whole()
	t.note(err)
	return w, err
}
