package helmrepo

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// index is an index on disk.
type index struct {
	file  *os.File // closed when nothing refers to it any more
	table table
	tag   tag
	asked time.Time // when the last request began that it is the answer to; zero for one of an earlier process

	mu     *sync.Mutex
	listed map[string]versions
}

// tag identifies an index for a conditional request, and its content.
type tag struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	Digest       string `json:"digest"`
}

// asOf is the index as the answer to another request.
func (x *index) asOf(asked time.Time) *index {
	out := *x
	out.asked = asked
	return &out
}

// versions lists the versions of a chart.
func (x *index) versions(chart string) (versions, error) {
	at, ok := x.table.charts[chart]
	if !ok {
		return versions{}, fmt.Errorf("%w: the repository has no chart %q: check the name", artifact.ErrNoVersion, legible.Line(chart, 80))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if v, ok := x.listed[chart]; ok {
		return v, nil
	}
	v, err := x.table.list(io.NewSectionReader(x.file, at.at, at.size), at.at)
	if err != nil {
		return versions{}, err
	}
	if len(x.listed) >= maxListed {
		clear(x.listed)
	}
	x.listed[chart] = v
	return v, nil
}

// entry reads what the index has of a version, and returns its text as well.
func (x *index) entry(chart, version string) (entry, []byte, error) {
	v, err := x.versions(chart)
	if err != nil {
		return entry{}, nil, err
	}
	i := slices.Index(v.names, version)
	if i < 0 {
		return entry{}, nil, fmt.Errorf("%w: chart %s has no version %s any more", artifact.ErrNoVersion, legible.Line(chart, 80),
			legible.Line(version, 40))
	}
	raw := make([]byte, v.spans[i].size)
	if _, err := x.file.ReadAt(raw, v.spans[i].at); err != nil {
		return entry{}, nil, fmt.Errorf("read cached index: %w", err)
	}
	e, err := x.table.entry(raw)
	return e, raw, err
}

func (r *Repo) indexKey() string { return "index\n" + r.Scope() }
func (r *Repo) tagKey() string   { return "index tag\n" + r.Scope() }

// current returns the index as it was asked for after since; callers that come together share one request. A zero since takes any.
func (r *Repo) current(ctx context.Context, since time.Time) (*index, error) {
	if x := r.known(since); x != nil {
		return x, nil
	}
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-r.turn }()
	if x := r.known(since); x != nil {
		return x, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	before := r.onDisk()
	began := time.Now()
	x, err := r.ask(ctx, before, began)
	if err != nil {
		return nil, r.about(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index = x
	return x, nil
}

// known returns the index in memory, where it is new enough.
func (r *Repo) known(since time.Time) *index {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index == nil || !r.index.asked.After(since) {
		return nil
	}
	return r.index
}

// remembered returns the newest index at hand, however old; nil where there is none.
func (r *Repo) remembered() *index {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
		return r.onDisk()
	default: // another caller asks the repository, which may take long
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.index
	}
}

// onDisk returns the index that is at hand, from memory or from an earlier process. The turn is held.
func (r *Repo) onDisk() *index {
	r.mu.Lock()
	x := r.index
	r.mu.Unlock()
	if x != nil {
		return x
	}
	x, err := r.load()
	if err != nil {
		return nil // it is asked for
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index = x
	return x
}

// load reads the index that an earlier process has left.
func (r *Repo) load() (*index, error) {
	var t tag
	f, err := r.opts.Store.Read(r.tagKey())
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxTag+1))
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	if err := strict.Decode(raw, &t, strict.Foreign); err != nil {
		return nil, err
	}
	return r.read(t, time.Time{})
}

// maxTag bounds what a server may send to identify an index, in bytes.
const maxTag = 4 << 10

// read makes an index of the file on disk, which must be what the tag says.
func (r *Repo) read(t tag, asked time.Time) (*index, error) {
	f, err := r.opts.Store.Read(r.indexKey())
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	found, err := scan(io.TeeReader(f, sum))
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if hex.EncodeToString(sum.Sum(nil)) != t.Digest {
		_ = f.Close()
		return nil, errors.New("cached index is not what it was")
	}
	return &index{file: f, table: found, tag: t, asked: asked, mu: &sync.Mutex{}, listed: map[string]versions{}}, nil
}

// ask asks for the index, and takes the one before where it is still the same.
func (r *Repo) ask(ctx context.Context, before *index, began time.Time) (*index, error) {
	at := r.web.Home()
	at.Path, at.RawPath = at.Path+"/index.yaml", ""
	header := http.Header{"Accept-Encoding": {"gzip"}}
	if before != nil {
		if before.tag.ETag != "" {
			header.Set("If-None-Match", before.tag.ETag)
		}
		if before.tag.LastModified != "" {
			header.Set("If-Modified-Since", before.tag.LastModified)
		}
	}
	resp, err := r.web.Get(ctx, at, header)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotModified {
		if before == nil {
			return nil, &web.Error{Kind: web.ErrAnswer, URL: web.Shown(at), Hint: "the server answers that nothing has changed to a first request"}
		}
		return before.asOf(began), nil
	}
	return r.keep(resp, at, before, began)
}

// keep writes an index to disk.
func (r *Repo) keep(resp *http.Response, at *url.URL, before *index, began time.Time) (*index, error) {
	t := tag{ETag: bounded(resp.Header.Get("ETag")), LastModified: bounded(resp.Header.Get("Last-Modified"))}
	body := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, wrong("it is not packed as the server says")
		}
		body = z
	}
	var found table
	err := r.opts.Store.Write(r.indexKey(), func(f *os.File) (err error) {
		sum := sha256.New()
		in := &counting{from: io.TeeReader(body, io.MultiWriter(f, sum)), at: at}
		found, err = scan(in)
		t.Digest = hex.EncodeToString(sum.Sum(nil))
		return err
	})
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		err = wrong("it is not packed as the server says")
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	if err := r.opts.Store.Write(r.tagKey(), func(f *os.File) error { _, err := f.Write(raw); return err }); err != nil {
		return nil, err
	}
	if before != nil && before.tag.Digest == t.Digest {
		before = before.asOf(began)
		before.tag = t
		return before, nil
	}
	f, err := r.opts.Store.Read(r.indexKey())
	if err != nil {
		return nil, err
	}
	return &index{file: f, table: found, tag: t, asked: began, mu: &sync.Mutex{}, listed: map[string]versions{}}, nil
}

// bounded is a header that is sent back; one that is too long is not used.
func bounded(header string) string {
	if len(header) > maxTag/4 {
		return ""
	}
	return header
}

// counting ends an index that is too long once it is unpacked.
type counting struct {
	from io.Reader
	at   *url.URL
	n    int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.n += int64(n); c.n > maxIndex {
		return 0, web.TooLarge(c.at, maxIndex)
	}
	return n, err
}
