package dirtree_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// open makes a directory of files; a name that ends in @ is a symbolic link to its content.
func open(t *testing.T, files map[string]string) *dirtree.Tree {
	t.Helper()
	base := t.TempDir()
	root := filepath.Join(base, "repo")
	for name, content := range files {
		full := filepath.Join(root, strings.TrimSuffix(name, "@"))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "@") {
			if err := os.Symlink(content, full); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "outside"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	tr, err := dirtree.Open(root, "1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

func links() map[string]string {
	return map[string]string{
		"a/file": "one", "a/up@": "../b/other", "a/dir@": "../b", "a/gone@": "nowhere", "a/out@": "../../outside",
		"a/abs@": "/etc/passwd", "a/back@": "../../repo/a/file", "a/loop@": "pool", "a/pool@": "loop", "b/other": "two", ".git/HEAD": "x",
	}
}

func TestLinksAreFollowedInsideAndNowhereElse(t *testing.T) {
	t.Parallel()
	tr := open(t, links())
	for name, want := range map[string]any{
		"a/file": "one", "a/up": "two", "a/dir/other": "two", "a/dir/../file": fs.ErrInvalid, "a/gone": fs.ErrNotExist,
		"a/out": source.ErrEscape, "a/abs": source.ErrEscape, "a/back": source.ErrEscape, "a/loop": source.ErrLinkLoop,
		"none": fs.ErrNotExist, "a/file/x": fs.ErrNotExist, "../outside": fs.ErrInvalid, "/etc/passwd": fs.ErrInvalid,
	} {
		got, err := tr.ReadFile(name)
		if wantErr, ok := want.(error); ok {
			if !errors.Is(err, wantErr) {
				t.Errorf("%s: got %q and %v, want %v", name, got, err, wantErr)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q and %v, want %q", name, got, err, want)
		}
	}
}

func TestDirectoryIsListedWithLinksAsWhatTheyPointTo(t *testing.T) {
	t.Parallel()
	tr := open(t, links())
	entries, err := tr.ReadDir("a")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %s", e.Name, map[bool]string{e.IsDir(): "dir", e.Mode.IsRegular(): "file", e.Mode&fs.ModeSymlink != 0: "link"}[true]))
	}
	want := []string{"abs link", "back link", "dir dir", "file file", "gone link", "loop link", "out link", "pool link", "up file"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
	if root, err := tr.ReadDir("."); err != nil || len(root) != 2 {
		t.Errorf("the root lists %v, error %v, want a and b alone", root, err)
	}
}

func TestSumsTellWhatChanged(t *testing.T) {
	t.Parallel()
	before := open(t, map[string]string{"a/x": "1", "a/l@": "../b/y", "b/y": "1", "c/z": "1"})
	after := open(t, map[string]string{"a/x": "1", "a/l@": "../b/y", "b/y": "2", "c/z": "1"})
	for name, same := range map[string]bool{"a/x": true, "a/l": false, "a": false, "b": false, "c": true, ".": false, "none": true} {
		s1, err1 := before.Sum(name)
		s2, err2 := after.Sum(name)
		if err1 != nil || err2 != nil || (s1 == s2) != same || (s1 == "") != (name == "none") {
			t.Errorf("%s: sums %q and %q, errors %v and %v, want same %v", name, s1, s2, err1, err2, same)
		}
	}
	l1, err1 := before.ListSum("b")
	l2, err2 := after.ListSum("b")
	if err1 != nil || err2 != nil || l1 != l2 {
		t.Errorf("listing sums %q and %q, errors %v and %v", l1, l2, err1, err2)
	}
}
