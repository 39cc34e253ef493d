package memo

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"unique"

	"github.com/klauspost/compress/s2"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/source"
)

// entry is one result with what it was made from. All but place and whole never change.
type entry struct {
	key      key
	project  string        // whose budget it counts for
	place    *list.Element // in the order of its project; nil once dropped
	root     string        // the directory of the source
	main     reads
	beside   []besideReads
	below    bool                   // everything that was read lies in root, and no tree beside it was read
	whole    atomic.Pointer[string] // the sum of root when the entry last held
	revision string                 // where deps.Revision
	cluster  key                    // where deps.Cluster
	deps     render.Deps
	tool     render.Tool
	packed   []byte
	needs    []need.Need // where it is what a source needs
	err      error
}

// reads is what was read from one tree: the names, and one hash over what they held. Applications that are laid out
// alike share the list of names.
type reads struct {
	names unique.Handle[string]
	sum   key
}

type besideReads struct {
	tree string // its name in Request.Beside
	reads
}

// size is what an entry takes, in bytes.
func (e *entry) size() int64 {
	n := overhead + len(e.packed) + len(e.main.names.Value())
	for _, r := range e.beside {
		n += overhead/4 + len(r.names.Value())
	}
	return int64(n)
}

// holds reports whether e is what rendering req would give.
func (m *Memo) holds(e *entry, req render.Request) bool {
	if e.deps.Revision && req.Tree.Revision() != e.revision {
		return false
	}
	if e.deps.Cluster && m.clusters.sum(req.Cluster) != e.cluster {
		return false
	}
	// One look-up answers for a source whose directory did not change.
	whole, err := req.Tree.Sum(e.root)
	known := err == nil && whole != ""
	if last := e.whole.Load(); e.below && known && last != nil && *last == whole {
		return true
	}
	if sumOf(req.Tree, e.root, e.main.names.Value()) != e.main.sum {
		return false
	}
	var beside map[string]source.Tree
	if len(e.beside) > 0 {
		beside = req.Beside()
	}
	for _, r := range e.beside {
		tree := beside[r.tree]
		if tree == nil || sumOf(tree, ".", r.names.Value()) != r.sum {
			return false
		}
	}
	if e.below && known {
		e.whole.Store(&whole)
	}
	return true
}

// Marks of a name in a list of reads.
const (
	markFile = 'f'
	markList = 'l'
)

// namesOf lists reads in one text, relative to root where they lie below it. below says that all do.
func namesOf(root string, list []source.Read) (names string, below bool) {
	var b strings.Builder
	below = true
	for _, r := range list {
		if !fs.ValidPath(r.Name) {
			continue // an invented name, which no tree will ever have
		}
		mark := byte(markFile)
		if r.List {
			mark = markList
		}
		b.WriteByte(mark)
		switch {
		case r.Name == root:
		case root == ".":
			b.WriteString(r.Name)
		case strings.HasPrefix(r.Name, root+"/"):
			b.WriteString(r.Name[len(root)+1:])
		default:
			below = false
			b.WriteString("/" + r.Name)
		}
		b.WriteByte(0)
	}
	return b.String(), below
}

// sumOf hashes what the names hold now. A name that cannot be identified counts as its error.
func sumOf(tree source.Tree, root, names string) key {
	h := hasher{h: sha256.New()}
	for len(names) > 0 {
		item, rest, _ := strings.Cut(names, "\x00")
		names = rest
		name := path.Join(root, item[1:])
		if strings.HasPrefix(item[1:], "/") {
			name = item[2:]
		}
		var sum string
		var err error
		if item[0] == markList {
			sum, err = tree.ListSum(name)
		} else {
			sum, err = tree.Sum(name)
		}
		if err != nil {
			sum = ""
			if !errors.Is(err, fs.ErrNotExist) {
				sum = "error: " + err.Error()
			}
		}
		h.text(sum)
	}
	return h.sum()
}

// pack makes an entry of what was rendered. req is the Request with watched trees.
func (m *Memo) pack(req render.Request, w *watched, res render.Result, err error) *entry {
	e := &entry{project: req.App.Project, root: path.Clean(req.Source.Path), deps: res.Deps, tool: res.Tool, err: err}
	if e.root == ".." || strings.HasPrefix(e.root, "../") || strings.HasPrefix(e.root, "/") {
		e.root = "." // refused before anything was read
	}
	if e.deps.Revision {
		e.revision = req.Tree.Revision()
	}
	if e.deps.Cluster {
		e.cluster = m.clusters.sum(req.Cluster)
	}
	names, below := namesOf(e.root, w.main.trace.Reads())
	e.main = reads{unique.Make(names), sumOf(w.main.tree, e.root, names)}
	for name, t := range w.beside {
		if list := t.trace.Reads(); len(list) > 0 {
			names, _ := namesOf(".", list)
			e.beside = append(e.beside, besideReads{name, reads{unique.Make(names), sumOf(t.tree, ".", names)}})
		}
	}
	e.below = below && len(e.beside) == 0
	if whole, sumErr := w.main.tree.Sum(e.root); e.below && sumErr == nil && whole != "" {
		e.whole.Store(&whole)
	}
	if err == nil {
		e.packed = encode(res.Objects)
	}
	return e
}

// result unpacks the kept result.
func (e *entry) result() (render.Result, error) {
	res := render.Result{Tool: e.tool, Deps: e.deps}
	if e.err != nil {
		return res, e.err
	}
	var err error
	if res.Objects, err = decode(e.packed); err != nil {
		return res, fmt.Errorf("unpack a kept rendering: %w", err)
	}
	return res, nil
}

func encode(objects []object.Manifest) []byte {
	var b []byte
	b = binary.AppendUvarint(b, uint64(len(objects)))
	for i := range objects {
		o := &objects[i]
		for _, s := range []string{o.Key.Group, o.Version, o.Key.Kind, o.Key.Namespace, o.Key.Name} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
		b = binary.AppendUvarint(b, uint64(len(o.JSON)))
		b = append(b, o.JSON...)
	}
	packed := s2.EncodeBetter(nil, b)
	return append(make([]byte, 0, len(packed)), packed...) // the library's buffer has room for the worst case
}

var errPacked = errors.New("the packed form is damaged")

func decode(packed []byte) ([]object.Manifest, error) {
	b, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, err
	}
	next := func() []byte {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			err = errPacked
			return nil
		}
		out := b[size : size+int(n) : size+int(n)]
		b = b[size+int(n):]
		return out
	}
	count, size := binary.Uvarint(b)
	if size <= 0 || count > uint64(len(b)) {
		return nil, errPacked
	}
	if count == 0 {
		return nil, nil
	}
	b = b[size:]
	out := make([]object.Manifest, count)
	for i := range out {
		o := &out[i]
		for _, s := range []*string{&o.Key.Group, &o.Version, &o.Key.Kind, &o.Key.Namespace, &o.Key.Name} {
			*s = string(next())
		}
		o.JSON = next()
	}
	return out, err
}
