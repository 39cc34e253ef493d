// Package helmrepo reads Helm repositories over HTTP: an index of charts and their archives. The index stays on disk, however large
// it is; in memory are the names of the charts, and the versions of those that are asked for.
package helmrepo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

const (
	maxArchive = 100 << 20       // bytes of an archive as it is sent
	lookAge    = 5 * time.Second // an index that is older is asked for again before it is shown
	maxTime    = 10 * time.Minute
	maxListed  = 500 // charts whose versions are kept in memory
)

// Options configure a Repo.
type Options struct {
	Policy *outward.Policy
	Store  *archive.Store
	Limits archive.Limits // of an archive
	// SameHost refuses redirects to other hosts, for a caller that may only look at this one.
	SameHost bool
	// Elsewhere opens an archive whose address is neither http nor https, as those in OCI registries; nil: that is an error.
	Elsewhere func(ctx context.Context, address *url.URL, chart, version string) (io.ReadCloser, error)
}

// Repo is one Helm repository as seen with one access. It is safe for concurrent use.
type Repo struct {
	web  *web.Client
	opts Options
	turn chan struct{} // holds one token: the right to ask for the index

	mu    sync.Mutex
	index *index // nil until one was read
}

var (
	_ artifact.Remote    = (*Repo)(nil)
	_ artifact.Recalling = (*Repo)(nil)
	_ artifact.Listing   = (*Repo)(nil)
	_ artifact.Proven    = (*Repo)(nil)
)

// New makes a Repo for an address. Nothing is asked of it yet: an error means that address or access can never work.
func New(address string, a web.Access, o Options) (*Repo, error) {
	client, err := web.Open(address, o.Policy, a, web.Options{Bytes: maxIndex, SameHost: o.SameHost})
	if err != nil {
		return nil, err
	}
	return &Repo{web: client, opts: o, turn: make(chan struct{}, 1)}, nil
}

// URL is the address without user information, spelled one way.
func (r *Repo) URL() string { return web.Shown(r.web.Home()) }

// Scope identifies (address, access) without revealing the access.
func (r *Repo) Scope() string { return r.web.Scope() }

// Close ends the connections that are kept open.
func (r *Repo) Close() { r.web.Close() }

// Find implements artifact.Remote.
func (r *Repo) Find(ctx context.Context, rev artifact.Revision, since time.Time) (artifact.Found, error) {
	x, err := r.current(ctx, since)
	if err != nil {
		return artifact.Found{}, err
	}
	return r.findIn(x, rev)
}

// Recall implements artifact.Recalling: it answers from the index on disk.
func (r *Repo) Recall(rev artifact.Revision) (artifact.Found, bool) {
	x := r.remembered()
	if x == nil {
		return artifact.Found{}, false
	}
	f, err := r.findIn(x, rev)
	return f, err == nil
}

func (r *Repo) findIn(x *index, rev artifact.Revision) (artifact.Found, error) {
	v, err := x.versions(rev.Chart)
	if err != nil {
		return artifact.Found{}, r.about(err)
	}
	version, err := artifact.Choose(rev.Version, v.names)
	if err != nil {
		return artifact.Found{}, fmt.Errorf("%s: chart %s: %w", r.URL(), legible.Line(rev.Chart, 80), err)
	}
	e, _, err := x.entry(rev.Chart, version)
	if err != nil {
		return artifact.Found{}, r.about(err)
	}
	if e.digest != "" && !isDigest(e.digest) {
		return artifact.Found{}, r.about(wrong("the digest of %s %s is malformed: write the index with helm repo index",
			legible.Line(rev.Chart, 80), legible.Line(version, 40)))
	}
	return artifact.Found{Version: version, Digest: e.digest}, nil
}

// about names the repository in an error.
func (r *Repo) about(err error) error {
	if err == nil || errors.As(err, new(*web.Error)) {
		return err
	}
	return fmt.Errorf("%s: %w", r.URL(), err)
}

func isDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, "sha256:")
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}

