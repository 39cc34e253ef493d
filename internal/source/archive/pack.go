package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// A pack is a file with the contents of all files, then an index as JSON, then a footer: the length of the index in 8 bytes, its
// SHA-256, and the magic.
const (
	magic      = "slipway1"
	footerSize = 8 + sha256.Size + len(magic)
	maxIndex   = 64 << 20
)

// node is a file, a directory or a broken link.
type node struct {
	Mode fs.FileMode `json:"mode,omitempty"` // fs.ModeDir, fs.ModeSymlink, or the exec bits of a file
	At   int64       `json:"at,omitempty"`   // where the content begins
	Size int64       `json:"size,omitempty"`
	Sum  string      `json:"sum,omitempty"`  // of the content in hex; of a directory, all that is below
	List string      `json:"list,omitempty"` // of a directory: its names and types

	Archive string `json:"archive,omitempty"` // of the root: the digest of the archive
}

// identity is what Sum of a Tree gives.
func (n *node) identity() string { return fmt.Sprintf("%o:%s", uint32(n.Mode), n.Sum) }

// finish writes the index after the contents of an archive with a digest.
func (b *builder) finish(digest string) error {
	b.sumDirs()
	b.nodes["."].Archive = digest
	raw, err := json.Marshal(b.nodes)
	if err != nil {
		return fmt.Errorf("write cache of archives: %w", err)
	}
	sum := sha256.Sum256(raw)
	footer := append(binary.BigEndian.AppendUint64(nil, uint64(len(raw))), sum[:]...)
	for _, part := range [][]byte{raw, footer, []byte(magic)} {
		if _, err := b.out.Write(part); err != nil {
			return fmt.Errorf("write cache of archives: %w", err)
		}
	}
	if err := b.out.Flush(); err != nil {
		return fmt.Errorf("write cache of archives: %w", err)
	}
	return nil
}

// sumDirs computes the sums of directories, those deepest down first. A directory that a link leads to is computed for each name.
func (b *builder) sumDirs() {
	children := childrenOf(b.nodes)
	names := slices.Collect(maps.Keys(b.nodes))
	slices.SortFunc(names, func(a, c string) int { return depthOf(c) - depthOf(a) })
	for _, name := range names {
		if !b.nodes[name].Mode.IsDir() {
			continue
		}
		whole, list := sha256.New(), sha256.New()
		for _, child := range children[name] {
			n := b.nodes[child]
			fmt.Fprintf(whole, "%q %s\n", path.Base(child), n.identity())
			fmt.Fprintf(list, "%q %o\n", path.Base(child), uint32(n.Mode))
		}
		b.nodes[name] = &node{Mode: fs.ModeDir, Sum: hex.EncodeToString(whole.Sum(nil)), List: hex.EncodeToString(list.Sum(nil))}
	}
}

func depthOf(name string) int {
	if name == "." {
		return 0
	}
	return 1 + strings.Count(name, "/")
}

// childrenOf lists the names in each directory, sorted.
func childrenOf(nodes map[string]*node) map[string][]string {
	out := map[string][]string{}
	for name := range nodes {
		if name != "." {
			out[path.Dir(name)] = append(out[path.Dir(name)], name)
		}
	}
	for _, names := range out {
		slices.Sort(names)
	}
	return out
}

// pack is an opened file of the store. Its file is closed when nothing refers to it any more.
type pack struct {
	file     *os.File
	nodes    map[string]*node
	children map[string][]string
	damaged  func()       // called when content is not what it was
	touched  atomic.Int64 // when the file was marked as used, in Unix seconds
}

var errPack = errors.New("it is no pack")

func openPack(f *os.File, damaged func()) (*pack, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < int64(footerSize) {
		return nil, errPack
	}
	footer := make([]byte, footerSize)
	if _, err := f.ReadAt(footer, info.Size()-int64(footerSize)); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint64(footer)
	if string(footer[8+sha256.Size:]) != magic || length > maxIndex || int64(length) > info.Size()-int64(footerSize) {
		return nil, errPack
	}
	raw := make([]byte, length)
	if _, err := f.ReadAt(raw, info.Size()-int64(footerSize)-int64(length)); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(raw); string(sum[:]) != string(footer[8:8+sha256.Size]) {
		return nil, errPack
	}
	p := &pack{file: f, damaged: damaged}
	if err := strict.Decode(raw, &p.nodes, strict.Foreign); err != nil || p.nodes["."] == nil {
		return nil, errPack
	}
	p.children = childrenOf(p.nodes)
	p.touched.Store(time.Now().Unix())
	return p, nil
}

// touch marks the file as used.
func (p *pack) touch(name string) {
	now := time.Now()
	if last := p.touched.Load(); now.Unix()-last > int64(touchEach/time.Second) && p.touched.CompareAndSwap(last, now.Unix()) {
		_ = os.Chtimes(name, now, now) // at worst it goes too early
	}
}

// read reads a file and compares it with its sum.
func (p *pack) read(n *node) ([]byte, error) {
	b := make([]byte, n.Size)
	if _, err := p.file.ReadAt(b, n.At); err != nil && (!errors.Is(err, io.EOF) || n.Size > 0) {
		p.damaged()
		return nil, ErrDamaged
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != n.Sum {
		p.damaged()
		return nil, ErrDamaged
	}
	return b, nil
}

// ErrDamaged says that the disk does not hold what was written to it. The next fetch makes it good.
var ErrDamaged = errors.New("cache of archives is damaged: it is fetched again")

func (p *pack) tree() *Tree { return &Tree{pack: p, root: "."} }
