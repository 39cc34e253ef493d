// Package source turns a repository and a revision into a Tree: a read-only view of the files at that revision that
// knows the content identity of every path, so that a later revision can be compared without reading it.
package source

import (
	"io/fs"
	"time"
)

// Tree is the content of one revision. Names are slash-separated, relative and clean, "." is the root. Symbolic
// links are followed inside the tree; a link that leaves it fails with an error that wraps ErrEscape, a loop with
// ErrLinkLoop. A missing name fails with an error that wraps fs.ErrNotExist. Methods are safe for concurrent use.
type Tree interface {
	// Revision is the resolved revision: a full commit id, a chart version or an OCI digest.
	Revision() string
	// ReadFile returns the content of a file; files over the limit of the tree fail with ErrTooLarge.
	// The caller must not change the bytes.
	ReadFile(name string) ([]byte, error)
	// ReadDir lists a directory, sorted by name. A symbolic link is listed as what it points to;
	// a link that is broken or leaves the tree is listed with fs.ModeSymlink.
	ReadDir(name string) ([]Entry, error)
	// Stat describes a file or directory, links followed.
	Stat(name string) (Entry, error)
	// Sum is the identity of what name holds, links followed: equal sums mean equal content. For a directory it
	// covers everything below. It is "" where name does not exist and costs no read of content.
	Sum(name string) (string, error)
	// ListSum is the identity of a directory's listing alone: the names and types of its entries, not their content.
	ListSum(name string) (string, error)
}

// Change is the author and the message of a revision.
type Change struct {
	Author  string    // "Ann Example <ann@example.org>"
	Subject string    // first line of the message
	At      time.Time // when it was committed; zero where that is not known
}

// Explained is a Tree that knows the author of its revision.
type Explained interface {
	Change() (Change, error)
}

// Opened is a Tree whose encrypted files are decrypted as they are read. Sums are those of the files as they are stored. Of
// a file that cannot be decrypted, ReadFile fails with an error that wraps ErrSealed.
type Opened interface {
	Tree
	// Sealed is the same tree for those who may not see what is decrypted: reading an encrypted file fails.
	Sealed() Tree
}

// Seal returns a tree without what is decrypted of it, if that is asked for, and the scope of results that are made of it.
func Seal(t Tree, scope string, asked bool) (Tree, string) {
	opened, is := t.(Opened)
	if !asked || !is {
		return t, scope
	}
	return opened.Sealed(), scope + " sealed"
}

// Whole is a Tree that can be read as a whole, as it is stored: nothing is decrypted, and what is read of it is recorded once.
type Whole interface {
	Whole() (Tree, error)
}

// WholeOf returns a tree to be read as a whole.
func WholeOf(t Tree) (Tree, error) {
	if w, is := t.(Whole); is {
		return w.Whole()
	}
	return t, nil
}

// Entry describes one name in a Tree.
type Entry struct {
	Name string      // base name
	Mode fs.FileMode // fs.ModeDir, fs.ModeSymlink (unresolvable link) or 0; the exec bit of a file is 0o111
	Size int64       // bytes; -1 where the tree does not know it without reading
}

// IsDir reports whether the entry is a directory.
func (e Entry) IsDir() bool { return e.Mode.IsDir() }
