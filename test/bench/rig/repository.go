package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/gitserve"
	"github.com/slipway-gitops/slipway/test/bench/corpus"
)

// Forge serves bare repositories over smart HTTP on loopback, from this process: what it costs is not the engine's.
type Forge struct {
	root   string
	url    string
	server *http.Server
	done   chan struct{}
}

// StartForge serves the repositories that NewRepository makes below dir.
func StartForge(dir string) (*Forge, error) {
	root := filepath.Join(dir, "git")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of repositories: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve repositories: %w", err)
	}
	f := &Forge{
		root:   root,
		url:    "http://" + listener.Addr().String(),
		server: &http.Server{Handler: &gitserve.Handler{Root: root, ReadOnly: true}, ReadHeaderTimeout: time.Minute},
		done:   make(chan struct{}),
	}
	go func() {
		defer close(f.done)
		// It only ever ends because Close ends it.
		_ = f.server.Serve(listener)
	}()
	return f, nil
}

// Close stops serving.
func (f *Forge) Close() {
	_ = f.server.Close()
	<-f.done
}

// Repository is one bare repository with one branch, main.
type Repository struct {
	// URL is where engines fetch it.
	URL  string
	dir  string
	head string
}

// NewRepository makes an empty repository. The name must be new.
func (f *Forge) NewRepository(ctx context.Context, name string) (*Repository, error) {
	r := &Repository{URL: f.url + "/bench/" + name + ".git", dir: filepath.Join(f.root, "bench", name+".git")}
	if _, err := os.Stat(r.dir); !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("make repository %s: it is there already", name)
	}
	out, err := exec.CommandContext(ctx, "git", "init", "--quiet", "--bare", "--initial-branch=main", r.dir).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("make repository %s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	return r, nil
}

// Push is what one commit did to a repository.
type Push struct {
	Before, After string
	Paths         []string
	// At is when the branch had moved.
	At time.Time
}

// Commit writes files on top of main in one commit and moves the branch: to a client that fetches, that is a push.
func (r *Repository) Commit(ctx context.Context, message string, files []corpus.File) (Push, error) {
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Bench <bench@example.org> %d +0000\ndata %d\n%s\n",
		time.Now().Unix(), len(message), message)
	if r.head != "" {
		fmt.Fprintf(&stream, "from %s\n", r.head)
	}
	push := Push{Before: r.head}
	for _, f := range files {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", f.Path, len(f.Data), f.Data)
		push.Paths = append(push.Paths, f.Path)
	}
	stream.WriteString("\ndone\n")
	load := exec.CommandContext(ctx, "git", "--git-dir", r.dir, "fast-import", "--quiet", "--done")
	load.Stdin = &stream
	if out, err := load.CombinedOutput(); err != nil {
		return Push{}, fmt.Errorf("commit to %s: %w: %s", r.URL, err, bytes.TrimSpace(out))
	}
	push.At = time.Now()
	out, err := exec.CommandContext(ctx, "git", "--git-dir", r.dir, "rev-parse", "refs/heads/main").Output()
	if err != nil {
		return Push{}, fmt.Errorf("read head of %s: %w", r.URL, err)
	}
	r.head = strings.TrimSpace(string(out))
	push.After = r.head
	return push, nil
}

// Head is the commit that main is at.
func (r *Repository) Head() string { return r.head }
