package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/address"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of what a registry is asked.
const (
	maxTags     = 200_000
	maxTagPage  = 4 << 20 // bytes
	maxTagPages = 2000
	pageSize    = "1000"
	listLimit   = 2 * time.Minute // for all pages
	askLimit    = time.Minute     // for one manifest
	maxLink     = 2000            // bytes of the address of the next page
)

// registry asks one registry about one repository.
type registry struct {
	home    *url.URL
	path    string // of the repository
	session *registrylogin.Session
}

// at is the address of something in the repository.
func (r *registry) at(parts ...string) *url.URL {
	return r.home.JoinPath(append([]string{"/v2", r.path}, parts...)...)
}

// ask sends a request, and returns an answer with a status of 2xx, or 304 where that was asked for.
func (r *registry) ask(ctx context.Context, method string, at *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		return nil, &web.Error{Kind: web.ErrAnswer, URL: web.Shown(at), Hint: "the address cannot be asked for: correct it"}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := r.session.Do(req, r.path)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusNotModified && header.Get("If-None-Match") != "" {
		return resp, nil
	}
	if err := web.Check(at, resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// get reads what is at an address, at most as much as a manifest may have.
func (r *registry) get(ctx context.Context, at *url.URL, header http.Header) ([]byte, error) {
	resp, err := r.ask(ctx, http.MethodGet, at, header)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return read(at, resp, maxManifest)
}

// read reads an answer of at most most bytes.
func read(at *url.URL, resp *http.Response, most int64) ([]byte, error) {
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > most {
		return nil, web.TooLarge(at, most)
	}
	return raw, nil
}

func acceptManifests() http.Header {
	return http.Header{"Accept": {strings.Join([]string{typeManifest, typeIndex, typeDockerManifest, typeDockerList}, ", ")}}
}

// digestOf asks what a tag stands for now. The error wraps artifact.ErrNoVersion where the registry does not have it.
func (r *registry) digestOf(ctx context.Context, tag string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	at := r.at("manifests", tag)
	resp, err := r.ask(ctx, http.MethodHead, at, acceptManifests())
	if errors.Is(err, web.ErrNotFound) {
		return "", fmt.Errorf("%w: %s has no tag %s", artifact.ErrNoVersion, r.path, tag)
	}
	if err != nil {
		return "", err
	}
	_ = resp.Body.Close()
	if digest := resp.Header.Get("Docker-Content-Digest"); IsDigest(digest) {
		return digest, nil // what is fetched later must have it
	}
	raw, err := r.get(ctx, at, acceptManifests()) // some registries leave it out
	if err != nil {
		return "", err
	}
	return digestLike("sha256:", raw), nil
}

// manifest fetches the manifest of a digest.
func (r *registry) manifest(ctx context.Context, digest string) (manifest, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	at := r.at("manifests", digest)
	raw, err := r.get(ctx, at, acceptManifests())
	if errors.Is(err, web.ErrNotFound) {
		return manifest{}, fmt.Errorf("%w: %s has no manifest %s: it was deleted, or belongs to another repository",
			artifact.ErrNoVersion, r.path, digest)
	}
	if err != nil {
		return manifest{}, err
	}
	return readManifest(raw, digest)
}

// whole fetches the manifest of a digest, or where that is an index the one manifest that it names.
func (r *registry) whole(ctx context.Context, digest string) (manifest, error) {
	m, err := r.manifest(ctx, digest)
	if err != nil || !m.isIndex() {
		return m, err
	}
	one, err := m.only()
	if err != nil {
		return m, err
	}
	return r.manifest(ctx, one.Digest)
}

// blob opens content. The reader fails where it ends early, and goes on to the first byte too many, so that its digest is another.
func (r *registry) blob(ctx context.Context, d descriptor) (io.ReadCloser, error) {
	at := r.at("blobs", d.Digest)
	resp, err := r.ask(ctx, http.MethodGet, at, nil) //nolint:bodyclose // it is what the caller gets
	if errors.Is(err, web.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s lacks the layer %s of its manifest: push it again", artifact.ErrNoVersion, r.path, d.Digest)
	}
	if err != nil {
		return nil, err
	}
	return &sized{from: resp.Body, at: at, left: d.Size}, nil
}

// sized is content whose size is known.
type sized struct {
	from io.ReadCloser
	at   *url.URL
	left int64
}

// Read implements io.Reader.
func (s *sized) Read(p []byte) (int, error) {
	if s.left < 0 {
		return 0, io.EOF
	}
	n, err := s.from.Read(p[:min(int64(len(p)), s.left+1)])
	s.left -= int64(n)
	if errors.Is(err, io.EOF) && s.left > 0 {
		return n, &web.Error{
			Kind: web.ErrConnect, URL: web.Shown(s.at), Detail: fmt.Sprintf("it ends %d bytes before its size", s.left),
			Hint: "try again, and check the registry and its storage",
		}
	}
	return n, err
}

// Close implements io.Closer.
func (s *sized) Close() error { return s.from.Close() }

// list is the tags of a repository.
type list struct {
	tags []string
	etag string // where one request answers all
}

// tags lists all tags. Where those of before are still valid, it returns them.
func (r *registry) tags(ctx context.Context, before list) (list, error) {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	first := r.at("tags", "list")
	at, out := first, list{}
	query := url.Values{"n": {pageSize}}
	seen := map[string]bool{}
	for page := range maxTagPages {
		header := http.Header{}
		if page == 0 && before.etag != "" {
			header.Set("If-None-Match", before.etag)
		}
		now := *at
		now.RawQuery = query.Encode()
		resp, err := r.ask(ctx, http.MethodGet, &now, header)
		switch {
		case errors.Is(err, web.ErrNotFound):
			return list{}, fmt.Errorf("%w: the registry has no repository %s: check the address, and that the credential may read it",
				artifact.ErrNoVersion, r.path)
		case err != nil:
			return list{}, err
		case resp.StatusCode == http.StatusNotModified:
			_ = resp.Body.Close()
			return before, nil
		}
		raw, err := read(at, resp, maxTagPage)
		if err != nil {
			return list{}, err
		}
		var answer struct {
			Tags []string `json:"tags"`
		}
		if strict.Decode(raw, &answer, strict.Foreign) != nil {
			return list{}, &web.Error{
				Kind: web.ErrAnswer, URL: web.Shown(at), Hint: "what answers is no list of tags: check that the address is one of a registry",
			}
		}
		for _, tag := range answer.Tags {
			if address.IsTag(tag) {
				out.tags = append(out.tags, tag)
			}
		}
		if len(out.tags) > maxTags {
			return list{}, refuse("%s has more than %d tags: delete some, or set a tag or a digest as targetRevision", r.path, maxTags)
		}
		next, ok := nextPage(resp.Header)
		if !ok {
			if page == 0 && len(resp.Header.Get("ETag")) <= maxETag {
				out.etag = resp.Header.Get("ETag")
			}
			return out, nil
		}
		if query, err = follow(first, next); err != nil {
			return list{}, err
		}
		if key := query.Encode(); seen[key] {
			return list{}, &web.Error{
				Kind: web.ErrAnswer, URL: web.Shown(first), Hint: "the registry's list of tags has no end: it leads to a page that was read already",
			}
		}
		seen[query.Encode()] = true
	}
	return list{}, refuse("the list of tags of %s has more than %d pages: set a tag or a digest as targetRevision", r.path, maxTagPages)
}

const maxETag = 256

// follow reads where the next page of a list is: at the same address with another query. A registry that names another address
// gets no credential sent there.
func follow(first *url.URL, next string) (url.Values, error) {
	wrong := func(detail string) error {
		return &web.Error{Kind: web.ErrAnswer, URL: web.Shown(first), Detail: detail, Hint: "check the registry and the proxy in front of it"}
	}
	if len(next) > maxLink {
		return nil, wrong("the address of the next page of its tags is too long")
	}
	to, err := first.Parse(next)
	if err != nil {
		return nil, wrong("the address of the next page of its tags is none")
	}
	// A registry behind a proxy may call itself by another host or scheme: only the query counts.
	if strings.Trim(to.Path, "/") != strings.Trim(first.Path, "/") {
		return nil, wrong("the next page of its tags is at another place")
	}
	query, err := url.ParseQuery(to.RawQuery)
	if err != nil {
		return nil, wrong("the address of the next page of its tags is none")
	}
	return query, nil
}

var links = regexp.MustCompile(`<([^<>]*)>([^<]*)`)

// nextPage finds the link to the next page.
func nextPage(header http.Header) (string, bool) {
	for _, value := range header.Values("Link") {
		for _, m := range links.FindAllStringSubmatch(value[:min(len(value), 2*maxLink)], 10) {
			for p := range strings.SplitSeq(strings.Trim(m[2], " ,"), ";") {
				name, rel, _ := strings.Cut(strings.TrimSpace(p), "=")
				if strings.EqualFold(strings.TrimSpace(name), "rel") && strings.EqualFold(strings.Trim(strings.TrimSpace(rel), `"`), "next") {
					return m[1], true
				}
			}
		}
	}
	return "", false
}

// openRegistry makes the client of a registry.
func openRegistry(a Address, access web.Access, plain bool, policy *outward.Policy, keeper registrylogin.Keeper) (*registry, error) {
	scheme := "https://"
	if plain {
		scheme = "http://"
	}
	client, err := web.Open(scheme+serverOf(a), policy, access.WithoutSecrets(), web.Options{})
	if err != nil {
		return nil, err
	}
	session := registrylogin.NewSession(registrylogin.Options{Client: client, Keeper: keeper, Elsewhere: policy.Names})
	return &registry{home: client.Home(), path: a.Path, session: session}, nil
}

// ping asks whether the host is a registry.
func (r *registry) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	whole := &registry{home: r.home, session: r.session} // without a scope: charts below it may have rights of their own
	resp, err := whole.ask(ctx, http.MethodGet, r.home.JoinPath("/v2", "/"), nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
