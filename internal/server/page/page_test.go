package page_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/slipway-gitops/slipway/internal/server/page"
	"github.com/slipway-gitops/slipway/web"
)

const script = "console.log('slipway')"

func zipped(t *testing.T, text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	if err = firstOf(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func built(t *testing.T) fstest.MapFS {
	return fstest.MapFS{
		".keep":                  {},
		"index.html":             {Data: []byte(`<meta name="csp-nonce" content="__SLIPWAY_NONCE__"><script src="/assets/main-1a.js"></script>`)},
		"first.js":               {Data: []byte("first()")},
		"favicon.svg":            {Data: []byte("<svg/>")},
		"assets/main-1a.js.gz":   {Data: zipped(t, script)},
		"assets/main-1a.js.br":   {Data: []byte("as brotli")},
		"assets/face-2b.woff2":   {Data: []byte("letters")},
		"assets/.hidden":         {Data: []byte("secret")},
		"assets/style-3c.css.gz": {Data: zipped(t, "a{}")},
	}
}

// get asks for a path, with headers as names and values.
func get(p *page.Pages, method, path string, headers ...string) (*httptest.ResponseRecorder, bool) {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	there := p.Serve(out, r)
	return out, there
}

func pages(t *testing.T) *page.Pages {
	p, err := page.New(built(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEveryPathThatABrowserGoesToIsThePage(t *testing.T) {
	t.Parallel()
	p := pages(t)
	for _, c := range []struct {
		name, path string
		headers    []string
		want       bool
	}{
		{"the front", "/", nil, true},
		{"an old browser", "/applications/account.demo/argocd/web", []string{"Accept", "text/html,*/*;q=0.8"}, true},
		{"a browser", "/applications?q=shop", []string{"Accept", "text/html", "Sec-Fetch-Mode", "navigate"}, true},
		{"a page that looks for a part", "/applications", []string{"Accept", "text/html", "Sec-Fetch-Mode", "cors"}, false},
		{"a program", "/applications", []string{"Accept", "*/*"}, false},
		{"a script that is not there", "/assets/main-0.js", []string{"Sec-Fetch-Mode", "no-cors"}, false},
		{"a browser that goes to such a script", "/assets/main-0.js", []string{"Accept", "text/html", "Sec-Fetch-Mode", "navigate"}, false},
		{"a hidden file", "/assets/.hidden", nil, false},
		{"the form of a file", "/assets/main-1a.js.gz", nil, false},
		{"a path that leads up", "/assets/../../etc/passwd", nil, false},
	} {
		out, there := get(p, http.MethodGet, c.path, c.headers...)
		if there != c.want || there && !strings.Contains(out.Body.String(), "/assets/main-1a.js") {
			t.Errorf("%s: %v %s", c.name, there, out.Body)
		}
	}
}

func TestThePageHasAPolicyWithANonceOfItsOwn(t *testing.T) {
	t.Parallel()
	p := pages(t)
	seen := map[string]bool{}
	for range 2 {
		out, _ := get(p, http.MethodGet, "/")
		policy := out.Header().Get("Content-Security-Policy")
		_, rest, _ := strings.Cut(policy, "'nonce-")
		nonce, _, _ := strings.Cut(rest, "'")
		if len(nonce) < 20 || seen[nonce] || !strings.Contains(out.Body.String(), `content="`+nonce+`"`) {
			t.Errorf("nonce %q in %s", nonce, out.Body)
		}
		seen[nonce] = true
		for _, never := range []string{"unsafe", "*", "http", "blob:"} {
			if strings.Contains(policy, never) {
				t.Errorf("the policy has %s: %s", never, policy)
			}
		}
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("the policy lacks %s: %s", want, policy)
			}
		}
		if have := out.Header().Get("Cache-Control"); have != "no-cache" || out.Header().Get("ETag") != "" {
			t.Errorf("a page with an old nonce may come back: %v", out.Header())
		}
	}
}

func TestAFileComesInTheSmallestFormThatTheClientTakes(t *testing.T) {
	t.Parallel()
	p := pages(t)
	for _, c := range []struct{ name, path, accepts, encoding, body string }{
		{"a browser", "/assets/main-1a.js", "gzip, deflate, br, zstd", "br", "as brotli"},
		{"gzip only", "/assets/main-1a.js", "gzip", "gzip", string(zipped(t, script))},
		{"no brotli", "/assets/main-1a.js", "br;q=0, gzip;q=0.5", "gzip", string(zipped(t, script))},
		{"anything", "/assets/main-1a.js", "*", "br", "as brotli"},
		{"anything but one", "/assets/main-1a.js", "*, br; q=0.0", "gzip", string(zipped(t, script))},
		{"nothing said", "/assets/main-1a.js", "", "", script},
		{"only as it is", "/assets/main-1a.js", "identity", "", script},
		{"weights that are none", "/assets/main-1a.js", "br;q=x, gzip;q=", "", script},
		{"a file that is kept as it is", "/assets/face-2b.woff2", "gzip, br", "", "letters"},
		{"no brotli of it", "/assets/style-3c.css", "gzip, br", "gzip", string(zipped(t, "a{}"))},
	} {
		out, there := get(p, http.MethodGet, c.path, "Accept-Encoding", c.accepts)
		if !there || out.Header().Get("Content-Encoding") != c.encoding || out.Body.String() != c.body || out.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %v %v %q", c.name, there, out.Header(), out.Body)
		}
		head, there := get(p, http.MethodHead, c.path, "Accept-Encoding", c.accepts)
		if !there || head.Body.Len() != 0 || head.Header().Get("ETag") != out.Header().Get("ETag") {
			t.Errorf("%s: HEAD: %v %v %q", c.name, there, head.Header(), head.Body)
		}
		again, _ := get(p, http.MethodGet, c.path, "Accept-Encoding", c.accepts, "If-None-Match", `"other", W/`+out.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%s: kept: %d %q", c.name, again.Code, again.Body)
		}
	}
	brotli, _ := get(p, http.MethodGet, "/assets/main-1a.js", "Accept-Encoding", "br")
	plain, _ := get(p, http.MethodGet, "/assets/main-1a.js")
	packed, _ := get(p, http.MethodGet, "/assets/main-1a.js", "Accept-Encoding", "gzip")
	if a, b, c := brotli.Header().Get("ETag"), plain.Header().Get("ETag"), packed.Header().Get("ETag"); a == b || b == c || a == c {
		t.Errorf("forms of different bytes have one tag: %s %s %s", a, b, c)
	}
}

func TestOnlyWhatChangesItsNameIsKeptForAYear(t *testing.T) {
	t.Parallel()
	p := pages(t)
	for path, want := range map[string][2]string{
		"/assets/main-1a.js":    {"text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/style-3c.css":  {"text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/face-2b.woff2": {"font/woff2", "public, max-age=31536000, immutable"},
		"/first.js":             {"text/javascript; charset=utf-8", "no-cache"},
		"/favicon.svg":          {"image/svg+xml", "no-cache"},
	} {
		out, _ := get(p, http.MethodGet, path)
		if have := [2]string{out.Header().Get("Content-Type"), out.Header().Get("Cache-Control")}; have != want {
			t.Errorf("%s: %v", path, have)
		}
		if !strings.HasPrefix(out.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: no policy", path)
		}
	}
}

func TestAProgramWithoutPagesSaysHowToBuildThem(t *testing.T) {
	t.Parallel()
	p, err := page.New(fstest.MapFS{".keep": {}})
	if err != nil {
		t.Fatal(err)
	}
	out, there := get(p, http.MethodGet, "/")
	if !there || !strings.Contains(out.Body.String(), "make build") || strings.Contains(out.Body.String(), "__SLIPWAY") {
		t.Errorf("%v %s", there, out.Body)
	}
}

func TestPagesThatCannotBeServedToEveryBrowserAreAnError(t *testing.T) {
	t.Parallel()
	onlyBrotli := built(t)
	delete(onlyBrotli, "assets/main-1a.js.gz")
	noNonce := built(t)
	noNonce["index.html"] = &fstest.MapFile{Data: []byte("<p>")}
	for name, files := range map[string]fstest.MapFS{"brotli only": onlyBrotli, "no place for a nonce": noNonce} {
		if _, err := page.New(files); err == nil || !strings.Contains(err.Error(), "build the pages again") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheEmbeddedPagesCanBeServed(t *testing.T) {
	t.Parallel()
	p, err := page.New(web.Files())
	if err != nil {
		t.Fatal(err)
	}
	out, there := get(p, http.MethodGet, "/applications", "Accept", "text/html")
	if !there || !strings.Contains(out.Body.String(), "<title>Slipway</title>") {
		t.Errorf("%v %s", there, out.Body)
	}
}
