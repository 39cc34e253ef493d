package testenv

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Media types of what OCIServer has.
const (
	OCIManifest = "application/vnd.oci.image.manifest.v1+json"
	OCIIndex    = "application/vnd.oci.image.index.v1+json"
	OCITarGzip  = "application/vnd.oci.image.layer.v1.tar+gzip"
	OCIChart    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// OCIServer is a small registry on loopback that only gives out: tests put into it what they need, sound or not. It ends with the
// test. Real registries are in the module dev/registry.
type OCIServer struct {
	t   testing.TB
	web *httptest.Server
	c   ociConfig

	requests atomic.Int64
	broken   atomic.Bool

	mu        sync.Mutex
	blobs     map[string][]byte
	types     map[string]string            // media type of manifests, by digest
	tags      map[string]map[string]string // repository -> tag -> digest
	tokens    map[string]string            // token -> repository
	seen      []string                     // method, path and query
	intercept func(http.ResponseWriter, *http.Request) bool
}

type ociConfig struct {
	tls            bool
	user, password string
	tokens         bool
	realm          string
}

// OCIOption changes how an OCIServer is reached.
type OCIOption func(*ociConfig)

// OCITLS serves HTTPS with a certificate of an unknown authority; CA returns it.
func OCITLS() OCIOption { return func(c *ociConfig) { c.tls = true } }

// OCIBasicAuth asks for a user name and a password.
func OCIBasicAuth(user, password string) OCIOption {
	return func(c *ociConfig) { c.user, c.password = user, password }
}

// OCITokens asks for tokens of the server's own token service, which gives them for a user name and a password; for every client
// where both are "".
func OCITokens(user, password string) OCIOption {
	return func(c *ociConfig) { c.tokens, c.user, c.password = true, user, password }
}

// OCIRealm names another token service.
func OCIRealm(realm string) OCIOption { return func(c *ociConfig) { c.tokens, c.realm = true, realm } }

// OCI starts an empty registry.
func OCI(t testing.TB, opts ...OCIOption) *OCIServer {
	t.Helper()
	s := &OCIServer{
		t: t, blobs: map[string][]byte{}, types: map[string]string{}, tags: map[string]map[string]string{}, tokens: map[string]string{},
	}
	for _, o := range opts {
		o(&s.c)
	}
	if s.c.tls {
		s.web = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	} else {
		s.web = httptest.NewServer(http.HandlerFunc(s.serve))
	}
	t.Cleanup(s.web.Close)
	return s
}

// Host is host and port.
func (s *OCIServer) Host() string { return s.web.Listener.Addr().String() }

// URL is the address with its scheme.
func (s *OCIServer) URL() string { return s.web.URL }

// CA is the PEM certificate that vouches for a server with OCITLS.
func (s *OCIServer) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.web.Certificate().Raw})
}

// Break makes the server answer every request with 503 until Mend.
func (s *OCIServer) Break() { s.broken.Store(true) }

// Mend undoes Break.
func (s *OCIServer) Mend() { s.broken.Store(false) }

// Intercept has a function see every request first; one that it answers, with true, goes no further.
func (s *OCIServer) Intercept(f func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}

// Seen are the requests so far, as "GET /v2/…", and forgets them.
func (s *OCIServer) Seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen
	s.seen = nil
	return out
}

// DropTokens makes every token that was given out invalid.
func (s *OCIServer) DropTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Blob puts content in, and returns its digest.
func (s *OCIServer) Blob(content []byte) string {
	sum := sha256.Sum256(content)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[digest] = content
	return digest
}

// Forget removes content.
func (s *OCIServer) Forget(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, digest)
}

// Manifest puts a manifest in, under a tag where there is one, and returns its digest.
func (s *OCIServer) Manifest(repo, tag, mediaType string, content []byte) string {
	digest := s.Blob(content)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.types[digest] = mediaType
	if s.tags[repo] == nil {
		s.tags[repo] = map[string]string{}
	}
	if tag != "" {
		s.tags[repo][tag] = digest
	}
	return digest
}

// OCILayer is one layer of an artifact.
type OCILayer struct {
	MediaType string
	Content   []byte
}

// Push puts an artifact in, and returns the digest of its manifest.
func (s *OCIServer) Push(repo, tag string, annotations map[string]string, layers ...OCILayer) string {
	s.t.Helper()
	type descriptor struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	list := make([]descriptor, 0, len(layers))
	for _, l := range layers {
		list = append(list, descriptor{l.MediaType, s.Blob(l.Content), len(l.Content)})
	}
	config := []byte("{}")
	raw, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": OCIManifest, "layers": list, "annotations": annotations,
		"config": descriptor{"application/vnd.oci.empty.v1+json", s.Blob(config), len(config)},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.Manifest(repo, tag, OCIManifest, raw)
}

