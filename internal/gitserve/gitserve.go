// Package gitserve serves the repositories of a directory over Git's smart HTTP protocol, for reading and writing. It is
// meant for loopback: the demo of the command line, and tests. It has no access control of its own; wrap it.
package gitserve

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const maxBody = 1 << 30 // of one request, after decompression

// Handler serves every bare repository below Root at /<path>/. A request is answered by git itself.
type Handler struct {
	Root     string // directory of repositories
	Program  string // path of git, default "git"
	ReadOnly bool   // refuse pushes
	Log      *slog.Logger
	// Pushed is called after a push to the repository with the given path below Root, if set. It must not block.
	Pushed func(repo string)
}

// ServeHTTP answers the three requests of the protocol and 404 for everything else.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	repo, service, advertise, ok := route(r)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if service == "git-receive-pack" && h.ReadOnly {
		http.Error(w, "this server takes no pushes", http.StatusForbidden)
		return
	}
	dir, err := h.repository(repo)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	if advertise {
		h.advertise(w, r, dir, service)
		return
	}
	h.serve(w, r, dir, service, repo)
}

func route(r *http.Request) (repo, service string, advertise, ok bool) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if repo, ok = strings.CutSuffix(path, "/info/refs"); ok && r.Method == http.MethodGet {
		service, advertise = r.URL.Query().Get("service"), true
	} else if i := strings.LastIndexByte(path, '/'); i > 0 && r.Method == http.MethodPost {
		repo, service = path[:i], path[i+1:]
	}
	return repo, service, advertise, service == "git-upload-pack" || service == "git-receive-pack"
}

// repository finds the directory of a repository, with or without ".git" at its end, inside Root.
func (h *Handler) repository(repo string) (string, error) {
	root, err := os.OpenRoot(h.Root)
	if err != nil {
		return "", fmt.Errorf("open repositories: %w", err)
	}
	defer root.Close()
	for _, name := range []string{repo, repo + ".git"} {
		if !filepath.IsLocal(name) {
			break
		}
		if st, err := root.Stat(filepath.Join(name, "objects")); err == nil && st.IsDir() {
			return filepath.Join(h.Root, name), nil
		}
	}
	return "", errors.New("no such repository")
}

func (h *Handler) git(r *http.Request, args ...string) *exec.Cmd {
	program := h.Program
	if program == "" {
		program = "git"
	}
	c := exec.CommandContext(r.Context(), program, args...)
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_CONFIG_COUNT=5",
		"GIT_CONFIG_KEY_0=uploadpack.allowFilter", "GIT_CONFIG_VALUE_0=true",
		"GIT_CONFIG_KEY_1=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_1=true",
		"GIT_CONFIG_KEY_2=receive.autogc", "GIT_CONFIG_VALUE_2=false",
		"GIT_CONFIG_KEY_3=core.hooksPath", "GIT_CONFIG_VALUE_3=/dev/null",
		"GIT_CONFIG_KEY_4=safe.directory", "GIT_CONFIG_VALUE_4=*",
	}
	if v := r.Header.Get("Git-Protocol"); v != "" && len(v) < 256 && !strings.ContainsRune(v, 0) {
		c.Env = append(c.Env, "GIT_PROTOCOL="+v)
	}
	return c
}

func (h *Handler) advertise(w http.ResponseWriter, r *http.Request, dir, service string) {
	c := h.git(r, strings.TrimPrefix(service, "git-"), "--stateless-rpc", "--advertise-refs", dir)
	out, err := c.Output()
	if err != nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
	if !bytes.HasPrefix(out, []byte("000eversion 2")) {
		line := "# service=" + service + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(line)+4, line)
	}
	_, _ = w.Write(out) // the client has gone away if this fails
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, dir, service, repo string) {
	body := io.Reader(http.MaxBytesReader(w, r.Body, maxBody))
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, "the body is not gzip", http.StatusBadRequest)
			return
		}
		body = io.LimitReader(z, maxBody)
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-result")
	c := h.git(r, strings.TrimPrefix(service, "git-"), "--stateless-rpc", dir)
	c.Stdin, c.Stdout = body, w
	if err := c.Run(); err != nil {
		if r.Context().Err() == nil {
			h.log().Debug("serve repository", slog.String("repo", repo), slog.Any("err", err))
		}
		return
	}
	if service == "git-receive-pack" && h.Pushed != nil {
		h.Pushed(repo)
	}
}

func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	h.log().Warn("serve repository", slog.String("path", r.URL.Path), slog.Any("err", err))
	http.Error(w, "git failed", http.StatusInternalServerError)
}

func (h *Handler) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}
