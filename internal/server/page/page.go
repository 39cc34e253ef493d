// Package page serves the pages of the user interface as they were built.
package page

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

const (
	index = "index.html"
	// assets is where files are whose names change with their content.
	assets = "assets/"
	// blank stands in index.html for the nonce of one answer.
	blank = "__SLIPWAY_NONCE__"

	// filePolicy is for everything that is no page: a worker obeys the one that its own script came with.
	filePolicy = "default-src 'none'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)

// pagePolicy is the Content-Security-Policy of a page. Only styles may have the nonce: the editor makes some.
func pagePolicy(nonce string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce + "'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; worker-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
}

// Pages serves a user interface.
type Pages struct {
	index []byte // nil where none is built
	files map[string]*file
}

// New reads which files there are: some as they are, some as NAME.br and NAME.gz.
func New(built fs.FS) (*Pages, error) {
	p := &Pages{files: map[string]*file{}}
	err := fs.WalkDir(built, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		if name == index {
			p.index, err = fs.ReadFile(built, name)
			return err
		}
		return p.add(built, name)
	})
	if err != nil {
		return nil, fmt.Errorf("read the pages of the user interface: %w", err)
	}
	if p.index != nil && !bytes.Contains(p.index, []byte(blank)) {
		return nil, errors.New("read the pages of the user interface: index.html has no place for a nonce: build the pages again")
	}
	for name, f := range p.files {
		if f.plain.name == "" && f.gzip.name == "" {
			return nil, fmt.Errorf("read the pages of the user interface: %s is there for some browsers only: build the pages again", name)
		}
	}
	return p, nil
}

func (p *Pages) add(built fs.FS, name string) error {
	content, err := built.Open(name)
	if err != nil {
		return err
	}
	defer content.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, content)
	if err != nil {
		return err
	}
	have := form{name: name, size: size, tag: `"` + base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:16]) + `"`}
	base := strings.TrimSuffix(strings.TrimSuffix(name, ".br"), ".gz")
	f := p.files[base]
	if f == nil {
		f = &file{from: built, kind: kindOf(base), lasting: strings.HasPrefix(base, assets)}
		p.files[base] = f
	}
	switch path.Ext(name) {
	case ".br":
		f.brotli = have
	case ".gz":
		f.gzip = have
	default:
		f.plain = have
	}
	return nil
}

// Serve answers a GET or HEAD with a file or a page, and reports whether there is one. Every path is a page that a
// browser goes to; what else asks for files gets those that there are.
func (p *Pages) Serve(w http.ResponseWriter, r *http.Request) bool {
	if f, ok := p.files[strings.TrimPrefix(r.URL.Path, "/")]; ok {
		f.serve(w, r)
		return true
	}
	if r.URL.Path != "/" && (strings.HasPrefix(r.URL.Path, "/"+assets) || !navigates(r)) {
		return false
	}
	nonce := rand.Text()
	body := p.index
	if body == nil {
		body = []byte(unbuilt)
	}
	body = bytes.ReplaceAll(body, []byte(blank), []byte(nonce))
	header := w.Header()
	header.Set("Content-Security-Policy", pagePolicy(nonce))
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the reader may have gone
	}
	return true
}

// navigates reports whether a browser asks for a page, and not a page for a part of it.
func navigates(r *http.Request) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

const unbuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Slipway</title>
<style nonce="` + blank + `">body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style></head>
<body>
<h1>Slipway</h1>
<p>This is the control plane of an installation of Slipway. Its program was built without the pages of the user interface:
build it with <code>make build</code>, which makes them.</p>
<p>Everything else works. Sign in from a terminal:</p>
<pre>slipway login URL-OF-THIS-PAGE
slipway app list</pre>
<p>Programs use the API, which <a href="/api/v1/openapi.json">openapi.json</a> describes.</p>
</body>
</html>
`
