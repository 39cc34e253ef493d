package registry

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd" // by name in configurations
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory" // by name in configurations
	"github.com/olareg/olareg"
	"github.com/olareg/olareg/config"
	digest "github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/crypto/bcrypt"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/memory"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/oci"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	user     = "ann"
	password = "s3cret"
	chart    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// server is a registry that runs in this process.
type server struct {
	*httptest.Server
	authorized bool
}

func (s *server) host() string { return s.Listener.Addr().String() }

// olaregServer starts olareg, which knows referrers and gives tokens.
func olaregServer(t *testing.T, how config.ConfigAuth) *server {
	t.Helper()
	handler := olareg.New(config.Config{
		Storage: config.ConfigStorage{StoreType: config.StoreMem}, Auth: how, Log: slog.New(slog.DiscardHandler),
	})
	s := &server{httptest.NewTLSServer(handler), how.Handler != nil}
	t.Cleanup(func() {
		s.Close()
		_ = handler.Close()
	})
	return s
}

// distributionServer starts the registry of the CNCF, with a limit on pages of tags.
func distributionServer(t *testing.T, options map[string]any) *server {
	t.Helper()
	c := &configuration.Configuration{Storage: configuration.Storage{"inmemory": nil}}
	c.Log.AccessLog.Disabled, c.Log.Level = true, "panic"
	c.HTTP.Secret = "of the test"
	c.Tags.MaxTags = 3
	if options != nil {
		c.Auth = configuration.Auth{"htpasswd": options}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &server{httptest.NewTLSServer(handlers.NewApp(ctx, c)), options != nil}
	t.Cleanup(func() {
		s.Close()
		cancel()
	})
	return s
}

func hashed(t *testing.T) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

func inFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// registries are the servers that each test of content runs against.
func registries(t *testing.T) map[string]*server {
	t.Helper()
	basic, err := config.NewAuthBasicStatic(map[string]string{user: password}, false)
	if err != nil {
		t.Fatal(err)
	}
	users := inFile(t, "auth.yaml", fmt.Sprintf("users: {%s: {cred: %q}}\nacls: [{repo: \"*\", access: [\"*\"], members: [%s]}]\n", user, hashed(t), user))
	tokens := config.NewAuthTokenOpaque(users, config.WithAuthSlog(slog.New(slog.DiscardHandler)))
	return map[string]*server{
		"olareg":                    olaregServer(t, config.ConfigAuth{}),
		"olareg with passwords":     olaregServer(t, basic),
		"olareg with tokens":        olaregServer(t, tokens),
		"distribution":              distributionServer(t, nil),
		"distribution with a login": distributionServer(t, map[string]any{"realm": "test", "path": inFile(t, "htpasswd", user+":"+hashed(t)+"\n")}),
	}
}

// push puts an artifact into a registry with ORAS' own client.
func push(t *testing.T, s *server, repository, tag, mediaType string, content []byte, annotations map[string]string) string {
	t.Helper()
	to, err := remote.NewRepository(s.host() + "/" + repository)
	if err != nil {
		t.Fatal(err)
	}
	to.Client = &auth.Client{Client: &http.Client{Transport: realms{s, s.Client().Transport}}, Credential: auth.StaticCredential(s.host(), auth.Credential{Username: user, Password: password})}
	from := memory.New()
	layer := v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	if err := from.Push(t.Context(), layer, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	options := oras.PackManifestOptions{Layers: []v1.Descriptor{layer}, ManifestAnnotations: annotations}
	if mediaType == chart { // Helm takes a chart with a configuration of its own kind only
		about := []byte(fmt.Sprintf(`{"name":%q,"version":%q}`, path.Base(repository), tag))
		options.ConfigDescriptor = &v1.Descriptor{
			MediaType: "application/vnd.cncf.helm.config.v1+json", Digest: digest.FromBytes(about), Size: int64(len(about)),
		}
		if err := from.Push(t.Context(), *options.ConfigDescriptor, bytes.NewReader(about)); err != nil {
			t.Fatal(err)
		}
	}
	manifest, err := oras.PackManifest(t.Context(), from, oras.PackManifestVersion1_1, "application/vnd.slipway.test", options)
	if err != nil {
		t.Fatal(err)
	}
	if err := from.Tag(t.Context(), manifest, tag); err != nil {
		t.Fatal(err)
	}
	if _, err := oras.Copy(t.Context(), from, tag, to, tag, oras.DefaultCopyOptions); err != nil {
		t.Fatalf("push: %v", err)
	}
	return manifest.Digest.String()
}

// realms makes the realm of olareg, which is a path, an address that ORAS takes.
type realms struct {
	of   *server
	next http.RoundTripper
}

func (r realms) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil {
		if asked := resp.Header.Get("Www-Authenticate"); strings.Contains(asked, `realm="/`) {
			resp.Header.Set("Www-Authenticate", strings.Replace(asked, `realm="/`, `realm="`+r.of.URL+`/`, 1))
		}
	}
	return resp, err
}

// open opens a repository with the reader of the agent.
func open(t *testing.T, s *server, repository, secret string, isChart bool) *oci.Remote {
	t.Helper()
	address, _, err := oci.ParseAddress("oci://" + s.host() + "/" + repository)
	if err != nil {
		t.Fatal(err)
	}
	store, err := archive.Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	allow, err := outward.ReadList([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	access := web.Access{CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})}
	if secret != "" {
		access.Username, access.Password = user, secret
	}
	r, err := oci.Open(oci.Options{Address: address, Chart: isChart, Access: access, Outbound: &outward.Policy{Allow: allow}, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, r *oci.Remote, version, file string) (string, artifact.Found, source.Tree) {
	t.Helper()
	found, err := r.Find(t.Context(), artifact.Revision{Version: version}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.Fetch(t.Context(), "", found)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := tree.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), found, tree
}

func TestRealRegistriesGiveTheirArtifacts(t *testing.T) {
	t.Parallel()
	for name, s := range registries(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			digests := map[string]string{}
			for _, tag := range []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "2.0.0-rc.1", "latest"} {
				digests[tag] = push(t, s, "team/web", tag, testenv.OCITarGzip, testenv.TarGzip(t, map[string]string{"a.yaml": tag}),
					map[string]string{"org.opencontainers.image.created": "2026-11-20T10:00:00Z", "org.opencontainers.image.authors": "Ann"})
			}
			r := open(t, s, "team/web", password, false)
			for version, want := range map[string]string{"1.0.0": "1.0.0", "1.x": "1.4.0", "~1.1": "1.1.0", ">=1.0.0-0": "2.0.0-rc.1", "latest": "latest"} {
				got, found, tree := read(t, r, version, "a.yaml")
				if got != want || found.Digest != digests[want] || tree.Revision() != digests[want] {
					t.Errorf("%s is %q at %s, want %s at %s", version, got, found.Digest, want, digests[want])
				}
				explained, ok := tree.(source.Explained)
				if change, err := explained.Change(); !ok || err != nil || change.Author != "Ann" || change.At.IsZero() {
					t.Errorf("%+v, %v", change, err)
				}
			}
			if got, _, _ := read(t, r, digests["1.2.0"], "a.yaml"); got != "1.2.0" {
				t.Errorf("by digest: %q", got)
			}
			moved := push(t, s, "team/web", "1.0.0", testenv.OCITarGzip, testenv.TarGzip(t, map[string]string{"a.yaml": "other"}), nil)
			if got, found, _ := read(t, r, "1.0.0", "a.yaml"); got != "other" || found.Digest != moved {
				t.Errorf("after the tag moved: %q at %s, want %s", got, found.Digest, moved)
			}
			push(t, s, "charts/web", "0.1.0_build", chart, testenv.TarGzip(t, map[string]string{"web/Chart.yaml": "name: web"}), nil)
			if got, found, tree := read(t, open(t, s, "charts/web", password, true), "0.1.x", "Chart.yaml"); got != "name: web" || tree.Revision() != "0.1.0+build" {
				t.Errorf("the chart is %q at %s: %v", got, tree.Revision(), found)
			}
			versions, err := r.Releases(t.Context(), "", 100)
			if err != nil || len(versions.Versions) != 7 || versions.Versions[0].Version != "2.0.0-rc.1" {
				t.Errorf("%+v, %v", versions, err)
			}
			for _, missing := range []string{"9.9.9", ">9", "none"} {
				if _, err := r.Find(t.Context(), artifact.Revision{Version: missing}, time.Now()); !errors.Is(err, artifact.ErrNoVersion) {
					t.Errorf("%s: %v, want %v", missing, err, artifact.ErrNoVersion)
				}
			}
			if !s.authorized {
				return
			}
			for _, wrong := range []string{"", "wrong"} {
				_, err := open(t, s, "team/web", wrong, false).Find(t.Context(), artifact.Revision{Version: "1.0.0"}, time.Now())
				if web.LayerOf(err) != web.LayerAuthentication && !strings.Contains(fmt.Sprint(err), "asks for a credential") {
					t.Errorf("with the password %q: %v", wrong, err)
				}
				if strings.Contains(fmt.Sprint(err), password) {
					t.Errorf("the error has the password: %v", err)
				}
			}
		})
	}
}

func TestARealRegistryThatIsDownIsReported(t *testing.T) {
	t.Parallel()
	s := distributionServer(t, nil)
	push(t, s, "web", "1.0.0", testenv.OCITarGzip, testenv.TarGzip(t, map[string]string{"a": "b"}), nil)
	r := open(t, s, "web", "", false)
	_, found, _ := read(t, r, "1.0.0", "a")
	s.CloseClientConnections()
	s.Close()
	if _, err := r.Find(t.Context(), artifact.Revision{Version: "1.0.0"}, time.Now()); !errors.Is(err, web.ErrConnect) {
		t.Errorf("%v, want %v", err, web.ErrConnect)
	}
	tree, err := r.Fetch(t.Context(), "", found)
	if err != nil {
		t.Fatalf("what was deployed does not stay: %v", err)
	}
	if raw, err := tree.ReadFile("a"); err != nil || string(raw) != "b" {
		t.Errorf("%q, %v", raw, err)
	}
}
