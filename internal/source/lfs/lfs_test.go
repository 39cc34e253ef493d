package lfs_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func pointerTo(content string) lfs.Pointer {
	sum := sha256.Sum256([]byte(content))
	return lfs.Pointer{OID: hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// shelf is an LFS server over HTTPS that has files, and another host that hands them out.
type shelf struct {
	*httptest.Server
	other *httptest.Server

	mu       sync.Mutex
	password string
	files    map[string]string
	batches  int
	leaked   string // a credential that reached the other host
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{password: "p", files: map[string]string{}}
	s.other = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.leaked += r.Header.Get("Authorization") + r.Header.Get("Cookie")
		if r.Header.Get("X-Signed") != "yes" {
			http.Error(w, "Zaubernuss", http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprint(w, s.files[strings.TrimPrefix(r.URL.Path, "/store/")])
	}))
	t.Cleanup(s.other.Close)
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, password, _ := r.BasicAuth(); password != s.password {
			http.Error(w, "Zaubernuss", http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprint(w, s.files[strings.TrimPrefix(r.URL.Path, "/own/")])
			return
		}
		if r.URL.Path != "/team/shop.git/info/lfs/objects/batch" && r.URL.Path != "/named/objects/batch" {
			http.NotFound(w, r)
			return
		}
		s.batches++
		var in struct {
			Operation string
			Objects   []lfs.Pointer
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Operation != "download" || len(in.Objects) != 1 {
			http.Error(w, "Zaubernuss", http.StatusUnprocessableEntity)
			return
		}
		p := in.Objects[0]
		one := map[string]any{"oid": p.OID, "size": p.Size}
		switch content, ok := s.files[p.OID]; {
		case !ok:
			one["error"] = map[string]any{"code": 404, "message": "Zaubernuss"}
		case strings.HasPrefix(content, "own"):
			one["actions"] = map[string]any{"download": map[string]any{"href": s.URL + "/own/" + p.OID}}
		default:
			one["actions"] = map[string]any{"download": map[string]any{"href": s.other.URL + "/store/" + p.OID, "header": map[string]string{"X-Signed": "yes", "Cookie": "c=1"}}}
		}
		w.Header().Set("Content-Type", "application/vnd.git-lfs+json")
		_ = json.NewEncoder(w).Encode(map[string]any{"transfer": "basic", "objects": []any{one}})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shelf) put(content string) lfs.Pointer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := pointerTo(content)
	s.files[p.OID] = content
	return p
}

func (s *shelf) repository(scope string) lfs.Repository {
	ca := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.other.Certificate().Raw})...)
	return lfs.Repository{URL: s.URL + "/team/shop", Scope: scope, Access: func(_ context.Context, refused string) (web.Access, error) {
		password := "p"
		if refused == "p" {
			password = "renewed"
		}
		return web.Access{Username: "u", Password: password, CA: ca}, nil
	}}
}

func newStore(t *testing.T, dir string) *lfs.Store {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	return lfs.NewStore(dir, &outward.Policy{Private: true, Allow: allow})
}

func TestAFileIsFetchedOnceVerifiedAndKept(t *testing.T) {
	t.Parallel()
	s, dir := newShelf(t), t.TempDir()
	store := newStore(t, dir)
	for _, content := range []string{"own file", "a file at another host"} {
		p := s.put(content)
		before := s.batches
		for range 3 {
			if got, err := store.Get(t.Context(), s.repository("a"), "", p); err != nil || string(got) != content {
				t.Fatalf("%q %v", got, err)
			}
		}
		if s.batches != before+1 {
			t.Errorf("%s: the server was asked %d times", content, s.batches-before)
		}
		// What one may read is no proof that another may.
		other := s.repository("b")
		other.Access = func(context.Context, string) (web.Access, error) { return web.Access{}, errors.New("no credential") }
		if got, err := store.Get(t.Context(), other, "", p); err == nil {
			t.Errorf("another scope has read %q", got)
		}
	}
	if s.leaked != "" {
		t.Errorf("the other host got %q", s.leaked)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v %v", entries, err)
	}
	// A damaged file is fetched again.
	if err := os.WriteFile(dir+"/"+entries[0].Name(), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"own file", "a file at another host"} {
		if got, err := newStore(t, dir).Get(t.Context(), s.repository("a"), "", pointerTo(content)); err != nil || string(got) != content {
			t.Errorf("%q %v", got, err)
		}
	}
}

func TestATokenThatAnLFSServerRefusesIsRenewed(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	p := s.put("own file")
	s.password = "renewed"
	if got, err := newStore(t, t.TempDir()).Get(t.Context(), s.repository("a"), "", p); err != nil || string(got) != "own file" {
		t.Errorf("%q %v", got, err)
	}
	s.password = "other"
	if _, err := newStore(t, t.TempDir()).Get(t.Context(), s.repository("a"), "", p); !errors.Is(err, web.ErrAuth) {
		t.Error(err)
	}
}

func TestWhatIsNotTheFileIsRefused(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	store := newStore(t, t.TempDir())
	wrong := s.put("own file")
	s.files[wrong.OID] = "own evil"
	long := s.put("own long")
	s.files[long.OID] = "own long and longer"
	missing := pointerTo("missing")
	for name, c := range map[string]struct {
		from     lfs.Repository
		endpoint string
		p        lfs.Pointer
		want     string
	}{
		"other content":   {s.repository("a"), "", wrong, "not the file"},
		"more content":    {s.repository("a"), "", long, "not the file"},
		"nothing":         {s.repository("a"), "", missing, "does not have"},
		"another host":    {s.repository("a"), "https://lfs.example/x", missing, "not on the host"},
		"no TLS":          {s.repository("a"), strings.Replace(s.URL, "https", "http", 1), missing, "not on the host"},
		"a named server":  {s.repository("a"), s.URL + "/named", missing, "does not have"},
		"no such server":  {s.repository("a"), s.URL + "/none", missing, "not found"},
		"SSH":             {lfs.Repository{URL: "ssh://git@h/x"}, "", missing, "https only"},
		"refused address": {lfs.Repository{URL: "https://169.254.169.254/x", Access: s.repository("").Access}, "", missing, "metadata"},
	} {
		_, err := store.Get(t.Context(), c.from, c.endpoint, c.p)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Zaubernuss") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	var g sync.WaitGroup
	p := s.put("own shared")
	before := s.batches
	for range 20 {
		g.Go(func() {
			if _, err := store.Get(context.Background(), s.repository("a"), "", p); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	if s.batches != before+1 {
		t.Errorf("20 readers asked %d times", s.batches-before)
	}
}

func FuzzPointer(f *testing.F) {
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 1\n"))
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\next-0-x sha256:a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, is, err := lfs.ReadPointer(text)
		if is && err == nil && (len(p.OID) != 64 || p.Size < 0) {
			t.Errorf("%q is read as %+v", text, p)
		}
		if !is && err != nil {
			t.Errorf("%q is no pointer, and an error: %v", text, err)
		}
	})
}
