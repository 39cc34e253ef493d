// Package webfile reads single files over HTTP: value files and manifests that are named by a URL. The content is asked for
// again with its ETag, so a file that did not change is not sent again.
package webfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

const (
	maxFile  = 5 << 20         // bytes of a file
	maxTime  = 2 * time.Minute // for one answer
	maxKept  = 3               // contents of one file: the present one, and those that turns under way may ask for
	maxETags = 256             // bytes of an ETag
)

// File is one file by URL, as seen with one access. It is safe for concurrent use.
type File struct {
	web  *web.Client
	name string // of the file in its trees
	turn chan struct{}

	mu   sync.Mutex
	etag string
	last artifact.Found
	at   time.Time // when it was last asked for
	kept []*tree   // newest first
}

var _ artifact.Remote = (*File)(nil)

// New makes a File; name is that of the file in its trees. Nothing is asked of the server yet.
func New(address string, policy *outward.Policy, a web.Access, name string) (*File, error) {
	client, err := web.Open(address, policy, a, web.Options{Bytes: maxFile})
	if err != nil {
		return nil, err
	}
	return &File{web: client, name: name, turn: make(chan struct{}, 1)}, nil
}

// URL is the address without user information, spelled one way.
func (f *File) URL() string { return web.Shown(f.web.Home()) }

// Scope identifies (address, access) without revealing the access.
func (f *File) Scope() string { return "file " + f.web.Scope() }

// Close ends the connections that are kept open.
func (f *File) Close() { f.web.Close() }

// Find implements artifact.Remote: a file has one version, which is its digest.
func (f *File) Find(ctx context.Context, _ artifact.Revision, since time.Time) (artifact.Found, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return artifact.Found{}, context.Cause(ctx)
	}
	f.mu.Lock()
	last, at, etag := f.last, f.at, f.etag
	f.mu.Unlock()
	if last.Digest != "" && at.After(since) {
		return last, nil
	}
	began := time.Now()
	content, etag, err := f.ask(ctx, etag)
	if err != nil {
		return artifact.Found{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = began
	if content == nil {
		return f.last, nil
	}
	sum := sha256.Sum256(content)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	f.etag, f.last = etag, artifact.Found{Version: digest, Digest: digest}
	if len(f.kept) == 0 || f.kept[0].digest != digest {
		f.kept = append([]*tree{{name: f.name, digest: digest, content: content}}, f.kept[:min(len(f.kept), maxKept-1)]...)
	}
	return f.last, nil
}

// ask asks for the file. It returns nil where the server answers that it is the one with the ETag.
func (f *File) ask(ctx context.Context, etag string) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	header := http.Header{}
	if etag != "" {
		header.Set("If-None-Match", etag)
	}
	resp, err := f.web.Get(ctx, f.web.Home(), header)
	if err != nil {
		return nil, "", absent(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified {
		return nil, "", nil
	}
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, "", err
	}
	if etag = resp.Header.Get("ETag"); len(etag) > maxETags {
		etag = ""
	}
	if content == nil {
		content = []byte{}
	}
	return content, etag, nil
}

// absent marks the answer that there is no such file.
func absent(err error) error {
	var answer *web.Error
	if errors.As(err, &answer) && errors.Is(err, web.ErrNotFound) {
		return fmt.Errorf("%w: %w", artifact.ErrNoVersion, err)
	}
	return err
}

// Fetch implements artifact.Remote.
func (f *File) Fetch(_ context.Context, _ string, found artifact.Found) (source.Tree, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.kept {
		if t.digest == found.Digest {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: the content %.19s is not at hand any more: refresh the application", f.URL(), found.Digest)
}

// tree is a directory with one file.
type tree struct {
	name, digest string
	content      []byte
}

var _ source.Tree = (*tree)(nil)

// Revision is the digest of the file.
func (t *tree) Revision() string { return t.digest }

// ReadFile returns the content.
func (t *tree) ReadFile(name string) ([]byte, error) {
	if name != t.name {
		return nil, missing(name)
	}
	return t.content, nil
}

// ReadDir lists the file.
func (t *tree) ReadDir(name string) ([]source.Entry, error) {
	if name != "." {
		return nil, missing(name)
	}
	return []source.Entry{{Name: t.name, Size: int64(len(t.content))}}, nil
}

// Stat describes the file or the directory.
func (t *tree) Stat(name string) (source.Entry, error) {
	switch name {
	case ".":
		return source.Entry{Name: ".", Mode: fs.ModeDir, Size: -1}, nil
	case t.name:
		return source.Entry{Name: t.name, Size: int64(len(t.content))}, nil
	}
	return source.Entry{}, missing(name)
}

// Sum is the digest.
func (t *tree) Sum(name string) (string, error) {
	if name != "." && name != t.name {
		return "", missing(name)
	}
	return t.digest, nil
}

// ListSum is the same for every file.
func (t *tree) ListSum(name string) (string, error) {
	if name != "." {
		return "", missing(name)
	}
	return t.name, nil
}

func missing(name string) error { return fmt.Errorf("%s: %w", name, fs.ErrNotExist) }
