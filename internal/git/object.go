package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Limits on objects that are parsed whole.
const (
	maxTree   = 32 << 20
	maxCommit = 1 << 20
	maxName   = 4096 // bytes of a name in a tree; file systems take 255
)

// ID is the name of an object: its SHA-1.
type ID [20]byte

// ParseID reads a full id of 40 hexadecimal digits.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		if len(s) == 64 && isHex(s) {
			return id, fmt.Errorf("object id %s: %w: only SHA-1 repositories can be read", s, ErrObjectFormat)
		}
		return id, fmt.Errorf("%q is not a full commit id", clean(s))
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return id, fmt.Errorf("%q is not a full commit id", clean(s))
	}
	return id, nil
}

// String is the id in 40 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

func isHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// Mode is what git records about a tree entry.
type Mode uint32

// Modes of tree entries.
const (
	ModeDir        Mode = 0o040000
	ModeFile       Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeSubmodule  Mode = 0o160000
)

// TreeEntry is one name in a directory.
type TreeEntry struct {
	Name string
	Mode Mode
	ID   ID
}

// Listing is a parsed tree object, sorted by name. It is shared: do not change it.
type Listing []TreeEntry

// Find returns the entry with a name.
func (l Listing) Find(name string) (TreeEntry, bool) {
	i := sort.Search(len(l), func(i int) bool { return l[i].Name >= name })
	if i < len(l) && l[i].Name == name {
		return l[i], true
	}
	return TreeEntry{}, false
}

// Has reports whether an object is in the mirror.
func (m *Mirror) Has(id string) bool {
	if _, err := ParseID(id); err != nil || !m.exists() {
		return false
	}
	_, err := m.reader.info(id)
	return err == nil
}

// exists opens a mirror of an earlier run, so that what it holds can be read before anything is fetched.
func (m *Mirror) exists() bool {
	if m.ready.Load() {
		return true
	}
	m.turn <- struct{}{}
	defer m.unlock()
	return m.ensure(context.Background()) == nil
}

// Ref returns the commit that a fetched reference (full name) points to.
func (m *Mirror) Ref(ref string) (ID, error) {
	if err := CheckRef(ref); err != nil {
		return ID{}, err
	}
	if !m.exists() {
		return ID{}, ErrMissing
	}
	h, err := m.reader.info(localRef(ref) + "^{commit}")
	return h.id, err
}

// TagOf returns the id of the annotated tag that a fetched reference (full name) points to; false where it points to a commit.
func (m *Mirror) TagOf(ref string) (ID, bool) {
	if CheckRef(ref) != nil || !m.exists() {
		return ID{}, false
	}
	h, err := m.reader.info(localRef(ref))
	return h.id, err == nil && h.kind == kindTag
}

// Raw returns the content of a commit or an annotated tag as Git stores it, so that its signature can be verified.
func (m *Mirror) Raw(id ID) ([]byte, error) {
	if !m.exists() {
		return nil, fmt.Errorf("read object %s: %w", id, ErrMissing)
	}
	h, data, err := m.reader.contents(id.String(), maxCommit)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	if h.kind != kindTag && h.kind != kindCommit {
		return nil, fmt.Errorf("read object %s: it is a %s", id, h.kind)
	}
	return data, nil
}

// Kinds of objects that can be signed.
const (
	kindTag    = "tag"
	kindCommit = "commit"
)

// Expand turns an abbreviated commit id into the full one, among the commits in the mirror. It fails with ErrMissing
// or ErrAmbiguous.
func (m *Mirror) Expand(short string) (ID, error) {
	if !isHex(short) || len(short) < 4 || len(short) > 40 {
		return ID{}, fmt.Errorf("%q is not an abbreviated commit id", clean(short))
	}
	if !m.exists() {
		return ID{}, ErrMissing
	}
	h, err := m.reader.info(short + "^{commit}")
	return h.id, err
}

// Tree returns the directory with the given id, from memory where it was read before.
func (m *Mirror) Tree(id ID) (Listing, error) {
	key := treeKey{m.serial, id}
	if l, ok := m.client.trees.get(key); ok {
		return l, nil
	}
	h, data, err := m.reader.contents(id.String(), maxTree)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", id, err)
	}
	if h.kind != "tree" {
		return nil, fmt.Errorf("read tree %s: it is a %s", id, h.kind)
	}
	l, err := parseTree(data)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", id, err)
	}
	m.client.trees.put(key, l, len(data)+len(l)*48+128)
	return l, nil
}

// Blob returns the content of a file of at most limit bytes; a larger one fails with ErrObjectLarge. In a blobless
// mirror a blob that is not there is fetched: use Prefetch first where several are wanted.
func (m *Mirror) Blob(id ID, limit int64) ([]byte, error) {
	h, data, err := m.reader.contents(id.String(), limit)
	if errors.Is(err, ErrMissing) && m.client.opts.Blobless {
		ctx, cancel := context.WithTimeout(context.Background(), m.client.opts.FetchTimeout)
		defer cancel()
		if err := m.fetchObjects(ctx, []string{id.String()}); err != nil {
			return nil, fmt.Errorf("fetch file content %s: %w", id, err)
		}
		h, data, err = m.reader.contents(id.String(), limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read file content: %w", err)
	}
	if h.kind != "blob" {
		return nil, fmt.Errorf("read file content %s: it is a %s", id, h.kind)
	}
	return data, nil
}

func parseTree(data []byte) (Listing, error) {
	text := string(data) // one allocation that all names share
	l := make(Listing, 0, len(text)/36)
	sorted := true
	for len(text) > 0 {
		sp := strings.IndexByte(text, ' ')
		nul := strings.IndexByte(text, 0)
		if sp < 1 || sp > 7 || nul < sp+2 || len(text) < nul+21 {
			return nil, fmt.Errorf("%w: the tree is cut off", ErrBadObjects)
		}
		var mode Mode
		for _, d := range text[:sp] {
			if d < '0' || d > '7' {
				return nil, fmt.Errorf("%w: the tree has an odd mode", ErrBadObjects)
			}
			mode = mode<<3 | Mode(d-'0')
		}
		if nul-sp-1 > maxName {
			return nil, fmt.Errorf("%w: the tree has a name of %d bytes, more than %d", ErrBadObjects, nul-sp-1, maxName)
		}
		e := TreeEntry{Name: text[sp+1 : nul], Mode: mode}
		if e.Name == "." || e.Name == ".." || strings.ContainsRune(e.Name, '/') {
			return nil, fmt.Errorf("%w: the tree has an entry named %q", ErrBadObjects, clean(e.Name))
		}
		copy(e.ID[:], text[nul+1:nul+21])
		text = text[nul+21:]
		sorted = sorted && (len(l) == 0 || l[len(l)-1].Name < e.Name)
		l = append(l, e)
	}
	if !sorted { // git sorts a directory as if its name ended with a slash
		sort.Slice(l, func(i, j int) bool { return l[i].Name < l[j].Name })
	}
	for i := 1; i < len(l); i++ {
		if l[i].Name == l[i-1].Name {
			return nil, fmt.Errorf("%w: the tree has two entries named %q", ErrBadObjects, clean(l[i].Name))
		}
	}
	return l, nil
}
