package git_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	someID = "1111111111111111111111111111111111111111"
	anyone = "Mallory <m@example.com> 1700000000 +0000"
)

// diskOf is how many bytes the files below a directory have, those that are being written too.
func diskOf(t testing.TB, dir string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // files come and go
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// unfinished are the files that an interrupted fetch left.
func unfinished(t testing.TB, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasPrefix(d.Name(), "tmp_") || strings.HasSuffix(path, ".lock")) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRedirectsOfAGitServerLeadNowhere(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(thief.Close)
	later := func(to string) func(http.ResponseWriter, *http.Request) bool { // only once something is to be fetched
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				return false
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}
	}
	always := func(code int, to string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", to)
			w.WriteHeader(code)
			return true
		}
	}
	dumb := func(lists map[string]string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			text, ok := lists[strings.TrimPrefix(r.URL.Path, "/r.git")]
			if !ok {
				http.NotFound(w, r)
				return true
			}
			w.Header().Set("Content-Type", "text/plain")
			_, _ = fmt.Fprint(w, text)
			return true
		}
	}
	refs := someID + "\trefs/heads/main\n"
	for name, before := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"from the list to another host":  always(http.StatusFound, thief.URL+"/r.git/info/refs?service=git-upload-pack"),
		"for ever":                       always(http.StatusMovedPermanently, thief.URL+"/r.git/info/refs?service=git-upload-pack"),
		"from the fetch to another host": later(thief.URL + "/r.git/git-upload-pack"),
		"to itself":                      always(http.StatusFound, "/r.git/info/refs?service=git-upload-pack"),
		"to a file":                      always(http.StatusFound, "file:///etc/passwd"),
		"to a program":                   always(http.StatusFound, "ext::sh -c touch% /tmp/x"),
		"to SSH":                         always(http.StatusFound, "ssh://-oProxyCommand=x/r.git"),
		"by alternates over HTTP":        dumb(map[string]string{"/info/refs": refs, "/objects/info/http-alternates": thief.URL + "/r.git/objects/\n"}),
		"by alternates":                  dumb(map[string]string{"/info/refs": refs, "/objects/info/alternates": "/../../r.git/objects\n" + thief.URL + "/r.git/objects\n"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := (&testenv.HostileGit{Before: before, Refs: []string{someID + " refs/heads/main"}}).Start(t)
			m := mirror(t, client(t, func(o *git.Options) { o.FetchTimeout = 20 * time.Second }), url, git.Credential{Username: "bob", Password: "hush-hush"})
			err := m.Fetch(t.Context(), "refs/heads/main")
			var known *git.Error
			if !errors.As(err, &known) || known.Hint == "" || !strings.Contains(err.Error(), url) || strings.Contains(err.Error(), "hush") {
				t.Errorf("err = %v, want one with the repository and a hint", err)
			}
		})
	}
	t.Cleanup(func() {
		if n := asked.Load(); n > 0 {
			t.Errorf("the other host was asked %d times", n)
		}
	})
}

