// Package oci reads Helm charts and other artifacts from OCI registries. A version is a tag that is resolved to a digest; everything
// that is fetched afterwards is verified by digest.
package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	maxHeads  = 2000      // tags whose digest is kept
	maxRecall = 64 << 10  // bytes of what is kept on disk about a version
	maxLayer  = 256 << 20 // bytes of a layer, packed
	fetchTime = 10 * time.Minute
)

// Options configure a Remote.
type Options struct {
	Address Address
	// Version is the tag or the digest that the address has; "" for none.
	Version string
	// Chart says that a Helm chart is expected: its version is the revision then, in place of the digest.
	Chart bool
	// Access is how the registry is reached and signed in to. Keeper, where it is not nil, has the secrets instead; Access.Identity
	// identifies them then.
	Access    web.Access
	Keeper    registrylogin.Keeper
	PlainHTTP bool // no TLS
	Outbound  *outward.Policy
	Store     *archive.Store
	// MediaTypes are those of layers that are unpacked, DefaultMediaTypes where there are none.
	MediaTypes []string
	Limits     archive.Limits
	Log        *slog.Logger
}

// Remote is one repository of a registry as seen with one credential. It is safe for concurrent use.
type Remote struct {
	opts     Options
	scope    string
	registry *registry
	store    *archive.Store
	log      *slog.Logger

	mu    sync.Mutex
	list  list
	read  time.Time // when the last good listing began
	heads map[string]head
	saved map[artifact.Revision]artifact.Found // what is on disk, as far as known
}

// head is what a tag stood for.
type head struct {
	digest string
	at     time.Time // when it was asked for
}

var (
	_ artifact.Remote    = (*Remote)(nil)
	_ artifact.Recalling = (*Remote)(nil)
	_ artifact.Listing   = (*Remote)(nil)
	_ artifact.Proven    = (*Remote)(nil)
	_ source.Explained   = (*tree)(nil)
)

// Open makes a Remote. Nothing is asked of the registry yet: an error means that address or access can never work.
func Open(o Options) (*Remote, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.MediaTypes) == 0 {
		o.MediaTypes = DefaultMediaTypes()
	}
	if o.Keeper == nil {
		o.Keeper = registrylogin.Fixed{Username: o.Access.Username, Password: o.Access.Password, Token: o.Access.Bearer}
	}
	reg, err := openRegistry(o.Address, o.Access, o.PlainHTTP, o.Outbound, o.Keeper)
	if err != nil {
		return nil, err
	}
	kind := "artifact"
	if o.Chart {
		kind = "chart"
	}
	return &Remote{
		opts: o, registry: reg, store: o.Store, log: o.Log, heads: map[string]head{}, saved: map[artifact.Revision]artifact.Found{},
		scope: fmt.Sprintf("%s@%s %s %t %v %s %s", o.Address, o.Version, kind, o.PlainHTTP, o.Limits,
			strings.Join(o.MediaTypes, ","), o.Access.Scope()),
	}, nil
}

// URL is the address with the name of the chart.
func (r *Remote) URL() string { return r.opts.Address.String() }

// Scope identifies (address, credential) without revealing the credential.
func (r *Remote) Scope() string { return r.scope }

// Find asks what a version stands for. A digest stands for itself. What can be a tag is looked for as one first, as in Argo CD;
// then the best of all tags is chosen.
func (r *Remote) Find(ctx context.Context, rev artifact.Revision, since time.Time) (artifact.Found, error) {
	version := strings.TrimSpace(rev.Version)
	if named := r.opts.Version; named != "" {
		if version != "" && version != named {
			return artifact.Found{}, fmt.Errorf("%w: the address names %s and targetRevision %q: leave one of them out",
				artifact.ErrNoVersion, named, legible.Line(version, 80))
		}
		version = named
	}
	if artifact.Pinned(version) {
		if !IsDigest(version) {
			return artifact.Found{}, fmt.Errorf("%w: %q is no whole digest: write sha256: and 64 digits", artifact.ErrNoVersion,
				legible.Line(version, 150))
		}
		return artifact.Found{Version: version, Digest: version}, nil
	}
	found, err := r.find(ctx, version, since)
	if err != nil {
		return artifact.Found{}, fmt.Errorf("%s: %w", r.URL(), err)
	}
	r.save(rev, found)
	return found, nil
}

