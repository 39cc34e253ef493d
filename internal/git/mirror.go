package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Mirror is the local bare copy of one repository as seen with one credential. It holds the references that were
// fetched and nothing else. It is safe for concurrent use; fetches of one mirror run one after the other.
type Mirror struct {
	client *Client
	remote Remote
	cred   atomic.Pointer[Credential] // its secrets may change, its scope does not
	dir    string
	serial uint64 // distinguishes mirrors of a client, so that parsed trees of one never serve another
	reader *reader

	turn    chan struct{} // holds one token: the right to change the mirror
	ready   atomic.Bool   // the directory is there and in order
	fetches atomic.Int64  // since the last maintenance
	epoch   atomic.Uint64 // how often the mirror was created, or lost objects
	grown   atomic.Bool   // something was fetched since it was compacted
}

// Mirror returns the mirror of the repository at address, read with cred; the same one for every spelling of the
// address. A user and password inside the address are used where cred has none. Nothing is fetched yet.
func (c *Client) Mirror(address string, cred Credential) (*Mirror, error) {
	remote, inside, err := ParseRemote(address, c.opts.AllowFile)
	if err != nil {
		return nil, err
	}
	if cred.Password == "" && cred.Bearer == "" && cred.Tokens == nil {
		cred.Username, cred.Password = inside.Username, inside.Password
	}
	if err := cred.check(); err != nil {
		return nil, err
	}
	name := mirrorName(remote, cred)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("open mirror: the git cache is closed")
	}
	if m := c.mirrors[name]; m != nil {
		m.cred.Store(&cred)
		return m, nil
	}
	m := &Mirror{
		client: c, remote: remote, serial: uint64(len(c.mirrors)),
		dir: filepath.Join(c.opts.Dir, name), turn: make(chan struct{}, 1),
	}
	m.cred.Store(&cred)
	m.reader = &reader{mirror: m}
	c.mirrors[name] = m
	return m, nil
}

func mirrorName(r Remote, cred Credential) string {
	sum := sha256.Sum256([]byte(r.URL + "\n" + cred.Scope()))
	return hex.EncodeToString(sum[:12]) + ".git"
}

// URL is the address without user information for http(s), spelled one way.
func (m *Mirror) URL() string { return m.remote.URL }

// Remote is the parsed address.
func (m *Mirror) Remote() Remote { return m.remote }

// Scope identifies (repository, credential) without revealing the credential. It is stable over restarts and belongs in
// every cache key of what was read from the mirror.
func (m *Mirror) Scope() string { return strings.TrimSuffix(filepath.Base(m.dir), ".git") }

// Epoch changes when the mirror was created again or compacted, so that what was fetched before may be gone.
func (m *Mirror) Epoch() uint64 { return m.epoch.Load() }

// Close ends the reader process. The mirror can be used again afterwards.
func (m *Mirror) Close() { m.reader.close() }

// lock takes the right to change the mirror.
func (m *Mirror) lock(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Mirror) unlock() { <-m.turn }

// ensure creates the mirror where it is missing and clears what a killed process left behind. The lock is held.
func (m *Mirror) ensure(ctx context.Context) error {
	if m.ready.Load() {
		return nil
	}
	if _, err := os.Stat(filepath.Join(m.dir, "objects")); err == nil {
		if err := removeLeftovers(m.dir); err == nil {
			now := time.Now()
			_ = os.Chtimes(m.dir, now, now) // Sweep goes by it; an old date costs a fetch at worst
			packs, _ := filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack"))
			m.fetches.Store(int64(len(packs)))
			m.grown.Store(true)
			m.ready.Store(true)
			return nil
		}
	}
	return m.create(ctx)
}

// create makes an empty mirror in place of whatever is there.
func (m *Mirror) create(ctx context.Context) error {
	m.reader.close()
	m.epoch.Add(1)
	if err := os.RemoveAll(m.dir); err != nil {
		return fmt.Errorf("remove mirror: %w", err)
	}
	args := []string{"init", "--quiet", "--bare", "--template=", "--initial-branch=main", m.dir}
	if _, err := m.client.run(ctx, command{args: args}); err != nil {
		return fmt.Errorf("create mirror: %w", err)
	}
	if m.client.opts.Blobless {
		const partial = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n" +
			"[remote \"origin\"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n"
		if err := os.WriteFile(filepath.Join(m.dir, "config"), []byte(partial), 0o600); err != nil {
			return fmt.Errorf("create mirror: %w", err)
		}
	}
	m.ready.Store(true)
	return nil
}

// Reset deletes the mirror; the next fetch starts over.
func (m *Mirror) Reset(ctx context.Context) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.unlock()
	m.ready.Store(false)
	return m.create(ctx)
}

// removeLeftovers deletes lock files and unfinished packs. Only one process uses a cache directory.
func removeLeftovers(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		if leftover(d.Name()) {
			return os.Remove(path)
		}
		return nil
	})
}