// Fetch implements artifact.Remote.
func (r *Repo) Fetch(ctx context.Context, chart string, f artifact.Found) (source.Tree, error) {
	key := strings.Join([]string{"chart", r.Scope(), chart, f.Version, f.Digest}, "\n")
	if tree, ok := r.opts.Store.Tree(key); ok && f.Digest != "" {
		return rooted(tree, chart, f.Version)
	}
	x, err := r.current(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	e, raw, err := x.entry(chart, f.Version)
	if err != nil {
		return nil, r.about(err)
	}
	if e.digest != f.Digest {
		return nil, fmt.Errorf("%s: chart %s: %w: %s has been published again: refresh", r.URL(), chart, artifact.ErrNoVersion, f.Version)
	}
	if f.Digest == "" { // what the index has of it stands for the content
		sum := sha256.Sum256(raw)
		key += hex.EncodeToString(sum[:])
		if tree, ok := r.opts.Store.Tree(key); ok && tree.Archive() != "" {
			return rooted(tree, chart, f.Version)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	body, err := r.open(ctx, chart, e)
	if err != nil {
		return nil, r.about(err)
	}
	defer func() { _ = body.Close() }()
	tree, _, err := r.opts.Store.Unpack(key, &limited{body, maxArchive}, f.Digest, r.opts.Limits)
	if err != nil {
		return nil, r.about(fmt.Errorf("chart %s %s: %w", chart, f.Version, err))
	}
	return rooted(tree, chart, f.Version)
}

// open asks for the archive of a version.
func (r *Repo) open(ctx context.Context, chart string, e entry) (io.ReadCloser, error) {
	at, err := r.address(chart, e)
	if err != nil {
		return nil, err
	}
	if at.Scheme == "oci" {
		return r.opts.Elsewhere(ctx, at, chart, e.version)
	}
	return r.get(ctx, at)
}

// address is where the archive of a version is.
func (r *Repo) address(chart string, e entry) (*url.URL, error) {
	if len(e.urls) == 0 {
		return nil, wrong("%s %s has no address: publish it again", chart, e.version)
	}
	at, err := r.resolve(e.urls[0])
	if err != nil {
		return nil, wrong("the address of %s %s is not valid: publish it again", chart, e.version)
	}
	if at.Scheme != "https" && at.Scheme != "http" && (at.Scheme != "oci" || r.opts.Elsewhere == nil) {
		return nil, wrong("the archive of %s %s is at an address with the scheme %.20q: only http and https are read", chart, e.version,
			at.Scheme)
	}
	return at, nil
}

// get asks for an archive, or what is beside it.
func (r *Repo) get(ctx context.Context, at *url.URL) (io.ReadCloser, error) {
	resp, err := r.web.Get(ctx, at, nil)
	if err != nil {
		if (errors.Is(err, web.ErrAuth) || errors.Is(err, web.ErrDenied)) && !r.web.Sends(at) {
			err = fmt.Errorf("%w; the credential of the repository is not sent there, because it is for another address: add a credential template "+
				`whose url contains both, or set passCredentials: "true" where the credential is`, err)
		}
		return nil, err
	}
	return resp.Body, nil
}

// resolve reads the address of an archive, which may be relative to the repository. Below it, a query of the repository's address is
// kept, as Helm does: it may be what authorizes the request.
func (r *Repo) resolve(address string) (*url.URL, error) {
	to, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if to.IsAbs() {
		return to, nil
	}
	base := r.web.Home()
	query := base.RawQuery
	base.Path, base.RawPath = base.Path+"/", ""
	out := base.ResolveReference(to)
	if query != "" && web.Below(out, r.web.Home()) {
		out.RawQuery = query
	}
	return out, nil
}

// limited ends an archive that is too long.
type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("%w: it has more than %d MiB", archive.ErrArchive, maxArchive>>20)
	}
	return n, err
}

// rooted is the directory of the chart in its archive: the one that has its name, else the only one with a Chart.yaml.
func rooted(tree *archive.Tree, chart, version string) (source.Tree, error) {
	tree = tree.At(version)
	tops, err := tree.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range tops {
		if e.IsDir() && has(tree, e.Name+"/Chart.yaml") {
			found = append(found, e.Name)
		}
	}
	switch name := path.Base(chart); {
	case slices.Contains(found, name):
		return tree.Sub(name)
	case len(found) == 1:
		return tree.Sub(found[0])
	}
	return nil, fmt.Errorf("chart %s %s: %w: it has no directory %.80q with a Chart.yaml: package it with helm package",
		chart, version, archive.ErrArchive, path.Base(chart))
}

func has(tree *archive.Tree, name string) bool {
	e, err := tree.Stat(name)
	return err == nil && !e.IsDir()
}

// Charts implements artifact.Listing.
func (r *Repo) Charts(ctx context.Context, search string, most int) (names []string, more bool, err error) {
	x, err := r.current(ctx, time.Now().Add(-lookAge))
	if err != nil {
		return nil, false, err
	}
	for name := range x.table.charts {
		if strings.Contains(strings.ToLower(name), strings.ToLower(search)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), most)], len(names) > most, nil
}

// Releases implements artifact.Listing.
func (r *Repo) Releases(ctx context.Context, chart string, most int) (artifact.Releases, error) {
	x, err := r.current(ctx, time.Now().Add(-lookAge))
	if err != nil {
		return artifact.Releases{}, err
	}
	v, err := x.versions(chart)
	if err != nil {
		return artifact.Releases{}, r.about(err)
	}
	names := slices.Clone(v.names)
	artifact.Newest(names)
	names = slices.Compact(names)
	out := artifact.Releases{Truncated: len(names) > most}
	for _, name := range names[:min(len(names), most)] {
		if e, _, err := x.entry(chart, name); err == nil {
			e.version = name
			out.Versions = append(out.Versions, e.release())
		}
	}
	return out, nil
}