func (r *Remote) find(ctx context.Context, version string, since time.Time) (artifact.Found, error) {
	if tag, ok := tagOf(version); ok {
		digest, err := r.head(ctx, tag, since)
		if err == nil {
			return foundAs(tag, digest), nil
		}
		if !errors.Is(err, artifact.ErrNoVersion) {
			return artifact.Found{}, err
		}
	}
	tags, err := r.tags(ctx, since)
	if err != nil {
		return artifact.Found{}, err
	}
	tag, err := artifact.Choose(version, tags)
	if err != nil {
		return artifact.Found{}, err
	}
	digest, err := r.head(ctx, tag, since)
	if err != nil {
		return artifact.Found{}, err
	}
	return foundAs(tag, digest), nil
}

// foundAs names what a tag stands for: by its version, whose content is not to change, or by the digest, where the tag is one that
// moves by convention.
func foundAs(tag, digest string) artifact.Found {
	version := versionOf(tag)
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err != nil {
		version = digest
	}
	return artifact.Found{Version: version, Digest: digest}
}

// head is what a tag stands for, as learned after since.
func (r *Remote) head(ctx context.Context, tag string, since time.Time) (string, error) {
	r.mu.Lock()
	known, ok := r.heads[tag]
	r.mu.Unlock()
	if ok && !since.IsZero() && known.at.After(since) {
		return known.digest, nil
	}
	began := time.Now()
	digest, err := r.registry.digestOf(ctx, tag)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.heads) >= maxHeads {
		clear(r.heads)
	}
	r.heads[tag] = head{digest, began}
	return digest, nil
}

// tags are those of the repository, as learned after since. The caller must not change them.
func (r *Remote) tags(ctx context.Context, since time.Time) ([]string, error) {
	r.mu.Lock()
	before, at := r.list, r.read
	r.mu.Unlock()
	if !at.IsZero() && !since.IsZero() && at.After(since) {
		return before.tags, nil
	}
	began := time.Now()
	got, err := r.registry.tags(ctx, before)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list, r.read = got, began
	return got.tags, nil
}

// save keeps what was found on disk, so that it is known also while the registry is down.
func (r *Remote) save(rev artifact.Revision, found artifact.Found) {
	r.mu.Lock()
	same := r.saved[rev] == found
	if len(r.saved) >= maxHeads {
		clear(r.saved)
	}
	r.saved[rev] = found
	r.mu.Unlock()
	if same {
		return
	}
	if err := r.write(r.recallKey(rev), found); err != nil {
		r.log.Warn("keep a version on disk", slog.String("repo", r.URL()), slog.Any("err", err))
	}
}

func (r *Remote) write(key string, v any) error {
	return r.store.Write(key, func(f *os.File) error { return json.NewEncoder(f).Encode(v) })
}

// load reads what write wrote.
func (r *Remote) load(key string, into any) bool {
	f, err := r.store.Read(key)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxRecall))
	return err == nil && strict.Decode(raw, into, 0) == nil
}

func (r *Remote) recallKey(rev artifact.Revision) string {
	return "oci version " + r.scope + " " + rev.Version
}

// Recall answers as Find did some time ago, where the content is at hand.
func (r *Remote) Recall(rev artifact.Revision) (artifact.Found, bool) {
	var found artifact.Found
	if !r.load(r.recallKey(rev), &found) || !IsDigest(found.Digest) {
		return artifact.Found{}, false
	}
	_, ok := r.store.Tree(r.treeKey(found.Digest))
	return found, ok
}

func (r *Remote) treeKey(digest string) string {
	return "oci content " + r.scope + " " + digest
}

