package page

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// form is one way in which a file is kept; the zero value is none.
type form struct {
	name, tag string
	size      int64
}

// file is a file of the pages.
type file struct {
	from                fs.FS
	kind                string
	lasting             bool // its name changes with its content
	plain, gzip, brotli form
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	have, encoding := f.choose(r.Header.Values("Accept-Encoding"))
	header := w.Header()
	header.Set("Content-Security-Policy", filePolicy)
	header.Set("Content-Type", f.kind)
	header.Add("Vary", "Accept-Encoding")
	header.Set("Cache-Control", "no-cache")
	if f.lasting {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	unpack := encoding == "" && have == f.gzip
	tag := have.tag
	if unpack {
		tag = strings.TrimSuffix(tag, `"`) + `-plain"`
	}
	header.Set("ETag", tag)
	if matches(r.Header.Values("If-None-Match"), tag) {
		header.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	if !unpack {
		header.Set("Content-Length", strconv.FormatInt(have.size, 10))
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return
	}
	content, err := f.from.Open(have.name)
	if err != nil {
		http.Error(w, "this file cannot be read: try again", http.StatusInternalServerError)
		return
	}
	defer content.Close()
	var body io.Reader = content
	if unpack {
		if body, err = gzip.NewReader(content); err != nil {
			http.Error(w, "this file cannot be read: try again", http.StatusInternalServerError)
			return
		}
	}
	_, _ = io.Copy(w, body) // the reader may have gone
}

// choose returns the smallest form that the client takes, and how that is encoded: "" for not at all, which a client
// gets that takes nothing, too.
func (f *file) choose(accepts []string) (form, string) {
	if f.brotli.name != "" && accepted(accepts, "br") {
		return f.brotli, "br"
	}
	if f.gzip.name != "" && accepted(accepts, "gzip") {
		return f.gzip, "gzip"
	}
	if f.plain.name != "" {
		return f.plain, ""
	}
	return f.gzip, ""
}

// accepted reads Accept-Encoding (RFC 9110, 12.5.3).
func accepted(accepts []string, encoding string) bool {
	all := false
	for part := range strings.SplitSeq(strings.Join(accepts, ","), ",") {
		name, parameter, _ := strings.Cut(part, ";")
		_, weight, given := strings.Cut(strings.ReplaceAll(parameter, " ", ""), "=")
		q, err := strconv.ParseFloat(weight, 64)
		wanted := !given || err == nil && q > 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case encoding:
			return wanted
		case "*":
			all = wanted
		}
	}
	return all
}

func matches(fields []string, tag string) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(fields, ","), ","), func(t string) bool {
		t = strings.TrimSpace(t)
		return t == "*" || strings.TrimPrefix(t, "W/") == tag
	})
}

// kindOf is the media type of a file: the machine's table of file endings is ignored here.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".woff2":
		return "font/woff2"
	case ".json", ".map":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
