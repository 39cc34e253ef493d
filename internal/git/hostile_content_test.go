package git_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// sound is a pack with one commit that has a file a.txt.
func sound(who string) (*testenv.GitPack, string) {
	p := &testenv.GitPack{}
	tree := p.Tree([3]string{"100644", "a.txt", p.Add("blob", "x")})
	return p, p.Commit(tree, who, "one")
}

// unchecked serves a pack as files of git, in the way in which nobody checks what is sent.
func unchecked(p *testenv.GitPack, commit string) *testenv.HostileGit {
	return &testenv.HostileGit{Before: func(w http.ResponseWriter, r *http.Request) bool {
		path := strings.TrimPrefix(r.URL.Path, "/r.git")
		if body := p.Loose(path); body != nil {
			_, _ = w.Write(body)
		} else if path == "/info/refs" {
			_, _ = fmt.Fprintf(w, "%s\trefs/heads/main\n", commit)
		} else {
			http.NotFound(w, r)
		}
		return true
	}}
}

// checked serves a pack over the protocol of git.
func checked(p *testenv.GitPack, commit string) *testenv.HostileGit {
	return &testenv.HostileGit{Refs: []string{commit + " refs/heads/main"}, Fetch: testenv.SendPack(p.Bytes())}
}

func TestHostileReferencesHideNoSoundOne(t *testing.T) {
	t.Parallel()
	pack, commit := sound(anyone)
	refs := []string{
		someID + " HEAD symref-target:refs/heads/a", someID + " refs/heads/a symref-target:refs/heads/b",
		someID + " refs/heads/b symref-target:refs/heads/a", someID + " -x", someID + " --upload-pack=touch", someID + " refs/heads/-x",
		someID + " refs/heads/../../x", someID + " refs/heads/a\n" + someID + "\trefs/heads/c", someID + " refs/heads/\x1b[2J\x07", someID + " refs/heads/" + strings.Repeat("n", 60000),
		someID + " refs/heads/\u202emain", someID + " refs/heads/x.lock", someID + " refs/heads/" + strings.Repeat("d/", 5000) + "x", someID + " /etc/passwd", someID + " refs/heads/",
	}
	for i := range 100_000 {
		refs = append(refs, fmt.Sprintf("%s refs/heads/many/%d", someID, i))
	}
	refs = append(refs, commit+" refs/heads/main")
	url := (&testenv.HostileGit{Refs: refs, Fetch: testenv.SendPack(pack.Bytes())}).Start(t)
	m := mirror(t, client(t), url, git.Credential{})
	began := time.Now()
	found, err := m.LsRemote(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found.IDs["refs/heads/main"] != commit || len(found.IDs) < 100_000 {
		t.Errorf("main is %q among %d", found.IDs["refs/heads/main"], len(found.IDs))
	}
	for name := range found.IDs {
		if strings.ContainsAny(name, "\x1b\x07\n") || strings.Contains(name, "..") || len(name) > 1024 || name != "HEAD" && !strings.HasPrefix(name, "refs/") {
			t.Errorf("%.80q is taken for a reference", name)
		}
	}
	if _, err := found.Resolve("mian", ""); !errors.Is(err, git.ErrNoRevision) || len(err.Error()) > 1000 {
		t.Errorf("err = %.300v", err)
	}
	if got, err := read(t.Context(), m); err != nil || got != "x" {
		t.Errorf("main: %q, %v", got, err)
	}
	for _, name := range []string{"-x", "--upload-pack=touch", "refs/heads/../../x", "refs/heads/a\nrefs/heads/c", "refs/heads/\x1b[2J", "refs/heads/" + strings.Repeat("n", 60000), "refs/heads/:refs/heads/x"} {
		if err := m.Fetch(t.Context(), name); err == nil || len(err.Error()) > 2000 {
			t.Errorf("%.40q: %.200v", name, err)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestHostileTreesAreRefusedWhoeverSendsThem(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		entries func(blob, tree string) [][3]string
		dumb    bool // what is sent without a check of git's is taken: nothing is ever checked out
	}{
		{"two entries of one name", func(b, _ string) [][3]string { return [][3]string{{"100644", "a.txt", b}, {"100644", "a.txt", b}} }, false},
		{"a file and a directory of one name", func(b, tr string) [][3]string { return [][3]string{{"100644", "a.txt", b}, {"40000", "a.txt", tr}} }, false},
		{"dots", func(b, _ string) [][3]string { return [][3]string{{"100644", "..", b}, {"100644", "a.txt", b}} }, false},
		{"a slash", func(b, _ string) [][3]string { return [][3]string{{"100644", "../a.txt", b}, {"100644", "a.txt", b}} }, false},
		{"git's own directory", func(b, tr string) [][3]string { return [][3]string{{"40000", ".git", tr}, {"100644", "a.txt", b}} }, true},
		{"a name of a megabyte", func(b, _ string) [][3]string {
			return [][3]string{{"100644", "a.txt", b}, {"100644", strings.Repeat("n", 1<<20), b}}
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &testenv.GitPack{}
			blob, empty := p.Add("blob", "x"), p.Add("tree", "")
			commit := p.Commit(p.Tree(c.entries(blob, empty)...), anyone, "one")
			for name, server := range map[string]*testenv.HostileGit{"smart": checked(p, commit), "dumb": unchecked(p, commit)} {
				got, err := read(t.Context(), mirror(t, client(t), server.Start(t), git.Credential{}))
				if name == "dumb" && c.dumb && got == "x" && err == nil {
					continue
				}
				if !errors.Is(err, git.ErrBadObjects) || len(err.Error()) > 700 {
					t.Errorf("%s: %q, %.300v", name, got, err)
				}
			}
		})
	}
}

func TestHostileCommitsAreToldAsTheyCanBeWritten(t *testing.T) {
	t.Parallel()
	for _, who := range []string{
		"M <m@example.com> 99999999999999 +0000", "M <m@example.com> 253402300799 -2359", "M <m@example.com> 1700000000 +9999", "M <m@example.com> 1700000000 -9960",
		"\xff\xfe <\xe9@example.com> 1700000000 +0100", "\x1b[2J\u202eM <m@example.com> 0 +0000", "M <m@example.com> 9223372036854775807 +0000",
	} {
		p := &testenv.GitPack{}
		tree := p.Tree([3]string{"100644", "a.txt", p.Add("blob", "x")})
		commit := p.Add("commit", "tree "+tree+"\nauthor "+who+"\ncommitter "+who+"\nencoding UTF-16\n\n\xff\x00 one")
		m := mirror(t, client(t), unchecked(p, commit).Start(t), git.Credential{})
		if err := m.Fetch(t.Context(), "refs/heads/main"); err != nil {
			t.Errorf("%q: %v", who, err)
			continue
		}
		id, err := m.Ref("refs/heads/main")
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.Commit(id)
		if err != nil {
			t.Errorf("%q: %v", who, err)
			continue
		}
		if _, err := json.Marshal(c.Committer.When); err != nil {
			t.Errorf("%q: the time cannot be written: %v", who, err)
		}
	}
}

func TestWhatTheAgentsHomeAndEnvironmentSayDoesNotCountForGit(t *testing.T) {
	home := t.TempDir()
	trap := filepath.Join(home, "sprung")
	script := filepath.Join(home, "trap.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $*\" >>"+trap+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	other := testenv.Git(t).NewRepo("other")
	other.Commit(map[string]string{"a.txt": "of another"}, "one")
	server := testenv.Git(t, testenv.GitBasicAuth("bob", "pw"))
	repo := server.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "x", ".gitattributes": "* filter=x diff=x export-subst\n"}, "one")
	key := server.SSHKey()
	config := fmt.Sprintf("[core]\n\thooksPath = %[1]s\n\tfsmonitor = %[2]s\n\tsshCommand = %[2]s\n\talternateRefsCommand = %[2]s\n[credential]\n\thelper = %[2]s\n"+
		"[http]\n\tfollowRedirects = true\n\tcookieFile = %[3]s\n[uploadpack]\n\tpackObjectsHook = %[2]s\n[filter \"x\"]\n\tsmudge = %[2]s\n[url %[4]q]\n\tinsteadOf = http://\n", home, script, trap, other.URL()+"?")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		if err := os.Symlink(script, filepath.Join(home, hook)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".gitconfig": config, ".netrc": "default login thief password taken\n", ".git-credentials": "http://thief:taken@127.0.0.1\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG": home + "/.gitconfig", "GIT_CONFIG_GLOBAL": home + "/.gitconfig", "GIT_CONFIG_SYSTEM": home + "/.gitconfig",
		"GIT_CONFIG_PARAMETERS": "'core.sshCommand=" + script + "'", "GIT_SSH": script, "GIT_SSH_COMMAND": script, "GIT_ASKPASS": script, "SSH_ASKPASS": script,
		"GIT_EXTERNAL_DIFF": script, "GIT_PROXY_COMMAND": script, "GIT_DIR": other.Dir(), "GIT_OBJECT_DIRECTORY": other.Dir() + "/objects", "GIT_ALTERNATE_OBJECT_DIRECTORIES": other.Dir() + "/objects",
		"GIT_EXEC_PATH": home, "GIT_TEMPLATE_DIR": home, "GIT_TRACE": trap, "GIT_TRACE_CURL": trap, "GIT_TRACE2_EVENT": trap, "GIT_SSL_NO_VERIFY": "1", "GIT_ALLOW_PROTOCOL": "ext:file:http",
		"GIT_NAMESPACE": "x", "GIT_SHALLOW_FILE": trap, "GIT_REPLACE_REF_BASE": "refs/x", "GIT_PROTOCOL_FROM_USER": "1", "LD_PRELOAD_TRAP": script, "CURL_HOME": home,
	} {
		t.Setenv(name, value)
	}
	c := client(t)
	if got, err := read(t.Context(), mirror(t, c, repo.URL(), git.Credential{Username: "bob", Password: "pw"})); err != nil || got != "x" {
		t.Errorf("over HTTP: %q, %v", got, err)
	}
	if got, err := read(t.Context(), mirror(t, c, repo.SSHURL(), git.Credential{SSHKey: key, KnownHosts: server.KnownHosts()})); err != nil || got != "x" {
		t.Errorf("over SSH: %q, %v", got, err)
	}
	// Without a credential, nobody is asked for one, and none is found.
	if _, err := mirror(t, c, repo.URL(), git.Credential{}).LsRemote(t.Context()); !errors.Is(err, git.ErrAuth) {
		t.Errorf("without a credential: %v", err)
	}
	if said, err := os.ReadFile(trap); err == nil {
		t.Errorf("something of the environment was used:\n%.600s", said)
	}
}

func TestSubmodulesAndLinksOfGitAreNotFollowed(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	trap := filepath.Join(t.TempDir(), "sprung")
	for name, url := range map[string]string{
		"program": "ext::sh -c touch%20" + trap, "file": "file:///etc", "option": "--upload-pack=touch " + trap, "http": "http://127.0.0.1:1/x.git",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &testenv.GitPack{}
			modules := p.Add("blob", "[submodule \"x\"]\n\tpath = sub\n\turl = "+url+"\n\tupdate = !touch "+trap+"\n")
			commit := p.Commit(p.Tree([3]string{"100644", ".gitmodules", modules}, [3]string{"100644", "a.txt", p.Add("blob", "x")}, [3]string{"160000", "sub", someID}), anyone, "one")
			m := mirror(t, client(t), checked(p, commit).Start(t), git.Credential{})
			if got, err := read(t.Context(), m); !(err == nil && got == "x") && !errors.Is(err, git.ErrBadObjects) {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := os.Stat(trap); err == nil {
				t.Error("a program was run")
			}
		})
	}
}
