package bundle_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/render/bundle"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// looped is a tree of one file, and of directories without an end: each of two links leads back to where it is.
func looped(t *testing.T) source.Tree {
	t.Helper()
	repo := testenv.Git(t).NewRepo("r")
	commit := repo.Apply("main", "all", testenv.Change{Path: "file", Content: "x"},
		testenv.Change{Path: "loop/a", Mode: "120000", Content: "."}, testenv.Change{Path: "loop/b", Mode: "120000", Content: "."})
	c, err := git.New(t.Context(), git.Options{Dir: t.TempDir(), AllowFile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	r, err := gitsource.NewPool(c, gitsource.PoolOptions{}).Get(repo.FileURL(), git.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.Tree(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// sink counts what it gets, and calls on at each directory.
type sink struct {
	dirs, files int
	on          func()
}

func (s *sink) Dir(string) error {
	s.dirs++
	if s.on != nil {
		s.on()
	}
	return nil
}

func (s *sink) File(string, fs.FileMode, []byte) error {
	s.files++
	return nil
}

func TestLinksThatLeadBackMakeNoEndlessTree(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got sink
	if err := bundle.Read(ctx, looped(t), nil, &got); !errors.Is(err, document.ErrLimit) {
		t.Errorf("%v after %d directories", err, got.dirs)
	}
	if got.dirs > 50_000 {
		t.Errorf("it gives %d directories", got.dirs)
	}
	got = sink{}
	if err := bundle.Read(ctx, looped(t), []string{"loop/a", "loop/b"}, &got); err != nil || got.dirs != 1 || got.files != 1 {
		t.Errorf("without the links: %v, %+v", err, got)
	}
}

func TestAReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := sink{on: cancel}
	if err := bundle.Read(ctx, looped(t), nil, &got); !errors.Is(err, context.Canceled) || got.dirs != 1 || got.files > 1 {
		t.Errorf("%v, %+v", err, got)
	}
}
