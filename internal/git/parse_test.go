package git

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const sampleCommit = `tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904
parent 1111111111111111111111111111111111111111
author Ann Ä <ann@example.com> 1700000000 +0130
committer Bob <bob@example.com> 1700000001 -0500
gpgsig -----BEGIN SSH SIGNATURE-----
 abc

 -----END SSH SIGNATURE-----

subject

body
`

func TestACommitIsReadWithItsSignature(t *testing.T) {
	t.Parallel()
	// An empty line inside a header is one blank.
	raw := strings.Replace(sampleCommit, "abc\n\n", "abc\n \n", 1)
	c, err := parseCommit([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %v\n%s|%s|%s\n%s|%s\n%q\n%q", c.Tree, c.Parents, c.Author.Name, c.Author.Email,
		c.Author.When.Format(time.RFC3339), c.Committer.Name, c.Committer.When.Format(time.RFC3339), c.Message, c.Signature)
	want := `4b825dc642cb6eb9a060e54bf8d69288fbee4904 [1111111111111111111111111111111111111111]
Ann Ä|ann@example.com|2023-11-14T23:43:20+01:30
Bob|2023-11-14T17:13:21-05:00
"subject\n\nbody\n"
"-----BEGIN SSH SIGNATURE-----\nabc\n\n-----END SSH SIGNATURE-----\n"`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("commit (-want +got):\n%s", d)
	}
	before, rest, _ := strings.Cut(raw, "gpgsig")
	_, after, _ := strings.Cut(rest, "END SSH SIGNATURE-----\n")
	if d := cmp.Diff(before+after, string(c.Signed)); d != "" {
		t.Errorf("what was signed (-want +got):\n%s", d)
	}
	twice := strings.Replace(raw, "\n\nsubject", "\ngpgsig second\n\nsubject", 1)
	if _, err := parseCommit([]byte(twice)); err == nil {
		t.Error("a commit with two signatures is accepted")
	}
}

func FuzzObjects(f *testing.F) {
	f.Add([]byte(sampleCommit))
	f.Add([]byte("100644 a\x0001234567890123456789" + "40000 a.b\x0001234567890123456789"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = parseCommit(data) // must not panic
		_ = parseRefs(data)
		l, err := parseTree(data)
		if err != nil {
			return
		}
		for i, e := range l {
			if got, ok := l.Find(e.Name); !ok || got != e {
				t.Errorf("entry %q is not found", e.Name)
			}
			if strings.ContainsAny(e.Name, "/\x00") || e.Name == "" || i > 0 && l[i-1].Name >= e.Name {
				t.Errorf("entry %q is out of place", e.Name)
			}
		}
	})
}

func TestTheTreeCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := newTreeCache(100)
	for i := range 20 {
		c.put(treeKey{0, ID{byte(i)}}, Listing{}, 30)
		c.get(treeKey{0, ID{0}})
	}
	if c.used > 100 || len(c.items) != 3 || c.order.Len() != 3 {
		t.Errorf("cache holds %d bytes in %d trees", c.used, len(c.items))
	}
	if _, ok := c.get(treeKey{0, ID{0}}); !ok {
		t.Error("the tree that was used all the time is gone")
	}
	if _, ok := c.get(treeKey{1, ID{0}}); ok {
		t.Error("a tree of one mirror is served for another")
	}
}
