package testenv

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Charts is a Helm repository over HTTP.
type Charts struct {
	t        testing.TB
	web      *httptest.Server
	user     string
	password string

	mu       sync.Mutex
	archives map[string][]byte            // by file name
	entries  map[string]map[string]string // chart -> version -> what the index has of it
	broken   bool
	asked    map[string]int // requests by path
	fresh    int            // indexes that were sent whole
}

// ChartsOption changes how a repository is served.
type ChartsOption func(*Charts)

// ChartsBasicAuth requires a user and a password.
func ChartsBasicAuth(user, password string) ChartsOption {
	return func(c *Charts) { c.user, c.password = user, password }
}

// ChartsTLS serves over TLS, with a certificate of an authority that nothing knows.
func ChartsTLS() ChartsOption { return func(c *Charts) { c.web.StartTLS() } }

// NewCharts starts an empty repository.
func NewCharts(t testing.TB, opts ...ChartsOption) *Charts {
	t.Helper()
	c := &Charts{t: t, archives: map[string][]byte{}, entries: map[string]map[string]string{}, asked: map[string]int{}}
	c.web = httptest.NewUnstartedServer(c)
	for _, o := range opts {
		o(c)
	}
	if c.web.URL == "" {
		c.web.Start()
	}
	t.Cleanup(c.web.Close)
	return c
}

// URL is the address of the repository.
func (c *Charts) URL() string { return c.web.URL + "/charts" }

// CA is the authority of the certificate, in PEM.
func (c *Charts) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.web.Certificate().Raw})
}

// PackChart packs files as a chart archive; Chart.yaml is added where it is missing.
func PackChart(t testing.TB, name, version string, files map[string]string) []byte {
	t.Helper()
	files = maps.Clone(files)
	if files == nil {
		files = map[string]string{}
	}
	if files["Chart.yaml"] == "" {
		files["Chart.yaml"] = fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		err := w.WriteHeader(&tar.Header{Name: name + "/" + file, Mode: 0o644, Size: int64(len(files[file]))})
		if err == nil {
			_, err = io.WriteString(w, files[file])
		}
		if err != nil {
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

// Publish adds a version of a chart, or replaces it, and returns its digest.
func (c *Charts) Publish(name, version string, files map[string]string) string {
	raw := PackChart(c.t, name, version, files)
	sum := sha256.Sum256(raw)
	digest := hex.EncodeToString(sum[:])
	file := fmt.Sprintf("%s-%s.tgz", name, version)
	c.Archive(file, raw)
	c.Entry(name, version, fmt.Sprintf("digest: %s\nurls: [%s]\ncreated: %q\nappVersion: \"7\"\ndescription: Chart %s.\n", digest, file,
		time.Now().UTC().Format(time.RFC3339Nano), name))
	return "sha256:" + digest
}

// Archive serves a file.
func (c *Charts) Archive(file string, raw []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.archives[file] = raw
}

// Entry sets what the index has of a version, besides name and version, as lines of YAML.
func (c *Charts) Entry(name, version, lines string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[name] == nil {
		c.entries[name] = map[string]string{}
	}
	c.entries[name][version] = lines
}

// Break has every request answered with an error, Mend ends that.
func (c *Charts) Break() { c.set(true) }

// Mend ends what Break began.
func (c *Charts) Mend() { c.set(false) }

func (c *Charts) set(broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = broken
}

// Asked is how often a file was asked for.
func (c *Charts) Asked(file string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[file]
}

// Sent is how often the index was sent whole.
func (c *Charts) Sent() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fresh
}

// index is the index as Helm writes it.
func (c *Charts) index() []byte {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nentries:\n")
	for _, name := range slices.Sorted(maps.Keys(c.entries)) {
		fmt.Fprintf(&b, "  %s:\n", name)
		for _, version := range slices.Sorted(maps.Keys(c.entries[name])) {
			fmt.Fprintf(&b, "  - apiVersion: v2\n    name: %s\n    version: %s\n", name, version)
			for line := range strings.Lines(c.entries[name][version]) {
				b.WriteString("    " + line)
			}
		}
	}
	b.WriteString("generated: \"2026-01-01T00:00:00Z\"\n")
	return []byte(b.String())
}

// ServeHTTP implements http.Handler.
func (c *Charts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	file := strings.TrimPrefix(r.URL.Path, "/charts/")
	c.asked[file]++
	user, password, _ := r.BasicAuth()
	switch {
	case c.broken:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case user != c.user || password != c.password:
		http.Error(w, "no", http.StatusUnauthorized)
	case file == "index.yaml":
		raw := c.index()
		sum := sha256.Sum256(raw)
		tag := `"` + hex.EncodeToString(sum[:]) + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		c.fresh++
		_, _ = w.Write(raw) // a client that is gone misses nothing
	case c.archives[file] != nil:
		_, _ = w.Write(c.archives[file])
	default:
		http.NotFound(w, r)
	}
}
