package stack

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/gitserve"
	"github.com/slipway-gitops/slipway/internal/inlet"
)

// maxNotice bounds a notification.
const maxNotice = 1 << 20

// gitServer serves the demo repository and notifies the agent of every push.
type gitServer struct {
	dir     dir
	url     string            // of the demo repository
	webhook string            // of the agent
	secret  string            // that deliveries are signed with
	refs    map[string]string // as they were at the last notification
	wake    chan struct{}
	log     *slog.Logger
}

// run serves on listener until ctx is done.
func (g *gitServer) run(ctx context.Context, listener net.Listener) error {
	server := inlet.New(inlet.Config{
		Handler: localOnly(g.routes()), Log: g.log,
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	for {
		select {
		case <-ctx.Done():
			err := server.Close()
			<-served //nolint:errcheck // it says that the server was closed
			return err
		case err := <-served:
			return fmt.Errorf("serve demo repository: %w", err)
		case <-g.wake:
			g.tell(ctx)
		}
	}
}

func (g *gitServer) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", &gitserve.Handler{Root: g.dir.git(), Log: g.log, Pushed: g.pushed})
	mux.HandleFunc("POST "+noticesPath, g.notice)
	return mux
}

// pushed has the agent learn what changed in the repository.
func (g *gitServer) pushed(string) {
	select {
	case g.wake <- struct{}{}:
	default: // one is waiting already and will see this push too
	}
}

// notice keeps a notification that the demo's channel was sent, one a line.
func (g *gitServer) notice(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxNotice))
	if err != nil {
		http.Error(w, "the notification cannot be read", http.StatusBadRequest)
		return
	}
	file, err := os.OpenFile(g.dir.noticeLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(append(bytes.TrimSpace(body), '\n'))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		g.log.Warn("keep a notification", "err", err)
		http.Error(w, "the notification cannot be kept", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// localOnly refuses what a web page in a browser on this machine could send: it names another host or its own origin.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if host != "127.0.0.1" && host != "localhost" || r.Header.Get("Origin") != "" {
			http.Error(w, "this server is for git on this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// tell sends the agent one event for each ref that changed. A lost event costs nothing but time: the agent also
// polls.
func (g *gitServer) tell(ctx context.Context) {
	refs, err := g.readRefs(ctx)
	if err != nil {
		g.log.Warn("read refs of the demo repository", "err", err)
		return
	}
	for _, ref := range slices.Sorted(maps.Keys(both(g.refs, refs))) {
		if g.refs[ref] == refs[ref] {
			continue
		}
		if err := g.deliver(ctx, ref, g.refs[ref], refs[ref]); err != nil {
			g.log.Warn("notify the agent of a push", "ref", ref, "err", err)
		}
	}
	g.refs = refs
}

func both(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func (g *gitServer) readRefs(ctx context.Context) (map[string]string, error) {
	out, err := runGit(ctx, g.dir.file("git", demoRepository), nil, "for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		if ref, id, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			refs[ref] = id
		}
	}
	return refs, nil
}

// deliver posts one push as GitHub describes it.
func (g *gitServer) deliver(ctx context.Context, ref, before, after string) error {
	zeros := strings.Repeat("0", 40)
	if before == "" {
		before = zeros
	}
	if after == "" {
		after = zeros
	}
	body, err := json.Marshal(map[string]any{
		"ref": ref, "before": before, "after": after,
		"repository": map[string]any{"html_url": strings.TrimSuffix(g.url, ".git"), "clone_url": g.url, "default_branch": "main"},
	})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.webhook, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "push")
	if g.secret != "" {
		mac := hmac.New(sha256.New, []byte(g.secret))
		mac.Write(body)
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	res, err := http.DefaultClient.Do(req) //nolint:forbidigo // ctx has a limit
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode >= http.StatusMultipleChoices {
		err = errors.Join(err, fmt.Errorf("the agent answers with status %d", res.StatusCode))
	}
	return errors.Join(err, res.Body.Close())
}
