package source

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// Errors of a Tree. They are wrapped with the name that caused them.
var (
	ErrEscape   = errors.New("symbolic link leaves the repository")
	ErrLinkLoop = errors.New("too many levels of symbolic links")
	ErrTooLarge = errors.New("file is larger than the limit")
	ErrSealed   = errors.New("file is encrypted, and cannot be decrypted")
)

// Read is one thing that was learned from a Tree: what a name held, or the listing of a directory. A miss has an
// empty Sum.
type Read struct {
	Name string
	List bool // the listing of directory Name, not its content
	Sum  string
}

// Trace is a Tree that records what is read through it, misses and listings included. It is safe for concurrent use.
type Trace struct {
	tree  Tree
	mu    sync.Mutex
	reads map[Read]struct{}
}

var _ Tree = (*Trace)(nil)

// NewTrace wraps t.
func NewTrace(t Tree) *Trace { return &Trace{tree: t, reads: map[Read]struct{}{}} }

// Revision is that of the wrapped tree. It is not recorded: a result that depends on it must say so in its key.
func (t *Trace) Revision() string { return t.tree.Revision() }

// ReadFile reads and records name.
func (t *Trace) ReadFile(name string) ([]byte, error) {
	b, err := t.tree.ReadFile(name)
	t.note(name, false, err)
	return b, err
}

// ReadDir lists and records the listing of name.
func (t *Trace) ReadDir(name string) ([]Entry, error) {
	e, err := t.tree.ReadDir(name)
	t.note(name, true, err)
	return e, err
}

// Stat describes name. Only existence and type are learned, so the listing is recorded for a directory.
func (t *Trace) Stat(name string) (Entry, error) {
	e, err := t.tree.Stat(name)
	t.note(name, err == nil && e.IsDir(), err)
	return e, err
}

// Sum records name as if it had been read whole.
func (t *Trace) Sum(name string) (string, error) {
	s, err := t.tree.Sum(name)
	t.note(name, false, err)
	return s, err
}

// ListSum records the listing of name.
func (t *Trace) ListSum(name string) (string, error) {
	s, err := t.tree.ListSum(name)
	t.note(name, true, err)
	return s, err
}

// Whole records the whole tree as if all of it had been read.
func (t *Trace) Whole() (Tree, error) {
	if _, err := t.Sum("."); err != nil {
		return nil, err
	}
	return WholeOf(t.tree)
}

func (t *Trace) note(name string, list bool, err error) {
	if err != nil && errors.Is(err, fs.ErrNotExist) {
		list = false
	}
	sum := sumOf(t.tree, name, list)
	t.mu.Lock()
	t.reads[Read{Name: name, List: list, Sum: sum}] = struct{}{}
	t.mu.Unlock()
}

// Reads returns what was recorded, sorted by name.
func (t *Trace) Reads() []Read {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Read, 0, len(t.reads))
	for r := range t.reads {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Read) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Unchanged reports whether everything in reads still holds in t: a renderer that read only that would get the same result.
func Unchanged(t Tree, reads []Read) bool {
	for _, r := range reads {
		if sumOf(t, r.Name, r.List) != r.Sum {
			return false
		}
	}
	return true
}

// sumOf never fails: a name that cannot be identified (a broken link, say) gets an identity of its error, so that a
// fix changes it.
func sumOf(t Tree, name string, list bool) string {
	var sum string
	var err error
	if list {
		sum, err = t.ListSum(name)
	} else {
		sum, err = t.Sum(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "error: " + err.Error()
	}
	return sum
}
