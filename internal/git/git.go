// Package git keeps bare mirrors of remote repositories and reads objects from them, through the git program in a
// closed environment: no user or system configuration, no hooks, no prompts, no protocols but the allowed ones, and no
// credential in an argument, a URL, a log line or an error. Nothing is ever checked out.
package git

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Defaults of Options.
const (
	DefaultTimeout      = 90 * time.Second
	DefaultFetchTimeout = 10 * time.Minute
	DefaultIdle         = 5 * time.Minute
	DefaultCacheBytes   = 64 << 20
	DefaultConcurrency  = 16
	DefaultMaxSize      = 4 << 30
	DefaultMaxMemory    = 512 << 20
)

// Options configure a Client. The zero value of each field but Dir means its default.
type Options struct {
	Dir          string        // where mirrors are kept, created on demand; required
	Program      string        // path of git, default: the one in PATH
	Timeout      time.Duration // of listing the references of a remote
	FetchTimeout time.Duration // of one fetch, the first of a large repository included
	Idle         time.Duration // after which the reader process of a mirror is ended
	CacheBytes   int64         // bound on parsed trees kept in memory, all mirrors together
	Concurrency  int           // commands that talk to remotes at the same time and are quick; see lane for the slow ones
	Patience     time.Duration // after which such a command counts as slow, default 10 s
	MaxSize      int64         // bytes that one mirror may take on disk; a fetch ends where it would take more
	MaxMemory    int64         // bytes of private memory of each process of git that reads what a remote sends
	AllowFile    bool          // allow file:// URLs and paths: tests and development only
	Blobless     bool          // fetch commits and trees only; blobs come through Prefetch or on the first read
	// Hosts says which hosts may be connected to, and at which addresses; nil for all. It is for addresses of others.
	Hosts Hosts
	Log   *slog.Logger
}

// Hosts decides which hosts may be connected to.
type Hosts interface {
	// Resolve gives addresses that were found harmless. An error that Refuses is about the host, others are about the resolver.
	Resolve(ctx context.Context, host string) ([]netip.Addr, error)
	Refuses(err error) bool
}

// Client runs git. It is safe for concurrent use. Close it to end its processes and remove its private files.
type Client struct {
	opts    Options
	program string
	private string // directory of mode 0700 for keys and certificates, and an empty home
	trees   *treeCache
	lanes   *lanes
	log     *slog.Logger

	mu      sync.Mutex
	mirrors map[string]*Mirror
	closed  bool
}

// New checks that git is there and new enough (2.38) and prepares the directories.
func New(ctx context.Context, o Options) (*Client, error) {
	if o.Dir == "" || !filepath.IsAbs(o.Dir) {
		return nil, errors.New("open git cache: the directory must be an absolute path")
	}
	o = withDefaults(o)
	program, err := exec.LookPath(o.Program)
	if err != nil {
		return nil, fmt.Errorf("find git: %w: install git 2.38 or newer", err)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create git cache: %w", err)
	}
	private, err := os.MkdirTemp("", "slipway-git-")
	if err != nil {
		return nil, fmt.Errorf("create private directory: %w", err)
	}
	c := &Client{
		opts: o, program: program, private: private, log: o.Log,
		trees:   newTreeCache(o.CacheBytes),
		lanes:   newLanes(o.Concurrency, o.Patience),
		mirrors: map[string]*Mirror{},
	}
	if err := os.Mkdir(c.home(), 0o500); err != nil {
		return nil, errors.Join(fmt.Errorf("create empty home: %w", err), c.Close())
	}
	if err := c.checkVersion(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func withDefaults(o Options) Options {
	if o.Program == "" {
		o.Program = "git"
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.FetchTimeout <= 0 {
		o.FetchTimeout = DefaultFetchTimeout
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.Concurrency <= 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.MaxSize <= 0 {
		o.MaxSize = DefaultMaxSize
	}
	if o.MaxMemory <= 0 {
		o.MaxMemory = DefaultMaxMemory
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func (c *Client) home() string { return filepath.Join(c.private, "home") }

func (c *Client) checkVersion(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := c.run(ctx, command{args: []string{"version"}})
	if err != nil {
		return fmt.Errorf("ask git for its version: %w", err)
	}
	m := regexp.MustCompile(`(\d+)\.(\d+)`).FindSubmatch(out)
	if m == nil {
		return fmt.Errorf("ask git for its version: %q is none", out)
	}
	major, _ := strconv.Atoi(string(m[1]))
	minor, _ := strconv.Atoi(string(m[2]))
	if major < 2 || major == 2 && minor < 38 {
		return fmt.Errorf("git %s.%s is too old: install git 2.38 or newer", m[1], m[2])
	}
	return nil
}

// Close ends every reader process and removes the private files. Mirrors stay on disk.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	mirrors := make([]*Mirror, 0, len(c.mirrors))
	for _, m := range c.mirrors {
		mirrors = append(mirrors, m)
	}
	c.mu.Unlock()
	for _, m := range mirrors {
		m.Close()
	}
	// The empty home is not writable; its parent is, which is all that removing it needs.
	return os.RemoveAll(c.private)
}