// Fetch returns the files of what was found: from disk, or from the registry.
func (r *Remote) Fetch(ctx context.Context, _ string, f artifact.Found) (source.Tree, error) {
	if !IsDigest(f.Digest) {
		return nil, fmt.Errorf("%s: %w: it has no digest", r.URL(), artifact.ErrNoVersion)
	}
	files, ok := r.store.Tree(r.treeKey(f.Digest))
	var about about
	if !ok || !r.load(r.aboutKey(f.Digest), &about) {
		var err error
		if files, about, err = r.download(ctx, f.Digest); err != nil {
			return nil, fmt.Errorf("%s: %w", r.named(f), err)
		}
	}
	revision := f.Digest
	if r.opts.Chart {
		revision = f.Version
	}
	if about.Helm {
		below, err := chartRoot(files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.named(f), err)
		}
		files = below
	}
	return &tree{Tree: files.At(revision), about: about}, nil
}

func (r *Remote) aboutKey(digest string) string { return "oci about " + r.scope + " " + digest }

// named is the address of a version for messages.
func (r *Remote) named(f artifact.Found) string {
	if f.Version == "" || f.Version == f.Digest {
		return r.URL() + "@" + f.Digest
	}
	tag, _ := tagOf(f.Version)
	return r.URL() + ":" + tag
}

// download fetches manifest and layer of a digest, and unpacks the layer.
func (r *Remote) download(ctx context.Context, digest string) (*archive.Tree, about, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	m, err := r.registry.whole(ctx, digest)
	if err != nil {
		return nil, about{}, err
	}
	layer, err := m.content(r.opts.MediaTypes, r.opts.Chart)
	if err != nil {
		return nil, about{}, err
	}
	if layer.Size > maxLayer {
		return nil, about{}, refuse("its layer has %d MiB, and may have %d: remove files", layer.Size>>20, maxLayer>>20)
	}
	told := aboutOf(m.Annotations, layer.MediaType == typeChart)
	if err := r.write(r.aboutKey(digest), told); err != nil { // before the files: where these are, it is there too
		return nil, about{}, err
	}
	content, err := r.registry.blob(ctx, layer)
	if err != nil {
		return nil, about{}, err
	}
	defer func() { _ = content.Close() }()
	files, _, err := r.store.Unpack(r.treeKey(digest), content, layer.Digest, r.opts.Limits)
	return files, told, err
}

// chartRoot is the one directory that the archive of a chart has.
func chartRoot(files *archive.Tree) (*archive.Tree, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 || !entries[0].IsDir() {
		return nil, refuse("the archive of a Helm chart has one directory, and this one has %d entries: make it with helm package", len(entries))
	}
	return files.Sub(entries[0].Name)
}

// Charts returns the name of the one chart of the repository: registries cannot list what they have.
func (r *Remote) Charts(context.Context, string, int) ([]string, bool, error) {
	if !r.opts.Chart {
		return nil, false, nil
	}
	path := r.opts.Address.Path
	return []string{path[strings.LastIndexByte(path, '/')+1:]}, false, nil
}

// Releases returns the tags, the highest version first.
func (r *Remote) Releases(ctx context.Context, _ string, most int) (artifact.Releases, error) {
	tags, err := r.tags(ctx, time.Time{})
	if err != nil {
		return artifact.Releases{}, fmt.Errorf("%s: %w", r.URL(), err)
	}
	names := slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return strings.HasPrefix(tag, "sha256-") }) // signatures
	artifact.Newest(names)
	out := artifact.Releases{Truncated: len(names) > most}
	for _, tag := range names[:min(len(names), most)] {
		if r.opts.Chart {
			tag = versionOf(tag)
		}
		out.Versions = append(out.Versions, artifact.Release{Version: tag})
	}
	return out, nil
}

// Root reports whether the address names the registry as a whole.
func (r *Remote) Root() bool { return r.opts.Address.Path == "" }

// Ping asks the registry whether it is one, and whether it accepts the credential.
func (r *Remote) Ping(ctx context.Context) error { return r.registry.ping(ctx) }
