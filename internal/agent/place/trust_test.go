package place

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/project"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// signedRepo is a repository on a real Git server, with a key to sign with, and what judges it.
type signedRepo struct {
	t        *testing.T
	dir, key string
	url      string
	settings *Settings
	sources  *Sources
	trust    *Trust
}

func newSignedRepo(t *testing.T) *signedRepo {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed: install OpenSSH 8.2 or newer")
	}
	server := testenv.Git(t)
	s := &signedRepo{t: t, dir: t.TempDir(), key: filepath.Join(t.TempDir(), "key"), settings: NewSettings(func() {})}
	repo := server.NewRepo("signed")
	s.url = repo.URL()
	s.run("ssh-keygen", "-q", "-N", "", "-C", "", "-t", "ed25519", "-f", s.key)
	s.git("init", "--quiet", "--initial-branch=main")
	s.git("remote", "add", "origin", repo.Dir())
	client, err := git.New(t.Context(), git.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	s.sources = NewSources(gitsource.NewPool(client, gitsource.PoolOptions{}), s.settings)
	s.trust = NewTrust(s.sources, s.settings, slog.New(slog.DiscardHandler))
	return s
}

func (s *signedRepo) run(name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *signedRepo) git(args ...string) string {
	s.t.Helper()
	return s.run("git", append([]string{
		"-C", s.dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "gpg.format=ssh", "-c", "user.signingkey=" + s.key,
	}, args...)...)
}

// commit makes a commit and pushes it.
func (s *signedRepo) commit(options ...string) string {
	s.t.Helper()
	s.git(append([]string{"commit", "--quiet", "--allow-empty", "--message", "change"}, options...)...)
	s.git("push", "--quiet", "origin", "main")
	return s.git("rev-parse", "HEAD")
}

// trusts makes the keys of people the allowed signers.
func (s *signedRepo) trusts(lines string) {
	s.settings.Put("configmaps", &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": ConfigSigners}, "data": map[string]any{fieldSigners: lines},
	}})
}

// judge fetches a revision, and judges what it is.
func (s *signedRepo) judge(mode v1alpha1.GPGMode, revision string, names ...trust.Name) (string, error) {
	s.t.Helper()
	src := v1alpha1.ApplicationSource{RepoURL: s.url, TargetRevision: revision}
	f, err := s.sources.Fetch(s.t.Context(), "default", src, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	return s.trust.Judge(s.t.Context(), trust.Claim{
		Project: "default", Source: src, Revision: f.Tree.Revision(), Names: names,
		Policy: project.Integrity{Mode: mode, Signers: []string{"ann@example.org"}},
	})
}

func (s *signedRepo) wants(name string, err error, words ...string) {
	s.t.Helper()
	if (err == nil) != (len(words) == 0) {
		s.t.Errorf("%s: %v", name, err)
	}
	for _, w := range words {
		if err != nil && !strings.Contains(err.Error(), w) {
			s.t.Errorf("%s: it lacks %q: %v", name, w, err)
		}
	}
}

func (s *signedRepo) line() string {
	s.t.Helper()
	raw, err := os.ReadFile(s.key + ".pub")
	if err != nil {
		s.t.Fatal(err)
	}
	return "ann@example.org " + string(raw)
}

func TestACommitIsJudgedByTheKeysInTheSettings(t *testing.T) {
	t.Parallel()
	s := newSignedRepo(t)
	s.commit()
	signed := s.commit("--gpg-sign")
	_, err := s.judge(v1alpha1.GPGModeHead, "main")
	s.wants("no key is trusted", err, "GIT/SSH: Failed verifying revision "+signed, "not in keyring", "add the key to allowed_signers")
	s.trusts(s.line())
	who, err := s.judge(v1alpha1.GPGModeHead, "main")
	if s.wants("the key is trusted", err); !strings.HasSuffix(who, " of ann@example.org") || !strings.HasPrefix(who, "SSH key SHA256:") {
		t.Errorf("%s", who)
	}
	_, err = s.judge(v1alpha1.GPGModeHead, signed)
	s.wants("by its id", err)
	_, err = s.judge(v1alpha1.GPGModeStrict, "main")
	s.wants("strict", err, "unsigned (key_id=)")
	if changed := s.trust.Refresh(); changed {
		t.Error("nothing has changed")
	}
	s.trusts("")
	if changed := s.trust.Refresh(); !changed {
		t.Error("the keys have changed")
	}
	_, err = s.judge(v1alpha1.GPGModeHead, "main")
	s.wants("the key is taken away", err, "not in keyring")
}

func TestATurnToReadAHistoryEndsWithTheJudgement(t *testing.T) {
	t.Parallel()
	s := newSignedRepo(t)
	s.trusts(s.line())
	signed := s.commit("--gpg-sign")
	_, err := s.judge(v1alpha1.GPGModeHead, "main")
	if s.wants("the only reader", err); s.trust.turns.Len() != 0 {
		t.Errorf("%d turns are left", s.trust.turns.Len())
	}
	src := v1alpha1.ApplicationSource{RepoURL: s.url, TargetRevision: "main"}
	repo, _, err := s.sources.Repo("default", src)
	if err != nil {
		t.Fatal(err)
	}
	end, err := s.trust.turns.Take(t.Context(), repo.Scope())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error, 1)
	go func() {
		_, err := s.trust.Judge(ctx, trust.Claim{Project: "default", Source: src, Revision: signed})
		waits <- err
	}()
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("a judgement that is given up while it waits: %v", err)
	}
	if end(); s.trust.turns.Len() != 0 {
		t.Errorf("%d turns are left", s.trust.turns.Len())
	}
}

func TestAStrictHistoryIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newSignedRepo(t)
	s.trusts(s.line())
	s.commit()
	for range 3 {
		s.commit("--gpg-sign")
	}
	s.commit("--gpg-sign", "--trailer", "Argocd-gpg-seal: reviewed")
	for range 3 {
		s.commit("--gpg-sign")
	}
	_, err := s.judge(v1alpha1.GPGModeStrict, "main")
	s.wants("after the seal", err)
	if n := len(s.trust.trusted); n != 4 {
		t.Errorf("%d commits were read", n)
	}
	s.commit("--gpg-sign")
	_, err = s.judge(v1alpha1.GPGModeStrict, "main")
	if s.wants("one more", err); len(s.trust.trusted) != 5 {
		t.Errorf("%d commits were read", len(s.trust.trusted))
	}
	s.commit()
	_, err = s.judge(v1alpha1.GPGModeStrict, "main")
	s.wants("an unsigned one", err, "unsigned")
	s.commit("--gpg-sign")
	_, err = s.judge(v1alpha1.GPGModeStrict, "main")
	s.wants("a signed one on top", err, "unsigned")
	_, err = s.judge(v1alpha1.GPGModeHead, "main")
	s.wants("head", err)
}

func TestTheTagThatLeadsToACommitIsJudged(t *testing.T) {
	t.Parallel()
	s := newSignedRepo(t)
	s.trusts(s.line())
	commit := s.commit()
	s.git("tag", "--annotate", "--message", "one", "v1.0.0")
	s.git("push", "--quiet", "origin", "v1.0.0")
	_, err := s.judge(v1alpha1.GPGModeHead, "v1.0.0")
	s.wants("an unsigned tag", err, "revision v1.0.0 by 'Ann <ann@example.org>': unsigned")
	s.git("tag", "--force", "--sign", "--message", "one", "v1.0.0", commit)
	s.git("push", "--quiet", "--force", "origin", "v1.0.0")
	_, err = s.judge(v1alpha1.GPGModeHead, "v1.0.0")
	s.wants("the tag is made again for the same commit, and signed", err)
	_, err = s.judge(v1alpha1.GPGModeHead, "1.*")
	s.wants("a range", err)
	_, err = s.judge(v1alpha1.GPGModeHead, "main")
	s.wants("the branch at the same commit", err, "unsigned")
	_, err = s.judge(v1alpha1.GPGModeHead, commit)
	s.wants("the commit", err, "unsigned")
	_, err = s.judge(v1alpha1.GPGModeHead, commit, trust.Name{Revision: "v1.0.0"})
	s.wants("the commit, by the tag that led to it", err)
	_, err = s.judge(v1alpha1.GPGModeHead, commit, trust.Name{Revision: "~1.0"})
	s.wants("the commit, by a range that led to it", err)
	_, err = s.judge(v1alpha1.GPGModeStrict, "v1.0.0")
	s.wants("strict: the commit as well", err, "unsigned")
	s.commit("--gpg-sign")
	s.git("tag", "light")
	s.git("push", "--quiet", "origin", "light")
	_, err = s.judge(v1alpha1.GPGModeHead, "light")
	s.wants("a tag without an object", err)
}
