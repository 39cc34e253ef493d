package inspect

import (
	"net/url"
	"testing"
)

// A link that is shown goes to a web page, and holds no credentials.
func FuzzLink(f *testing.F) {
	for _, link := range []string{"https://a:b@host/x", "javascript:alert(1)", "JaVaScRiPt://host/%0aalert(1)", "data:text/html,x", "//host", "https://host\\@other/", " https://host", "http:///x", "https://a%40b@c"} {
		f.Add(link)
	}
	f.Fuzz(func(t *testing.T, link string) {
		for _, shown := range addLink(nil, link) {
			u, err := url.Parse(shown)
			if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
				t.Errorf("%q is shown as %q", link, shown)
			}
		}
	})
}
