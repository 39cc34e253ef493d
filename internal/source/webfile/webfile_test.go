package webfile_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/source/webfile"
)

// server gives out one file, and counts how often it sent it whole.
type server struct {
	mu      sync.Mutex
	content string
	etag    string
	status  int
	sent    int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("ETag", s.etag)
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
	case s.etag != "" && r.Header.Get("If-None-Match") == s.etag:
		w.WriteHeader(http.StatusNotModified)
	default:
		s.sent++
		_, _ = w.Write([]byte(s.content))
	}
}

func (s *server) set(content, etag string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content, s.etag, s.status = content, etag, status
}

func (s *server) wholes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func open(t *testing.T, s *server) *webfile.File {
	t.Helper()
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	allow, err := outward.ReadList([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := webfile.New(at.URL+"/values.yaml", &outward.Policy{Allow: allow}, web.Access{}, "content")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func TestAFileIsSentOnceWhileItIsTheSame(t *testing.T) {
	t.Parallel()
	s := &server{content: "a: 1", etag: `"1"`}
	f := open(t, s)
	read := func() string {
		t.Helper()
		found, err := f.Find(t.Context(), artifact.Revision{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		tree, err := f.Fetch(t.Context(), "", found)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := tree.ReadFile("content")
		if err != nil || tree.Revision() != found.Digest {
			t.Fatalf("the tree is at %s, %v", tree.Revision(), err)
		}
		return string(raw)
	}
	if got := read() + read(); got != "a: 1a: 1" || s.wholes() != 1 {
		t.Errorf("it is %q, and was sent %d times", got, s.wholes())
	}
	s.set("a: 2", `"2"`, 0)
	if got := read(); got != "a: 2" || s.wholes() != 2 {
		t.Errorf("it is %q, and was sent %d times", got, s.wholes())
	}
	s.set("", "", 0) // an empty file without an ETag
	if got := read() + read(); got != "" || s.wholes() != 4 {
		t.Errorf("it is %q, and was sent %d times", got, s.wholes())
	}
}

func TestAnOldContentIsThereForTheTurnThatFoundIt(t *testing.T) {
	t.Parallel()
	s := &server{content: "a: 1"}
	f := open(t, s)
	first, err := f.Find(t.Context(), artifact.Revision{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.set("a: 2", "", 0)
	if _, err := f.Find(t.Context(), artifact.Revision{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	tree, err := f.Fetch(t.Context(), "", first)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := tree.ReadFile("content"); string(raw) != "a: 1" || err != nil {
		t.Errorf("it is %q, %v", raw, err)
	}
	if _, err := tree.ReadFile("other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another file: %v", err)
	}
}

func TestWhatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server *server
		is     error
		says   string
	}{
		"missing":   {&server{status: http.StatusNotFound}, artifact.ErrNoVersion, "not found"},
		"refused":   {&server{status: http.StatusForbidden}, web.ErrDenied, "credential"},
		"too large": {&server{content: strings.Repeat("a", 5<<20+1)}, nil, "5 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, c.server).Find(t.Context(), artifact.Revision{}, time.Now())
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
