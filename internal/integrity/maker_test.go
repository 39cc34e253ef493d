package integrity

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// home is the one GnuPG of the tests: starting its agent takes longer than all else.
var home = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("gpg"); err != nil {
		return "", fmt.Errorf("gpg is not installed: install GnuPG 2.2 or newer")
	}
	return os.MkdirTemp("", "gpg") // short: the path of a socket has a limit
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := home(); err == nil {
		cmd := exec.Command("gpgconf", "--homedir", dir, "--kill", "all")
		_ = cmd.Run()
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// gpg runs GnuPG.
func gpg(t *testing.T, input string, args ...string) string {
	t.Helper()
	dir, err := home()
	if err != nil {
		t.Skip(err)
	}
	return run(t, input, []string{"GNUPGHOME=" + dir}, "gpg", append([]string{"--batch", "--quiet", "--yes", "--passphrase", "", "--pinentry-mode", "loopback"}, args...)...)
}

// keys guards the key ring of GnuPG: it has no lock that holds while another process reads it.
var keys sync.Mutex

func run(t *testing.T, input string, env []string, name string, args ...string) string {
	t.Helper()
	if len(env) > 0 {
		keys.Lock()
		defer keys.Unlock()
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "TZ=UTC"), env...)
	cmd.Stdin = strings.NewReader(input)
	var out, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &wrong
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, wrong.String())
	}
	return out.String()
}

// pgpKey makes a key, and returns its fingerprint. usage and expire are as gpg takes them.
func pgpKey(t *testing.T, owner, kind, usage, expire string) string {
	t.Helper()
	out := gpg(t, "", "--status-fd", "1", "--quick-gen-key", owner, kind, usage, expire)
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "KEY_CREATED" {
			return f[3]
		}
	}
	t.Fatalf("gpg made no key: %s", out)
	return ""
}

// export returns the public part of keys, each by its id.
func export(t *testing.T, keys ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, k := range keys {
		out[id(k)] = gpg(t, "", "--armor", "--export", k)
	}
	return out
}

// id is the last digits of a fingerprint.
func id(fingerprint string) string { return fingerprint[len(fingerprint)-16:] }

// sshKey makes a key of OpenSSH, and returns the file with its private part.
func sshKey(t *testing.T, kind string, more ...string) string {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed: install OpenSSH 8.2 or newer")
	}
	file := filepath.Join(t.TempDir(), "key")
	run(t, "", nil, "ssh-keygen", append([]string{"-q", "-N", "", "-C", "", "-t", kind, "-f", file}, more...)...)
	return file
}

// public reads the public part of a key of OpenSSH.
func public(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}

// repo is a repository that git itself writes.
type repo struct {
	t   *testing.T
	dir string
	at  time.Time // of the next commit
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: install git 2.38 or newer")
	}
	r := &repo{t: t, dir: t.TempDir(), at: time.Now().Add(-time.Hour).Truncate(time.Second)}
	r.git("", "init", "--quiet", "--initial-branch=main")
	return r
}

func (r *repo) git(input string, args ...string) string {
	r.t.Helper()
	dir, _ := home()
	when := r.at.UTC().Format(time.RFC3339)
	return strings.TrimSpace(run(r.t, input, []string{
		"GNUPGHOME=" + dir, "GIT_AUTHOR_DATE=" + when, "GIT_COMMITTER_DATE=" + when,
	}, "git", append([]string{"-C", r.dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...))
}

// signing are the options of git with which a key signs: a fingerprint, or a file of OpenSSH.
func signing(key string) []string {
	if strings.Contains(key, "/") {
		return []string{"-c", "gpg.format=ssh", "-c", "user.signingkey=" + key}
	}
	return []string{"-c", "user.signingkey=" + key + "!"}
}

// commit makes a commit, signed where key is not empty, and returns its id.
func (r *repo) commit(key, message string, more ...string) string {
	r.t.Helper()
	args := []string{"commit", "--quiet", "--allow-empty", "--message", message}
	if key != "" {
		args = append(signing(key), append(args, "--gpg-sign")...)
	}
	r.git("", append(args, more...)...)
	return r.git("", "rev-parse", "HEAD")
}

// tag makes an annotated tag of HEAD, signed where key is not empty.
func (r *repo) tag(key, name string) {
	r.t.Helper()
	args := []string{"tag", "--annotate", "--message", "release " + name, name}
	if key != "" {
		args = append(signing(key), "tag", "--sign", "--message", "release "+name, name)
	}
	r.git("", args...)
}

// object reads an object as it is.
func (r *repo) object(kind, name string) []byte {
	r.t.Helper()
	return []byte(run(r.t, "", nil, "git", "-C", r.dir, "cat-file", kind, name))
}

// write stores an object, and returns its id.
func (r *repo) write(kind string, data []byte) string {
	r.t.Helper()
	return r.git(string(data), "hash-object", "-t", kind, "-w", "--literally", "--stdin")
}

// judge judges a commit, and the tag of a name where there is one.
func (r *repo) judge(p Policy, k *Keyring, commit, tag string) Verdict {
	r.t.Helper()
	return r.judgeAt(p, k, commit, tag, time.Now())
}

func (r *repo) judgeAt(p Policy, k *Keyring, commit, tag string, now time.Time) Verdict {
	r.t.Helper()
	var data []byte
	if tag != "" {
		data = r.object("tag", tag)
	}
	return r.judgeTag(p, k, commit, tag, data, now)
}

func (r *repo) judgeTag(p Policy, k *Keyring, commit, tag string, data []byte, now time.Time) Verdict {
	r.t.Helper()
	v, err := Judge(Question{Policy: p, Keys: k, Commit: commit, Name: tag, Tag: data, Now: now, Read: func(id string) ([]byte, error) {
		return r.object("commit", id), nil
	}})
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// says checks a verdict: with no code, that it is good.
func says(t *testing.T, name string, v Verdict, codes ...Code) {
	t.Helper()
	got := make([]Code, 0, len(v.Faults))
	for _, f := range v.Faults {
		got = append(got, f.Code)
	}
	if fmt.Sprint(got) != fmt.Sprint(append([]Code{}, codes...)) || v.Verified() != (len(codes) == 0) {
		t.Errorf("%s: %v, want %v\n%s\n%s", name, got, codes, v.Signer, v.Text())
	}
}
