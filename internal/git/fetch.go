package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

const (
	maintainAfter = 50 // fetches; each adds a small pack, and many packs slow down every lookup
	maintainLimit = 10 * time.Minute
)

// Fetch brings the given references (full names, such as refs/heads/main) and what they reach into the mirror. It fails
// with ErrRefGone where one does not exist at the remote; nothing of the others is fetched then.
func (m *Mirror) Fetch(ctx context.Context, refs ...string) error {
	specs := make([]string, 0, len(refs))
	for _, ref := range refs {
		if err := CheckRef(ref); err != nil {
			return err
		}
		specs = append(specs, "+"+ref+":"+localRef(ref))
	}
	err := m.fetch(ctx, specs)
	var gone *Error
	if errors.As(err, &gone) && errors.Is(gone.Kind, ErrRefGone) && len(refs) == 1 {
		gone.Detail = refs[0]
	}
	return err
}

// FetchCommit brings one commit into the mirror by its full id. Where the server refuses to hand out a commit that no
// reference points to, all branches and tags are fetched instead.
func (m *Mirror) FetchCommit(ctx context.Context, commit string) error {
	if _, err := ParseID(commit); err != nil {
		return err
	}
	if m.Has(commit) {
		return nil
	}
	err := m.fetch(ctx, []string{"+" + commit + ":" + localRef(commit)})
	if err == nil || !errors.Is(err, ErrNoRevision) {
		return err
	}
	m.client.log.Info("server refuses a bare commit id: fetch all branches and tags", slog.String("repo", m.URL()),
		slog.String("revision", commit))
	if err := m.FetchAll(ctx); err != nil {
		return err
	}
	if !m.Has(commit) {
		return &Error{Kind: ErrNoRevision, URL: m.URL(), Detail: "commit " + commit, Hint: "no branch or tag of the repository contains it"}
	}
	return nil
}

// FetchAll brings all branches and tags into the mirror.
func (m *Mirror) FetchAll(ctx context.Context) error {
	return m.fetch(ctx, []string{"+refs/heads/*:refs/all/heads/*", "+refs/tags/*:refs/all/tags/*"}, "--prune")
}

func (m *Mirror) fetch(ctx context.Context, specs []string, extra ...string) error {
	if len(specs) == 0 {
		return nil
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.unlock()
	err := m.fetchLocked(ctx, specs, extra)
	if errors.Is(err, ErrCorrupt) {
		m.client.log.Warn("mirror is damaged: fetch it again", slog.String("repo", m.URL()), slog.Any("err", err))
		if err := m.create(ctx); err != nil {
			return err
		}
		err = m.fetchLocked(ctx, specs, extra)
	}
	if err == nil {
		m.fetches.Add(1)
	}
	return err
}

func (m *Mirror) fetchLocked(ctx context.Context, specs, extra []string) error {
	if err := m.ensure(ctx); err != nil {
		return err
	}
	args := []string{
		"fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-show-forced-updates",
	}
	if m.client.opts.Blobless {
		args = append(args, "--filter=blob:none")
	}
	if depth := m.cred.Load().Depth; depth > 0 {
		args = append(args, fmt.Sprintf("--depth=%d", depth))
	}
	args = append(append(args, extra...), "--stdin", "origin")
	return m.bring(ctx, command{dir: m.dir, args: args, stdin: strings.NewReader(strings.Join(specs, "\n") + "\n")})
}

// Prefetch makes sure that every file below dir of a commit is in the mirror, with one request. It does nothing in a
// mirror that is not blobless.
func (m *Mirror) Prefetch(ctx context.Context, commit, dir string) error {
	if !m.client.opts.Blobless {
		return nil
	}
	if _, err := ParseID(commit); err != nil {
		return err
	}
	start := commit + "^{tree}"
	if dir != "" && dir != "." {
		if strings.ContainsAny(dir, "\n\x00") {
			return fmt.Errorf("prefetch %q: the name holds a line break", dir)
		}
		start = commit + ":" + dir
	}
	out, err := m.client.run(ctx, command{
		dir: m.dir, args: []string{"rev-list", "--objects", "--missing=print", "--no-object-names", "--stdin"},
		stdin: strings.NewReader(start + "\n"),
	})
	if err != nil {
		return m.explainLocal(err)
	}
	var ids []string
	for line := range strings.Lines(string(out)) {
		if id, missing := strings.CutPrefix(strings.TrimSpace(line), "?"); missing {
			ids = append(ids, id)
		}
	}
	return m.fetchObjects(ctx, ids)
}

// fetchObjects brings objects by id into a blobless mirror.
func (m *Mirror) fetchObjects(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.unlock()
	return m.bring(ctx, command{
		dir: m.dir, stdin: strings.NewReader(strings.Join(ids, "\n") + "\n"),
		config: [][2]string{{"fetch.negotiationAlgorithm", "noop"}},
		args: []string{
			"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--filter=blob:none", "--stdin", "origin",
		},
	})
}

// Keep forgets every fetched reference but the given ones (full names or commit ids). Their objects go with the next
// maintenance that repacks everything.
func (m *Mirror) Keep(ctx context.Context, refs []string) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.unlock()
	if !m.ready.Load() {
		return nil
	}
	keep := make([]string, 0, len(refs))
	for _, r := range refs {
		keep = append(keep, localRef(r))
	}
	out, err := m.client.run(ctx, command{dir: m.dir, args: []string{"for-each-ref", "--format=%(refname)", "refs/"}})
	if err != nil {
		return m.explainLocal(err)
	}
	var drop bytes.Buffer
	for line := range strings.Lines(string(out)) {
		if ref := strings.TrimSpace(line); !slices.Contains(keep, ref) {
			drop.WriteString("delete " + ref + "\n")
		}
	}
	if drop.Len() == 0 {
		return nil
	}
	_, err = m.client.run(ctx, command{dir: m.dir, args: []string{"update-ref", "--stdin"}, stdin: &drop})
	return m.explainLocal(err)
}

