package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
)

// header is one entry of an archive; content is that of a file.
type header struct {
	tar.Header
	content string
}

func file(name, content string) header {
	return header{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}, content}
}

func symlink(name, target string) header {
	return header{tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}, ""}
}

func pack(t testing.TB, zipped bool, entries ...header) []byte {
	t.Helper()
	var b bytes.Buffer
	var out io.WriteCloser = nopCloser{&b}
	if zipped {
		out = gzip.NewWriter(&b)
	}
	w := tar.NewWriter(out)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func store(t testing.TB, dir string, most int64) *archive.Store {
	t.Helper()
	s, err := archive.Open(dir, most)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func unpacked(t testing.TB, entries ...header) *archive.Tree {
	t.Helper()
	tree, _, err := store(t, t.TempDir(), 0).Unpack("key", bytes.NewReader(pack(t, true, entries...)), "", archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func read(t testing.TB, tree source.Tree, name string) string {
	t.Helper()
	b, err := tree.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnArchiveIsReadAsATree(t *testing.T) {
	t.Parallel()
	s := store(t, t.TempDir(), 0)
	for name, zipped := range map[string]bool{"tar": false, "gzip": true} {
		raw := pack(t, zipped, file("app/Chart.yaml", "name: app"), file("./app/templates/a.yaml", "a"),
			header{tar.Header{Name: "app/run.sh", Typeflag: tar.TypeReg, Mode: 0o755, Size: 1}, "x"})
		tree, digest, err := s.Unpack(name, bytes.NewReader(raw), digestOf(raw), archive.Limits{})
		if err != nil || digest != digestOf(raw) {
			t.Fatalf("%s: %s, %v", name, digest, err)
		}
		below, err := tree.At("1.2.3").Sub("app")
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, below, "templates/a.yaml"); got != "a" || below.Revision() != "1.2.3" {
			t.Errorf("%s: a.yaml = %q at %s", name, got, below.Revision())
		}
		entries, err := below.ReadDir(".")
		if err != nil || fmt.Sprint(entries) != "[{Chart.yaml ---------- 9} {run.sh ---x--x--x 1} {templates d--------- -1}]" {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
		if _, err := below.ReadFile("../x"); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: a name that leaves the tree: %v", name, err)
		}
		if _, err := below.Stat("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a name that is not there: %v", name, err)
		}
	}
}

func TestSumsAreThoseOfTheContent(t *testing.T) {
	t.Parallel()
	one := unpacked(t, file("a/x", "1"), file("b/x", "1"), file("c/x", "2"), header{tar.Header{Name: "d/x", Typeflag: tar.TypeReg, Mode: 0o755, Size: 1}, "1"})
	sum := func(tree *archive.Tree, name string) string {
		s, err := tree.Sum(name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if sum(one, "a") != sum(one, "b") || sum(one, "a/x") != sum(one, "b/x") {
		t.Error("equal content has different sums")
	}
	if sum(one, "a") == sum(one, "c") || sum(one, "a/x") == sum(one, "c/x") || sum(one, "a/x") == sum(one, "d/x") {
		t.Error("different content has equal sums")
	}
	if sum(one, "none") != "" {
		t.Error("what is not there has a sum")
	}
	la, _ := one.ListSum("a")
	lc, _ := one.ListSum("c")
	if la != lc || la == "" {
		t.Errorf("listings of equal names are %q and %q", la, lc)
	}
	trace := source.NewTrace(one)
	read(t, trace, "a/x")
	if !source.Unchanged(unpacked(t, file("a/x", "1"), file("z", "new")), trace.Reads()) {
		t.Error("a file that was not read counts as a change")
	}
	if source.Unchanged(unpacked(t, file("a/x", "3")), trace.Reads()) {
		t.Error("a file that was read changed without being noticed")
	}
}

func TestLinksInsideAreFollowed(t *testing.T) {
	t.Parallel()
	tree := unpacked(t, file("app/values/a.yaml", "a"), symlink("app/link.yaml", "values/../values/a.yaml"), symlink("app/more", "values"),
		symlink("app/broken", "nothing"), symlink("app/twice", "more"), symlink("x", "y"), symlink("y", "x"),
		header{tar.Header{Name: "app/hard.yaml", Typeflag: tar.TypeLink, Linkname: "app/values/a.yaml"}, ""})
	for _, name := range []string{"app/link.yaml", "app/more/a.yaml", "app/twice/a.yaml", "app/hard.yaml"} {
		if got := read(t, tree, name); got != "a" {
			t.Errorf("%s = %q", name, got)
		}
	}
	whole, _ := tree.Sum("app/values")
	linked, _ := tree.Sum("app/twice")
	if whole != linked {
		t.Error("a directory has another sum through a link")
	}
	entries, err := tree.ReadDir("app")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name == "broken" && e.Mode != fs.ModeSymlink {
			t.Errorf("a broken link is listed as %v", e)
		}
	}
	for _, name := range []string{"app/broken", "x", "y"} {
		if _, err := tree.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want %v", name, err, fs.ErrNotExist)
		}
	}
}

func TestAHostileArchiveIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	many := make([]header, 0, 200)
	for i := range 200 {
		many = append(many, file(fmt.Sprintf("f%d", i), "x"))
	}
	grow := []header{file("d/x", "x")}
	for i := range 30 { // each level would double what is there
		name := fmt.Sprintf("l%d", i)
		below := "d"
		if i > 0 {
			below = fmt.Sprintf("l%d", i-1)
		}
		grow = append(grow, symlink(name+"/a", "../"+below), symlink(name+"/b", "../"+below))
	}
	cross := []header{file("d/x", "x")}
	for i := range 40 {
		cross = append(cross, symlink(fmt.Sprintf("d/s%d", i), "../e"), symlink(fmt.Sprintf("e/s%d", i), "../d"))
	}
	long := strings.Repeat("L", 250)
	names := []header{}
	for i := range 600 {
		names = append(names, file(fmt.Sprintf("d0/%s%d", strings.Repeat("n", 200), i), ""))
	}
	for i := range 30 { // each directory is in the one before, under a long name
		names = append(names, file(fmt.Sprintf("d%d/x", i+1), ""), symlink(fmt.Sprintf("d%d/%s", i+1, long), fmt.Sprintf("../d%d", i)))
	}
	_, _, err := store(t, t.TempDir(), 0).Unpack("key", bytes.NewReader(pack(t, true, names...)), "", archive.Limits{})
	if !errors.Is(err, archive.ErrArchive) || !strings.Contains(err.Error(), "16 MiB together") {
		t.Errorf("names that links make long: %v", err)
	}
	limits := archive.Limits{Files: 100, Bytes: 4 << 20, File: 2 << 20, Depth: 8, Ratio: 100}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"a name that leaves it":       {pack(t, true, file("../x", "x")), "leaves it"},
		"a name in between":           {pack(t, true, file("a/../../x", "x")), "leaves it"},
		"a name with backslashes":     {pack(t, true, file(`a\..\..\x`, "x")), "leaves it"},
		"an absolute name":            {pack(t, true, file("/etc/passwd", "x")), "absolute"},
		"a drive":                     {pack(t, true, file(`C:\x`, "x")), "absolute"},
		"a link that leaves it":       {pack(t, true, symlink("a", "../x")), "leaves it"},
		"an absolute link":            {pack(t, true, symlink("a", "/etc/passwd")), "leaves it"},
		"a way out through a link":    {pack(t, true, file("d/e/x", ""), symlink("l", "d/e"), symlink("m", "l/../../../x")), "leaves it"},
		"a hard link out":             {pack(t, true, header{tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "../x"}, ""}), "leaves it"},
		"a file through a link":       {pack(t, true, symlink("a", "b"), file("a/x", "x")), "twice"},
		"a link to what it is in":     {pack(t, true, file("d/x", ""), symlink("d/up", "..")), "in"},
		"links that double":           {pack(t, true, grow...), "more than 100"},
		"links that cross":            {pack(t, true, cross...), ""},
		"a file twice":                {pack(t, true, file("a", "1"), file("a", "2")), "twice"},
		"a file and a directory":      {pack(t, true, file("a", "1"), file("a/b", "2")), "file and a directory"},
		"a device":                    {pack(t, true, header{tar.Header{Name: "a", Typeflag: tar.TypeChar}, ""}), "neither"},
		"a pipe":                      {pack(t, true, header{tar.Header{Name: "a", Typeflag: tar.TypeFifo}, ""}), "neither"},
		"many files":                  {pack(t, true, many...), "more than 100"},
		"deep directories":            {pack(t, true, file(strings.Repeat("d/", 20)+"x", "x")), "deeper"},
		"a large file":                {pack(t, false, file("a", strings.Repeat("x", 3<<20))), "2 MiB"},
		"many large files":            {pack(t, false, file("a", strings.Repeat("x", 2<<20)), file("b", strings.Repeat("x", 2<<20)), file("c", strings.Repeat("x", 2<<20))), "4 MiB"},
		"a bomb":                      {pack(t, true, file("a", strings.Repeat("\x00", 2<<20))), "100 times"},
		"nothing":                     {pack(t, true), "empty"},
		"no archive":                  {[]byte("<html>404</html>" + strings.Repeat(" ", 1000)), "tar archive"},
		"no tar inside":               {zip([]byte(strings.Repeat("Zaubernuss", 100))), "tar archive"},
		"an archive without its end":  {pack(t, true, file("a", strings.Repeat("abc", 1000)))[:60], "tar archive"},
		"an empty answer":             {nil, "empty"},
		"a name that is not readable": {pack(t, true, file("a\xff", "x")), "not valid"},
	} {
		dir := t.TempDir()
		_, _, err := store(t, dir, 0).Unpack("key", bytes.NewReader(c.raw), "", limits)
		if !errors.Is(err, archive.ErrArchive) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %v with %q", name, err, archive.ErrArchive, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v was left behind", name, left)
		}
	}
}

