package lfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/turn"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	media      = "application/vnd.git-lfs+json"
	maxAnswer  = 1 << 20
	maxHeaders = 20
	mostBytes  = 1 << 30 // that the files of a Store have on disk
)

// Store fetches files and keeps them on disk, verified, for those who may read the same repository. It is safe for concurrent use.
type Store struct {
	dir    string
	policy *outward.Policy
	files  turn.Turns // of files that are being fetched: all who want one wait for one fetch
	mu     sync.Mutex // held while a file is written and others make room for it
}

// NewStore keeps files in a directory, which is created on demand.
func NewStore(dir string, policy *outward.Policy) *Store {
	return &Store{dir: dir, policy: policy}
}

// Repository is where files come from.
type Repository struct {
	URL   string // https:// or http://
	Scope string // identifies those who may read it; files of one are for no other
	// Access is what signs in now; refused is a password or token that the server did not accept, "" for none.
	Access func(ctx context.Context, refused string) (web.Access, error)
}

// Get returns the content that a pointer stands for. endpoint is the LFS server that the repository names, which has to be on the
// host of the repository; "" for the usual one.
func (s *Store) Get(ctx context.Context, from Repository, endpoint string, p Pointer) ([]byte, error) {
	sum := sha256.Sum256([]byte(from.Scope + "\n" + p.OID))
	file := filepath.Join(s.dir, hex.EncodeToString(sum[:]))
	done, err := s.files.Take(ctx, file)
	if err != nil {
		return nil, err
	}
	defer done()
	if raw, err := os.ReadFile(file); err == nil && p.matches(raw) {
		now := time.Now()
		_ = os.Chtimes(file, now, now) // what was read last is dropped last
		return raw, nil
	}
	home, err := server(from.URL, endpoint)
	if err != nil {
		return nil, err
	}
	raw, err := s.fetch(ctx, from, home, p, "")
	if err != nil {
		return nil, fmt.Errorf("fetch file of Git LFS: %w", err)
	}
	s.keep(file, raw)
	return raw, nil
}

func (p Pointer) matches(raw []byte) bool {
	sum := sha256.Sum256(raw)
	return int64(len(raw)) == p.Size && hex.EncodeToString(sum[:]) == p.OID
}

// Own are the addresses of a repository over HTTP, with and without .git at the end: servers have its files below either.
func Own(repository string) []string {
	base := strings.TrimSuffix(strings.TrimRight(repository, "/"), ".git")
	return []string{base, base + ".git"}
}

// server is the address of the LFS server.
func server(repository, endpoint string) (*url.URL, error) {
	own, err := web.ParseAddress(repository)
	if err != nil {
		return nil, errors.New("files of Git LFS come over https only: use the https:// address of the repository")
	}
	if endpoint == "" {
		if !strings.HasSuffix(own.Path, ".git") {
			own.Path += ".git"
		}
		return own.JoinPath("info", "lfs"), nil
	}
	named, err := web.ParseAddress(endpoint)
	if err != nil || named.User != nil || named.Scheme != own.Scheme || named.Host != own.Host {
		return nil, errors.New("the LFS server in .lfsconfig is not on the host of the repository: the credential is not sent there; " +
			"remove lfs.url from .lfsconfig")
	}
	return named, nil
}

// fetch asks the server where the file is, and gets it from there. A token that is refused is renewed once.
func (s *Store) fetch(ctx context.Context, from Repository, home *url.URL, p Pointer, refused string) ([]byte, error) {
	a, err := from.Access(ctx, refused)
	if err != nil {
		return nil, err
	}
	client, err := web.Open(from.URL, s.policy, a, web.Options{Bytes: max(p.Size, maxAnswer) + 1})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	at, header, err := locate(ctx, client, home, p)
	if secret := a.Password + a.Bearer; errors.Is(err, web.ErrAuth) && refused == "" && secret != "" {
		if again, wrong := from.Access(ctx, secret); wrong == nil && again.Password+again.Bearer != secret {
			return s.fetch(ctx, from, home, p, secret)
		}
	}
	if err != nil {
		return nil, err
	}
	resp, err := client.Get(ctx, at, header)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, p.Size+1))
	if err != nil {
		return nil, err
	}
	if !p.matches(raw) {
		return nil, &web.Error{
			Kind: web.ErrAnswer, URL: web.Shown(at), Detail: "it is not the file that the pointer names",
			Hint: "push the file again with git lfs push",
		}
	}
	return raw, nil
}