func TestNothingThatAGitServerSaysIsShown(t *testing.T) {
	t.Parallel()
	const marker = "Zaubernuss"
	pack := func(texts ...string) *testenv.HostileGit {
		return &testenv.HostileGit{
			Refs: []string{someID + " refs/heads/main"},
			Fetch: func(_ *http.Request, send func(byte, []byte) error) {
				for _, text := range texts {
					_ = send(2, []byte(text))
				}
				_ = send(3, []byte("fatal: "+marker+" 3"))
			},
		}
	}
	answer := func(code int, kind, text string) *testenv.HostileGit {
		return &testenv.HostileGit{Before: func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("WWW-Authenticate", `Basic realm="`+marker+`"`)
			w.Header().Set("Location", "https://"+marker+".example.com/")
			w.WriteHeader(code)
			_, _ = fmt.Fprint(w, text)
			return true
		}}
	}
	cases := map[string]*testenv.HostileGit{
		"side band with escapes":            pack("\x1b]0;"+marker+"\x07\x1b[2J"+marker+"\n", "fatal: "+marker+"\r\n"),
		"side band that feigns damage":      pack("\nfatal: bad object "+marker+"\r", "\rfatal: loose object "+marker+" is corrupt\n"),
		"megabytes in the side band":        pack(strings.Repeat(strings.Repeat(marker, 1000)+"\n", 6), strings.Repeat(marker+"\n", 5000)),
		"an error packet":                   answer(http.StatusOK, "application/x-git-upload-pack-advertisement", testenv.Packet("# service=git-upload-pack\n")+"0000"+testenv.Packet("ERR "+marker)),
		"an advertisement that is none":     answer(http.StatusOK, "application/x-git-upload-pack-advertisement", testenv.Packet("# service="+marker+"\n")+"0000"),
		"a packet of another length":        answer(http.StatusOK, "application/x-git-upload-pack-advertisement", marker+marker),
		"a capability that nobody knows":    answer(http.StatusOK, "application/x-git-upload-pack-advertisement", testenv.Packet("# service=git-upload-pack\n")+"0000"+testenv.Packet("version 2\n")+testenv.Packet("object-format="+marker+"\n")+"0000"),
		"a page":                            answer(http.StatusOK, "text/html", "<html>"+marker),
		"a list of no references":           answer(http.StatusOK, "text/plain", someID+"\t"+marker+" \x1b[31m\n"+marker+"\n"),
		"not found, in plain text":          answer(http.StatusNotFound, "text/plain", marker+"\nRepository not found "+marker),
		"not allowed, in plain text":        answer(http.StatusForbidden, "text/plain; charset=utf-8", marker),
		"sign in, in plain text":            answer(http.StatusUnauthorized, "text/plain", marker),
		"a failure, in plain text":          answer(http.StatusInternalServerError, "text/plain", marker),
		"an odd status":                     answer(599, "text/plain", marker),
		"a redirect":                        answer(http.StatusFound, "text/plain", marker),
		"references that no command prints": {Refs: []string{marker + " refs/heads/main", someID + " refs/heads/main symref-target:" + marker}},
		"a pack of something else": {
			Refs:  []string{someID + " refs/heads/main"},
			Fetch: func(_ *http.Request, send func(byte, []byte) error) { _ = send(1, []byte("PACK"+marker+marker)) },
		},
	}
	for name, server := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server.Start(t)
			var log bytes.Buffer
			c := client(t, func(o *git.Options) {
				o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			m := mirror(t, c, url, git.Credential{})
			_, listErr := m.LsRemote(t.Context())
			fetchErr := m.Fetch(t.Context(), "refs/heads/main")
			if fetchErr == nil {
				t.Error("there is no error of the fetch")
			}
			for _, err := range []error{listErr, fetchErr} {
				if err == nil {
					continue
				}
				if text := err.Error(); strings.Contains(text, marker) || strings.ContainsAny(text, "\x1b\n\r") || len(text) > 500 || !strings.Contains(text, url) {
					t.Errorf("err = %.600q", text)
				}
				if errors.Is(err, git.ErrCorrupt) {
					t.Error("the server had the mirror thrown away")
				}
			}
			if strings.Contains(log.String(), marker) {
				t.Errorf("the log shows it: %.300s", log.String())
			}
		})
	}
}

func TestSSHServersSayNothingEither(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	repo := server.NewRepo("Zaubernuss") // the server's git quotes the path that it does not find
	url := strings.Replace(repo.SSHURL(), "Zaubernuss.git", "none.git", 1)
	m := mirror(t, client(t), url, git.Credential{SSHKey: server.SSHKey(), KnownHosts: server.KnownHosts()})
	err := m.Fetch(t.Context(), "refs/heads/main")
	if !errors.Is(err, git.ErrNotFound) || strings.Contains(err.Error(), "does not appear") {
		t.Errorf("err = %v", err)
	}
}