func zip(raw []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(raw)
	_ = z.Close()
	return b.Bytes()
}

func TestAnotherDigestIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	raw := pack(t, true, file("a", "1"))
	for name, sent := range map[string][]byte{"other content": pack(t, true, file("a", "2")), "more after the end": append(bytes.Clone(raw), 'x')} {
		_, _, err := store(t, dir, 0).Unpack("key", bytes.NewReader(sent), digestOf(raw), archive.Limits{})
		if !errors.Is(err, archive.ErrDigest) {
			t.Errorf("%s: %v, want %v", name, err, archive.ErrDigest)
		}
	}
	if _, ok := store(t, dir, 0).Tree("key"); ok {
		t.Error("it was kept")
	}
}

func TestAConnectionThatBreaksIsNotTheArchivesFault(t *testing.T) {
	t.Parallel()
	raw := pack(t, true, file("a", strings.Repeat("abcdefgh", 10_000)))
	broken := errors.New("the connection broke")
	from := io.MultiReader(bytes.NewReader(raw[:len(raw)/2]), iotest.ErrReader(broken))
	if _, _, err := store(t, t.TempDir(), 0).Unpack("key", from, "", archive.Limits{}); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

func TestTheStoreOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	raw := pack(t, true, file("a", "1"))
	one, two := store(t, dir, 0), store(t, dir, 0) // as two processes have it
	if _, _, err := one.Unpack("key", bytes.NewReader(raw), "", archive.Limits{}); err != nil {
		t.Fatal(err)
	}
	tree, ok := two.Tree("key")
	if !ok || read(t, tree, "a") != "1" {
		t.Fatal("the other process does not have it")
	}
	two.Remove("key")
	if read(t, tree, "a") != "1" {
		t.Error("a tree that is in use went away")
	}
	if _, ok := store(t, dir, 0).Tree("key"); ok {
		t.Error("it was not removed")
	}
}

func TestWhatIsDamagedOnDiskIsNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := store(t, dir, 0)
	raw := pack(t, true, file("a", "12345678"))
	tree, _, err := s.Unpack("key", bytes.NewReader(raw), "", archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	list, _ := os.ReadDir(dir)
	f, err := os.OpenFile(filepath.Join(dir, list[0].Name()), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("X"), 3); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if _, err := tree.ReadFile("a"); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("%v, want %v", err, archive.ErrDamaged)
	}
	if _, ok := s.Tree("key"); ok {
		t.Error("the store still gives it out")
	}
	if _, _, err := s.Unpack("key", bytes.NewReader(raw), "", archive.Limits{}); err != nil {
		t.Fatal(err)
	}
	tree, _ = s.Tree("key")
	if read(t, tree, "a") != "12345678" {
		t.Error("it was not made good")
	}
	name := filepath.Join(dir, list[0].Name())
	info, _ := os.Stat(name)
	if err := os.Truncate(name, info.Size()-1); err != nil {
		t.Fatal(err)
	}
	if _, ok := store(t, dir, 0).Tree("key"); ok {
		t.Error("a file that lacks its end is given out")
	}
}

func TestWhatWasUsedLongestAgoGoesFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := store(t, dir, 3000)
	at := time.Now().Add(-24 * time.Hour)
	for i := range 5 {
		key := fmt.Sprint("key", i)
		if _, _, err := s.Unpack(key, bytes.NewReader(pack(t, true, file("a", strings.Repeat(fmt.Sprint(i), 500)))), "", archive.Limits{}); err != nil {
			t.Fatal(err)
		}
		age(t, dir, at.Add(time.Duration(i)*time.Hour))
		if i > 0 {
			if f, err := store(t, dir, 3000).Read("key0"); err == nil { // it is used all the time
				_ = f.Close()
			}
		}
	}
	fresh := store(t, dir, 3000)
	has := func(key string) bool { _, ok := fresh.Tree(key); return ok }
	if _, bytes := fresh.Size(); bytes > 3000 {
		t.Errorf("%d bytes are kept", bytes)
	}
	if !has("key0") || !has("key4") || has("key1") {
		t.Errorf("key0 %v, key1 %v, key4 %v", has("key0"), has("key1"), has("key4"))
	}
}

// age makes all files that were written just now as old as at.
func age(t testing.TB, dir string, at time.Time) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) < time.Hour {
			if err := os.Chtimes(filepath.Join(dir, e.Name()), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack(f, true, file("a/b", "1"), symlink("c", "a")))
	f.Add(pack(f, false, file("a", "1"), symlink("b", "../a"), symlink("c", "c")))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := store(t, dir, 0)
		tree, _, err := s.Unpack("key", bytes.NewReader(raw), "", archive.Limits{Bytes: 1 << 20, Files: 100})
		if err != nil {
			return
		}
		var walk func(string)
		walk = func(name string) {
			entries, err := tree.ReadDir(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				full := strings.TrimPrefix(name+"/"+e.Name, "./")
				if !fs.ValidPath(full) {
					t.Fatalf("%q is listed", full)
				}
				if e.IsDir() {
					walk(full)
				} else if e.Mode&fs.ModeSymlink == 0 {
					read(t, tree, full)
				}
			}
		}
		walk(".")
	})
}