// Maintain repacks the mirror when enough was fetched since the last time. It is meant to run when there is nothing
// more urgent: a fetch waits for it. Objects that nothing refers to any more stay until the mirror is reset, because an
// application may still be at a commit that was pushed over.
func (m *Mirror) Maintain(ctx context.Context) error {
	if m.fetches.Load() < maintainAfter {
		return nil
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.unlock()
	ctx, cancel := context.WithTimeout(ctx, maintainLimit)
	defer cancel()
	args := []string{"repack", "-d", "-l", "-q", "--geometric=2"}
	if m.client.opts.Blobless {
		// Geometric repacking mixes promised and local packs in older versions of git.
		args = []string{"repack", "-a", "-d", "-k", "-l", "-q"}
	}
	_, err := m.client.run(ctx, command{
		dir: m.dir, args: args,
		config: repackConfig(),
	})
	if err != nil {
		return m.explainLocal(err)
	}
	m.fetches.Store(0)
	m.reader.close() // it has the old packs open, and their disk space with them
	return nil
}

func repackConfig() [][2]string {
	return [][2]string{
		{"pack.threads", "1"}, {"pack.windowMemory", "64m"}, {"repack.writeBitmaps", "false"}, {"repack.updateServerInfo", "false"},
	}
}

// localRef is where a remote reference is kept: under a hash, so that no name of one can clash with or hide another
// (a and a/b, names that differ in case, names a file system refuses).
func localRef(ref string) string {
	sum := sha256.Sum256([]byte(ref))
	return "refs/m/" + hex.EncodeToString(sum[:12])
}

// CheckRef refuses what is not a full reference name.
func CheckRef(ref string) error {
	bad := !strings.HasPrefix(ref, "refs/") || len(ref) > 1024 || strings.HasSuffix(ref, "/") || strings.HasSuffix(ref, ".lock") ||
		strings.Contains(ref, "..") || strings.Contains(ref, "@{") || strings.Contains(ref, "//") || strings.ContainsAny(ref, " ~^:?*[\\")
	for _, r := range ref {
		bad = bad || r < ' ' || r == 0x7f
	}
	if bad {
		return fmt.Errorf("%w: %.200q is not a valid reference name", ErrNoRevision, ref)
	}
	return nil
}