// endless sends a pack of one blob that goes on for size bytes, none of which can be made smaller.
func endless(size int64, pause time.Duration) func(*http.Request, func(byte, []byte) error) {
	return func(r *http.Request, send func(byte, []byte) error) {
		head := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), testenv.PackHead(3, 1<<40)...)
		if send(1, append(head, 0x78, 0x01)) != nil {
			return
		}
		noise := rand.NewChaCha8([32]byte{1})
		const block = 60000 // a stored block of deflate
		for sent := int64(0); sent < size; sent += block {
			b := make([]byte, 5+block)
			_, _ = noise.Read(b[5:]) // never fails
			b[0], b[1], b[2], b[3], b[4] = 0, byte(block&0xff), byte(block>>8), byte(^block&0xff), byte(^block>>8&0xff)
			if send(1, b) != nil {
				return
			}
			if pause > 0 {
				select {
				case <-r.Context().Done():
					return
				case <-time.After(pause):
				}
			}
		}
	}
}

func TestAPackThatIsTooLargeIsStopped(t *testing.T) {
	t.Parallel()
	limit, sent := int64(4<<20), int64(64<<20)
	if os.Getenv("SLIPWAY_SOAK_PACK") != "" {
		limit, sent = 256<<20, 1<<30
	}
	dir := t.TempDir()
	c := client(t, func(o *git.Options) { o.Dir, o.MaxSize = dir, limit })
	url := (&testenv.HostileGit{Refs: []string{someID + " refs/heads/main"}, Fetch: endless(sent, 0)}).Start(t)
	good := testenv.Git(t).NewRepo("good")
	good.Commit(map[string]string{"a.txt": "x"}, "one")
	done := make(chan error, 1)
	go func() { done <- mirror(t, c, url, git.Credential{}).Fetch(t.Context(), "refs/heads/main") }()
	if got, err := read(t.Context(), mirror(t, c, good.URL(), git.Credential{})); err != nil || got != "x" {
		t.Errorf("another repository meanwhile: %q, %v", got, err)
	}
	var most int64
	for {
		select {
		case err := <-done:
			if !errors.Is(err, git.ErrTooLarge) || !strings.Contains(err.Error(), "--repository-size") || !strings.Contains(err.Error(), url) {
				t.Errorf("err = %v, want %v", err, git.ErrTooLarge)
			}
			if most > limit+2<<20 {
				t.Errorf("%d bytes were on disk, the limit is %d", most, limit)
			}
			if left := unfinished(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			return
		case <-time.After(5 * time.Millisecond):
			most = max(most, diskOf(t, dir))
		}
	}
}

func TestAMirrorThatIsFullDropsWhatNothingRefersTo(t *testing.T) {
	t.Parallel()
	noise := rand.NewChaCha8([32]byte{2})
	blob := func() string {
		b := make([]byte, 400<<10)
		_, _ = noise.Read(b) // never fails
		return string(b)
	}
	repo := testenv.Git(t).NewRepo("r")
	m := mirror(t, client(t, func(o *git.Options) { o.MaxSize = 3 << 20 }), repo.URL(), git.Credential{})
	for i := range 12 { // each is pushed over the last one: 5 MB in all
		if i > 0 {
			repo.DeleteRef("refs/heads/main")
		}
		repo.Commit(map[string]string{"a.txt": fmt.Sprint(i), "large": blob()}, "again")
		if got, err := read(t.Context(), m); err != nil || got != fmt.Sprint(i) {
			t.Fatalf("push %d: %q, %v", i, got, err)
		}
	}
	files := map[string]string{"a.txt": "all"}
	for i := range 10 {
		files[fmt.Sprint("large", i)] = blob()
	}
	repo.Commit(files, "too much at once")
	if err := m.Fetch(t.Context(), "refs/heads/main"); !errors.Is(err, git.ErrTooLarge) {
		t.Errorf("err = %v, want %v", err, git.ErrTooLarge)
	}
	if id, err := m.Ref("refs/heads/main"); err != nil {
		t.Errorf("what was there is lost: %v %v", id, err)
	}
}

func TestWhatUnpacksToMuchIsStopped(t *testing.T) {
	t.Parallel()
	deltas := &testenv.GitPack{}
	base := deltas.Add("blob", strings.Repeat("\x00", 16<<20-1))
	deltas.AddDelta(base, 16<<20-1, 24) // 384 MiB
	blob := func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(testenv.Packet("# service=git-upload-pack\n") + "0000"))
		for zeros := make([]byte, 1<<20); r.Context().Err() == nil; {
			if _, err := z.Write(zeros); err != nil {
				break
			}
		}
		return true
	}
	refs := make([]string, 300_000)
	for i := range refs {
		refs[i] = fmt.Sprintf("%s refs/heads/%0200d", someID, i)
	}
	for name, server := range map[string]*testenv.HostileGit{
		"deltas":               {Refs: []string{someID + " refs/heads/main"}, Fetch: testenv.SendPack(deltas.Bytes())},
		"gzip":                 {Before: blob},
		"a list of references": {Refs: refs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server.Start(t)
			m := mirror(t, client(t, func(o *git.Options) { o.MaxMemory, o.FetchTimeout = 64<<20, time.Minute }), url, git.Credential{})
			err := m.Fetch(t.Context(), "refs/heads/main")
			if !errors.Is(err, git.ErrMemory) || !strings.Contains(err.Error(), "--repository-memory") || !strings.Contains(err.Error(), url) {
				t.Errorf("err = %v, want %v", err, git.ErrMemory)
			}
		})
	}
}

