package oci_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/oci"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestHostileContentIsRefused(t *testing.T) {
	t.Parallel()
	tarred := testenv.TarGzip(t, map[string]string{"a": strings.Repeat("0123456789", 1000)})
	layer := testenv.OCILayer{MediaType: testenv.OCITarGzip, Content: tarred}
	many := make([]testenv.OCILayer, 11)
	for i := range many {
		many[i] = testenv.OCILayer{MediaType: "text/plain", Content: []byte(fmt.Sprint(i))}
	}
	blobs := func(change func([]byte) []byte) func(*testenv.OCIServer) {
		return func(s *testenv.OCIServer) {
			s.Push("web", "1", nil, layer)
			s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Path, "/blobs/") {
					_, _ = w.Write(change(tarred))
					return true
				}
				return false
			})
		}
	}
	platforms := map[string]any{"schemaVersion": 2, "mediaType": testenv.OCIIndex, "manifests": []map[string]any{
		{"mediaType": testenv.OCIManifest, "digest": "sha256:" + strings.Repeat("1", 64), "size": 10, "platform": map[string]string{"os": "linux", "architecture": "amd64"}},
		{"mediaType": testenv.OCIManifest, "digest": "sha256:" + strings.Repeat("2", 64), "size": 10, "platform": map[string]string{"os": "linux", "architecture": "arm64"}},
	}}
	index, _ := json.Marshal(platforms)
	for name, c := range map[string]struct {
		put  func(*testenv.OCIServer)
		kind error
		want string
	}{
		"two layers": {func(s *testenv.OCIServer) {
			s.Push("web", "1", nil, layer, testenv.OCILayer{MediaType: testenv.OCITarGzip, Content: testenv.TarGzip(t, map[string]string{"b": "c"})})
		}, oci.ErrArtifact, "2 layers"},
		"no layer": {func(s *testenv.OCIServer) {
			s.Push("web", "1", nil, testenv.OCILayer{MediaType: "text/plain", Content: []byte("x")})
		}, oci.ErrArtifact, "no layer with files"},
		"many layers": {func(s *testenv.OCIServer) { s.Push("web", "1", nil, many...) }, oci.ErrArtifact, "11 layers"},
		"a type not allowed": {func(s *testenv.OCIServer) {
			s.Push("web", "1", nil, testenv.OCILayer{MediaType: "application/x.tar+gzip", Content: tarred})
		}, oci.ErrArtifact, "reposerver.oci.layer.media.types"},
		"an index":    {func(s *testenv.OCIServer) { s.Manifest("web", "1", testenv.OCIIndex, index) }, oci.ErrArtifact, "linux/amd64, linux/arm64"},
		"no manifest": {func(s *testenv.OCIServer) { s.Manifest("web", "1", testenv.OCIManifest, []byte("<html>")) }, oci.ErrArtifact, "cannot be read"},
		"a huge manifest": {func(s *testenv.OCIServer) {
			s.Manifest("web", "1", testenv.OCIManifest, bytes.Repeat([]byte(" "), 5<<20))
		}, web.ErrTooLarge, "4 MiB"},
		"another blob":        {blobs(func([]byte) []byte { return testenv.TarGzip(t, map[string]string{"a": "evil"}) }), nil, ""},
		"a truncated blob":    {blobs(func(b []byte) []byte { return b[:len(b)/2] }), web.ErrConnect, "before its size"},
		"a longer blob":       {blobs(func(b []byte) []byte { return append(bytes.Clone(b), "more"...) }), archive.ErrDigest, ""},
		"a blob of same size": {blobs(func(b []byte) []byte { c := bytes.Clone(b); c[9] ^= 1; return c }), archive.ErrDigest, ""},
		"a bomb": {func(s *testenv.OCIServer) {
			s.PushFiles("web", "1", map[string]string{"a": strings.Repeat("\x00", 4<<20)})
		}, archive.ErrArchive, "times its size"},
		"a way out":       {func(s *testenv.OCIServer) { s.PushFiles("web", "1", map[string]string{"../a": "x"}) }, archive.ErrArchive, "leaves it"},
		"a missing layer": {func(s *testenv.OCIServer) { s.Push("web", "1", nil, layer); s.Forget(s.Blob(tarred)) }, artifact.ErrNoVersion, "lacks the layer"},
		"an oversized layer": {func(s *testenv.OCIServer) {
			s.Manifest("web", "1", testenv.OCIManifest, []byte(`{"layers":[{"mediaType":"`+testenv.OCITarGzip+`","digest":"`+s.Blob(tarred)+`","size":99999999999}]}`))
		}, oci.ErrArtifact, "MiB"},
		"a digest of nonsense": {func(s *testenv.OCIServer) {
			s.Manifest("web", "1", testenv.OCIManifest, []byte(`{"layers":[{"mediaType":"`+testenv.OCITarGzip+`","digest":"../../x","size":9}]}`))
		}, oci.ErrArtifact, "SHA-256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testenv.OCI(t)
			c.put(s)
			_, err := deploy(t.Context(), remote(t, s, "web"), "1", "a")
			if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("%v, want %v with %q", err, c.kind, c.want)
			}
			if strings.Contains(fmt.Sprint(err), "html") {
				t.Errorf("the error has words of the server: %v", err)
			}
		})
	}
}

func TestAManifestOfAnotherDigestIsRefused(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	digest := s.PushFiles("web", "1", map[string]string{"a": "b"})
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, digest) {
			fmt.Fprint(w, `{"layers":[]}`)
			return true
		}
		return false
	})
	if _, err := deploy(t.Context(), remote(t, s, "web"), "1", "a"); !errors.Is(err, oci.ErrArtifact) || !strings.Contains(err.Error(), "other content") {
		t.Error(err)
	}
}

func TestAHostileListOfTagsEnds(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]string{
		"leads back":    `</v2/web/tags/list?last=x>; rel="next"`,
		"leads away":    `</v2/other/tags/list?last=x>; rel="next"`,
		"leads outside": `</../../etc?last=x>; rel="next"`,
		"too long":      `</v2/web/tags/list?last=` + strings.Repeat("x", 3000) + `>; rel="next"`,
	} {
		s := testenv.OCI(t)
		s.PushFiles("web", "1.0.0", map[string]string{"a": "b"})
		s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/tags/list") {
				w.Header().Set("Link", link)
				fmt.Fprint(w, `{"tags":["1.0.0"]}`)
				return true
			}
			return false
		})
		if _, err := remote(t, s, "web").Find(t.Context(), artifact.Revision{Version: "1.x"}, time.Now()); !errors.Is(err, web.ErrAnswer) {
			t.Errorf("%s: %v, want %v", name, err, web.ErrAnswer)
		}
		if n := s.RequestCount(); n > 4 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}
