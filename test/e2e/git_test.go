package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// repository is a repository of a story and what each of its branches holds.
type repository struct {
	*testenv.GitRepo
	url   string
	files map[string][]string // branch -> paths
}

// cmdGitServer makes the Git server of the repositories that follow fail, or work again: gitserver break|mend.
func cmdGitServer(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1 && (args[0] == "break" || args[0] == "mend"), "gitserver break|mend")
	for _, server := range of(ts).servers {
		if args[0] == "break" {
			server.Break()
		} else {
			server.Mend()
		}
	}
}

// server returns the story's Git server for one way to sign in: "" for none, or user:password.
func (s *story) server(auth string) *testenv.GitServer {
	server := s.servers[auth]
	if server == nil {
		var options []testenv.GitOption
		if user, password, ok := strings.Cut(auth, ":"); ok {
			options = append(options, testenv.GitBasicAuth(user, password))
		}
		server = testenv.Git(s.t, options...)
		s.servers[auth] = server
	}
	return server
}

// cmdGitRepo makes an empty repository: gitrepo NAME [USER:PASSWORD|ssh]. Its address is in $REPO and $REPO_NAME. With
// ssh, files ssh_key and known_hosts hold what is needed to reach it, and wrong_key what is not. A leading ! deletes the
// repository.
func cmdGitRepo(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, len(args) == 1 || (len(args) == 2 && !neg), "[!] gitrepo NAME [USER:PASSWORD|ssh]")
	name := args[0]
	if neg {
		ts.Check(os.RemoveAll(s.repo(ts, name).Dir()))
		return
	}
	auth := strings.Join(args[1:], "")
	if auth == "ssh" {
		auth = ""
	}
	server := s.server(auth)
	// Named for the story: the system gives ports out again, and the agent remembers what was at an address.
	repo := &repository{GitRepo: server.NewRepo(s.app + "/" + name), files: map[string][]string{}}
	repo.url = repo.URL()
	if len(args) == 2 && args[1] == "ssh" {
		repo.url = repo.SSHURL()
		ts.Check(os.WriteFile(ts.MkAbs("ssh_key"), server.SSHKey(), 0o600))
		ts.Check(os.WriteFile(ts.MkAbs("wrong_key"), testenv.NewSSHKey(s.t), 0o600))
		ts.Check(os.WriteFile(ts.MkAbs("known_hosts"), server.KnownHosts(), 0o600))
	}
	s.repos[name] = repo
	ts.Setenv("REPO", repo.url)
	ts.Setenv("REPO_"+name, repo.url)
	ts.Setenv("GIT", server.Base())
}

func (s *story) repo(ts *testscript.TestScript, name string) *repository {
	repo := s.repos[name]
	if repo == nil {
		ts.Fatalf("there is no repository %s: make it with gitrepo", name)
	}
	return repo
}

// cmdCommit makes a branch hold exactly the files of a directory, with ${NAME} replaced by the story's variables:
// commit REPO DIR [BRANCH]. Its id is in $COMMIT.
func cmdCommit(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && (len(args) == 2 || len(args) == 3), "commit REPO DIR [BRANCH]")
	repo := of(ts).repo(ts, args[0])
	branch := "main"
	if len(args) == 3 {
		branch = args[2]
	}
	changes := map[string]testenv.Change{}
	for _, path := range repo.files[branch] {
		changes[path] = testenv.Change{Path: path, Mode: "delete"}
	}
	fresh, err := readDir(ts.MkAbs(args[1]))
	ts.Check(err)
	for path, change := range fresh {
		if change.Mode == "" {
			change.Content = expand(ts, change.Content)
			fresh[path] = change
		}
	}
	maps.Copy(changes, fresh)
	repo.files[branch] = slices.Collect(maps.Keys(fresh))
	ordered := slices.SortedFunc(maps.Values(changes), func(a, b testenv.Change) int { return strings.Compare(a.Path, b.Path) })
	ts.Setenv("COMMIT", repo.Apply(branch, "hold "+args[1], ordered...))
}

// readDir returns the files below a directory as changes, by path.
func readDir(dir string) (map[string]testenv.Change, error) {
	out := map[string]testenv.Change{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			out[name] = testenv.Change{Path: name, Mode: "120000", Content: target}
			return err
		}
		content, err := os.ReadFile(path)
		out[name] = testenv.Change{Path: name, Content: string(content)}
		return err
	})
	return out, err
}

// cmdTag makes a tag on the last commit of main: tag REPO NAME.
func cmdTag(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "tag REPO NAME")
	repo := of(ts).repo(ts, args[0])
	repo.Tag(args[1], repo.Head("main"))
}

// cmdBranch makes or deletes a branch: branch REPO NAME, ! branch REPO NAME.
func cmdBranch(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 2, "[!] branch REPO NAME")
	repo := of(ts).repo(ts, args[0])
	if neg {
		repo.DeleteRef("refs/heads/" + args[1])
		return
	}
	repo.Branch(args[1], repo.Head("main"))
}

// cmdPush tells the agent of a push, as a forge does: push REPO [REF].
func cmdPush(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && (len(args) == 1 || len(args) == 2), "push REPO [REF]")
	ref := "refs/heads/main"
	if len(args) == 2 {
		ref = args[1]
	}
	s := of(ts)
	ts.Check(s.agent.tell(s.repo(ts, args[0]).url, ref))
}

// tell sends the webhook of a push.
func (a *agentProcess) tell(url, ref string) error {
	body, err := json.Marshal(map[string]any{
		"ref": ref, "repository": map[string]any{"html_url": strings.TrimSuffix(url, ".git"), "clone_url": url, "default_branch": "main"},
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+a.address+"/api/webhook", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-GitHub-Event", "push")
	client := http.Client{Timeout: requestLimit, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return fmt.Errorf("the agent answers the webhook with %s: %s", answer.Status, text)
	}
	return nil
}

// cmdBigFile writes a manifest of so many megabytes: bigfile FILE MEGABYTES.
func cmdBigFile(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "bigfile FILE MEGABYTES")
	var megabytes int
	_, err := fmt.Sscan(args[1], &megabytes)
	ts.Check(err)
	var text bytes.Buffer
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: big\ndata:\n  text: |\n")
	line := []byte("    " + strings.Repeat("x", 1019) + "\n")
	for range megabytes << 10 {
		text.Write(line)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text.Bytes(), 0o600))
}

// cmdManyObjects writes that many small ConfigMaps into one file: manyobjects FILE COUNT.
func cmdManyObjects(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "manyobjects FILE COUNT")
	var count int
	_, err := fmt.Sscan(args[1], &count)
	ts.Check(err)
	var text bytes.Buffer
	for i := range count {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: many-%d\n", i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text.Bytes(), 0o600))
}