// PushFiles puts an artifact of files in.
func (s *OCIServer) PushFiles(repo, tag string, files map[string]string) string {
	s.t.Helper()
	return s.Push(repo, tag, nil, OCILayer{OCITarGzip, TarGzip(s.t, files)})
}

// TarGzip packs files.
func TarGzip(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s *OCIServer) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	s.mu.Lock()
	s.seen = append(s.seen, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()))
	intercept := s.intercept
	s.mu.Unlock()
	switch {
	case intercept != nil && intercept(w, r):
	case s.broken.Load():
		http.Error(w, "broken on purpose", http.StatusServiceUnavailable)
	case r.URL.Path == "/token":
		s.token(w, r)
	case !s.mayRead(r):
		s.challenge(w)
	case r.URL.Path == "/v2/":
		fmt.Fprint(w, "{}")
	default:
		s.content(w, r)
	}
}

// RequestCount is the number of requests so far.
func (s *OCIServer) RequestCount() int64 { return s.requests.Load() }

func (s *OCIServer) challenge(w http.ResponseWriter) {
	realm := s.c.realm
	if realm == "" {
		realm = s.web.URL + "/token"
	}
	if s.c.tokens {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="test",scope="repository:other:pull,push"`)
	} else {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
	}
	http.Error(w, "sign in", http.StatusUnauthorized)
}

// mayRead judges a request by its token or its password.
func (s *OCIServer) mayRead(r *http.Request) bool {
	switch {
	case s.c.tokens:
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		s.mu.Lock()
		defer s.mu.Unlock()
		repo, known := s.tokens[given]
		return ok && known && (r.URL.Path == "/v2/" || strings.HasPrefix(r.URL.Path, "/v2/"+repo+"/"))
	case s.c.user != "":
		user, password, ok := r.BasicAuth()
		return ok && user == s.c.user && password == s.c.password
	}
	return true
}

// token is the token service.
func (s *OCIServer) token(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if r.Method == http.MethodPost && r.PostFormValue("grant_type") == "refresh_token" {
		user, password = s.c.user, r.PostFormValue("refresh_token")
	}
	if user != s.c.user || password != s.c.password {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	repo := ""
	if parts := strings.Split(r.FormValue("scope"), ":"); len(parts) == 3 && parts[0] == "repository" && parts[2] == "pull" {
		repo = parts[1]
	}
	token := rand.Text()
	s.mu.Lock()
	s.tokens[token] = repo
	s.mu.Unlock()
	fmt.Fprintf(w, `{"token":%q,"expires_in":300}`, token)
}

// content answers for tags, manifests and blobs.
func (s *OCIServer) content(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/v2/")
	if repo, ok := strings.CutSuffix(path, "/tags/list"); ok {
		s.list(w, r, repo)
		return
	}
	repo, rest, _ := strings.Cut(path, "/manifests/")
	if before, blob, ok := strings.Cut(path, "/blobs/"); ok {
		repo, rest = before, blob
	}
	s.mu.Lock()
	tags, known := s.tags[repo]
	digest := rest
	if of, ok := tags[rest]; ok {
		digest = of
	}
	content, ok := s.blobs[digest]
	mediaType := s.types[digest]
	s.mu.Unlock()
	if !known || !ok {
		http.Error(w, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`, http.StatusNotFound)
		return
	}
	if mediaType != "" {
		w.Header().Set("Content-Type", mediaType)
	}
	w.Header().Set("Docker-Content-Digest", digest)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}

// list answers with a page of tags.
func (s *OCIServer) list(w http.ResponseWriter, r *http.Request, repo string) {
	s.mu.Lock()
	tags, known := s.tags[repo]
	names := slices.Sorted(maps.Keys(tags))
	s.mu.Unlock()
	if !known {
		http.Error(w, `{"errors":[{"code":"NAME_UNKNOWN"}]}`, http.StatusNotFound)
		return
	}
	if last := r.URL.Query().Get("last"); last != "" {
		at, found := slices.BinarySearch(names, last)
		if found {
			at++
		}
		names = names[at:]
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("n")); err == nil && n < len(names) {
		names = names[:n]
		w.Header().Set("Link", fmt.Sprintf(`</v2/%s/tags/list?n=%d&last=%s>; rel="next"`, repo, n, names[n-1]))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"name": repo, "tags": names})
}