func TestAServerThatStopsInThePackLeavesNothing(t *testing.T) {
	t.Parallel()
	stop := func(how string) func(*http.Request, func(byte, []byte) error) {
		return func(r *http.Request, send func(byte, []byte) error) {
			endless(1<<20, 0)(r, send)
			switch how {
			case "hangs":
				<-r.Context().Done()
			case "drips":
				for r.Context().Err() == nil && send(1, []byte{0}) == nil {
					select {
					case <-r.Context().Done():
					case <-time.After(100 * time.Millisecond):
					}
				}
			case "breaks off":
				panic(http.ErrAbortHandler)
			}
		}
	}
	for _, how := range []string{"hangs", "drips", "breaks off", "ends"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := client(t, func(o *git.Options) { o.Dir, o.FetchTimeout = dir, 2*time.Second })
			url := (&testenv.HostileGit{Refs: []string{someID + " refs/heads/main"}, Fetch: stop(how)}).Start(t)
			m := mirror(t, c, url, git.Credential{})
			for range 2 {
				if err := m.Fetch(t.Context(), "refs/heads/main"); !errors.Is(err, git.ErrUnreachable) || !strings.Contains(err.Error(), url) {
					t.Errorf("err = %v, want %v", err, git.ErrUnreachable)
				}
			}
			if left := unfinished(t, dir); len(left) > 0 || diskOf(t, dir) > 100<<10 {
				t.Errorf("%d bytes are left, in %v", diskOf(t, dir), left)
			}
		})
	}
}

func TestServersThatHangHoldUpNobodyElse(t *testing.T) {
	t.Parallel()
	hang := &testenv.HostileGit{Before: func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}}
	c := client(t, func(o *git.Options) {
		o.Concurrency, o.Patience, o.Timeout = 2, 50*time.Millisecond, time.Hour
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ended atomic.Int64
	done := make(chan struct{}, 12)
	for range 12 {
		m := mirror(t, c, hang.Start(t), git.Credential{})
		go func() {
			if _, err := m.LsRemote(ctx); ctx.Err() == nil {
				ended.Add(1)
				t.Errorf("a server that hangs has an answer: %v", err)
			}
			done <- struct{}{}
		}()
	}
	repo := testenv.Git(t).NewRepo("good")
	repo.Commit(map[string]string{"a.txt": "x"}, "one")
	within, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	if got, err := read(within, mirror(t, c, repo.URL(), git.Credential{})); err != nil || got != "x" {
		t.Errorf("another repository: %q, %v", got, err)
	}
	cancel()
	for range 12 {
		<-done
	}
}