// batch is a question and an answer of the batch API.
type batch struct {
	Operation string   `json:"operation,omitempty"`
	Transfers []string `json:"transfers,omitempty"`
	Transfer  string   `json:"transfer,omitempty"`
	HashAlgo  string   `json:"hash_algo,omitempty"`
	Objects   []object `json:"objects"`
}

type object struct {
	OID     string `json:"oid"`
	Size    int64  `json:"size"`
	Actions *struct {
		Download *action `json:"download"`
	} `json:"actions,omitempty"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error,omitempty"`
}

type action struct {
	Href   string            `json:"href"`
	Header map[string]string `json:"header"`
}

// locate asks where a file is.
func locate(ctx context.Context, client *web.Client, home *url.URL, p Pointer) (*url.URL, http.Header, error) {
	at := home.JoinPath("objects", "batch")
	body, err := json.Marshal(batch{
		Operation: "download", Transfers: []string{"basic"}, HashAlgo: "sha256", Objects: []object{{OID: p.OID, Size: p.Size}},
	})
	if err != nil {
		return nil, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", media)
	req.Header.Set("Content-Type", media)
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := web.Check(at, resp); err != nil {
		return nil, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, nil, err
	}
	var got batch
	wrong := &web.Error{
		Kind: web.ErrAnswer, URL: web.Shown(at), Hint: "what answers there is no LFS server: check the address, or turn enableLfs off",
	}
	if strict.Decode(raw, &got, strict.Foreign) != nil || len(got.Objects) != 1 || got.Objects[0].OID != p.OID ||
		got.Transfer != "" && got.Transfer != "basic" {
		return nil, nil, wrong
	}
	o := got.Objects[0]
	if o.Error != nil || o.Actions == nil || o.Actions.Download == nil {
		return nil, nil, &web.Error{
			Kind: web.ErrNotFound, URL: web.Shown(at), Detail: "the LFS server does not have " + p.OID[:12],
			Hint: "push the file with git lfs push, and check that the credential may read it",
		}
	}
	to, err := web.ParseAddress(o.Actions.Download.Href)
	if err != nil || at.Scheme == "https" && to.Scheme != "https" {
		return nil, nil, wrong
	}
	header, ok := o.Actions.Download.headers()
	if !ok {
		return nil, nil, wrong
	}
	return to, header, nil
}

// headers are what the LFS server wants to be sent with the request for a file.
func (a *action) headers() (http.Header, bool) {
	out := http.Header{}
	if len(a.Header) > maxHeaders {
		return nil, false
	}
	for name, value := range a.Header {
		plain := func(r rune) bool { return r < ' ' || r > '~' }
		if name == "" || len(name)+len(value) > 16<<10 || strings.ContainsFunc(name, plain) || strings.ContainsFunc(value, plain) ||
			strings.ContainsAny(name, " :") {
			return nil, false
		}
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Transfer-Encoding", "Content-Length", "Range", "Cookie", "Proxy-Authorization":
			continue // they are ours to set
		}
		out.Set(name, value)
	}
	return out, true
}

// keep writes a file. One that cannot be kept is fetched again.
func (s *Store) keep(file string, raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if os.MkdirAll(s.dir, 0o700) != nil {
		return
	}
	s.shrink(int64(len(raw)))
	part := file + ".part"
	if os.WriteFile(part, raw, 0o600) != nil || os.Rename(part, file) != nil {
		_ = os.Remove(part)
	}
}

// shrink drops what was read longest ago until size bytes fit.
func (s *Store) shrink(size int64) {
	all, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	files := make([]fs.FileInfo, 0, len(all))
	for _, e := range all {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
			size += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if size <= mostBytes {
			return
		}
		if os.Remove(filepath.Join(s.dir, f.Name())) == nil {
			size -= f.Size()
		}
	}
}
