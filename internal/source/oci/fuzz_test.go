package oci

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/address"
)

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"oci://ghcr.io/org/app:1.2.3", "h/a@sha256:" + strings.Repeat("0", 64), "oci://[::1]:5000/a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		a, version, err := ParseAddress(raw)
		if err != nil {
			return
		}
		again, none, err := ParseAddress(a.String())
		if err != nil || again != a || none != "" {
			t.Fatalf("%q is read as %v %q, and that as %v %q, %v", raw, a, version, again, none, err)
		}
		if version != "" && !IsDigest(version) && !address.IsTag(version) {
			t.Fatalf("%q has the version %q", raw, version)
		}
		u, err := url.Parse("https://" + serverOf(a) + "/v2/" + a.Path)
		if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Contains(u.Path, "..") {
			t.Fatalf("%q leads to %v, %v", raw, u, err)
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"mediaType":"` + typeManifest + `","layers":[{"mediaType":"` + typeChart + `","digest":"sha256:00","size":1}]}`))
	f.Add([]byte(`{"manifests":[{"digest":"sha256:00","platform":{"os":"linux"}}],"annotations":{"org.opencontainers.image.title":"\u001b"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := readManifest(raw, digestLike("sha256:", raw))
		if err != nil {
			return
		}
		if told := aboutOf(m.Annotations, false); len(told.Author) > maxAuthor || len(told.Subject) > maxSubject || strings.ContainsAny(told.Author+told.Subject, "\x1b\n\x00") {
			t.Fatalf("%+v", told)
		}
		if m.isIndex() {
			if d, err := m.only(); err == nil && !IsDigest(d.Digest) {
				t.Fatal(d.Digest)
			}
		} else if d, err := m.content(DefaultMediaTypes(), false); err == nil && (!IsDigest(d.Digest) || d.Size <= 0) {
			t.Fatal(d)
		}
	})
}

func FuzzNextPage(f *testing.F) {
	f.Add(`</v2/a/tags/list?last=x&n=2>; rel="next"`)
	first, err := url.Parse("https://h/v2/a/tags/list")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string) {
		next, ok := nextPage(http.Header{"Link": {header}})
		if !ok {
			return
		}
		if _, err := follow(first, next); err != nil && strings.Contains(next, "Zaubernuss") && strings.Contains(err.Error(), "Zaubernuss") {
			t.Fatal("the error has words of the server")
		}
	})
}