// leftover reports whether a file is one that git has not finished.
func leftover(name string) bool {
	return strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".temp") || strings.HasPrefix(name, "tmp_") ||
		strings.HasPrefix(name, ".tmp-")
}

// remoteRun runs a command that talks to the repository of the mirror. A token that the server refuses is renewed once: it may have
// been withdrawn.
func (m *Mirror) remoteRun(ctx context.Context, cmd command, limit time.Duration) ([]byte, error) {
	used, err := m.cred.Load().signedIn(ctx, m.remote, "")
	if err != nil {
		return nil, err
	}
	out, err := m.remoteOnce(ctx, cmd, limit, used)
	if !errors.Is(err, ErrAuth) || used.Tokens == nil || used.token() == "" {
		return out, err
	}
	renewed, wrong := used.signedIn(ctx, m.remote, used.token())
	if wrong != nil || renewed.token() == used.token() {
		return out, err // there is no other token
	}
	if err := rewind(cmd); err != nil {
		return nil, err
	}
	return m.remoteOnce(ctx, cmd, limit, renewed)
}

func (m *Mirror) remoteOnce(ctx context.Context, cmd command, limit time.Duration, used Credential) ([]byte, error) {
	a, err := m.client.open(ctx, m.remote, used)
	if err != nil {
		return nil, err
	}
	defer a.close()
	cmd.config = append(slices.Clip(cmd.config), a.config...)
	cmd.env = append(slices.Clip(cmd.env), a.env...)
	cmd.limits.memory = m.client.opts.MaxMemory
	out, err := m.client.remote(ctx, cmd, limit)
	if why := a.relay.err(); err != nil && why != nil && ctx.Err() == nil {
		return nil, why
	}
	return out, m.explain(err, used)
}

// rewind makes what a command reads be read again from its beginning.
func rewind(cmd command) error {
	if in, ok := cmd.stdin.(io.Seeker); ok {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read references to fetch: %w", err)
		}
	}
	return nil
}

// bring runs a command that writes objects of the remote into the mirror, which stays within the limit of its size. What an
// unfinished one leaves behind is removed. The lock is held.
func (m *Mirror) bring(ctx context.Context, cmd command) error {
	err := m.bringOnce(ctx, cmd)
	if errors.Is(err, ErrTooLarge) && m.grown.Swap(false) {
		m.client.log.Info("mirror has reached its limit: drop what nothing refers to, and fetch again", slog.String("repo", m.URL()))
		if err := m.compact(ctx); err != nil {
			return err
		}
		err = m.bringOnce(ctx, cmd)
	}
	if err == nil {
		m.grown.Store(true)
	}
	return err
}

func (m *Mirror) bringOnce(ctx context.Context, cmd command) error {
	most := m.client.opts.MaxSize
	used := size(m.dir)
	if used > most {
		return m.tooLarge()
	}
	// Something is left for the small files of a fetch that brings nothing.
	cmd.limits.file = max(most-used, minFile)
	if err := rewind(cmd); err != nil { // it was read before
		return err
	}
	ctx, end := guarded(ctx, m.dir, most+minFile)
	_, err := m.remoteRun(ctx, cmd, m.client.opts.FetchTimeout)
	end()
	if err != nil {
		// git does not say that a process of its own was ended by the limit. A file that is as large as it may be does.
		if largest(m.dir) >= cmd.limits.file {
			err = m.tooLarge()
		}
		if left := removeLeftovers(m.dir); left != nil {
			m.client.log.Warn("remove an unfinished fetch", slog.String("repo", m.URL()), slog.Any("err", left))
		}
	}
	return err
}

// minFile is what git may write into one file in any case: its index of references, a lock.
const minFile = 1 << 20

// compact drops objects that no fetched reference reaches. An Application that is at one of these gets it by a new fetch. The
// lock is held.
func (m *Mirror) compact(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maintainLimit)
	defer cancel()
	for _, args := range [][]string{{"repack", "-a", "-d", "-l", "-q"}, {"prune", "--expire=now"}} {
		if _, err := m.client.run(ctx, command{dir: m.dir, args: args, config: repackConfig()}); err != nil {
			return m.explainLocal(err)
		}
	}
	m.reader.close()
	m.epoch.Add(1)
	return nil
}

// Sweep deletes mirrors of earlier runs that were not opened for longer than age, those of changed credentials among
// them. Mirrors that are open stay.
func (c *Client) Sweep(age time.Duration) error {
	dirs, err := os.ReadDir(c.opts.Dir)
	if err != nil {
		return fmt.Errorf("list git cache: %w", err)
	}
	var errs []error
	for _, d := range dirs {
		info, err := d.Info()
		if err != nil || !d.IsDir() || !strings.HasSuffix(d.Name(), ".git") || time.Since(info.ModTime()) < age {
			continue
		}
		c.mu.Lock()
		_, open := c.mirrors[d.Name()]
		c.mu.Unlock()
		if !open {
			errs = append(errs, os.RemoveAll(filepath.Join(c.opts.Dir, d.Name())))
		}
	}
	return errors.Join(errs...)
}
