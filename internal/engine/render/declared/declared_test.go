package declared_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/declared"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/sandbox"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

func TestMain(m *testing.M) {
	if sandbox.IsLauncher(os.Args) {
		sandbox.Launch(os.Args)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// shell declares a plugin that a shell runs.
func shell(name, script, more string) string {
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata: {name: %s}\nspec:\n"+
		"  generate: {command: [sh, -c], args: [%q]}\n%s", name, script, more)
}

// plugins are declared plugins.
func plugins(t *testing.T, declarations ...string) *declared.Renderer {
	t.Helper()
	dir := t.TempDir()
	for i, text := range declarations {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.yaml", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &declared.Renderer{Dir: dir, Work: filepath.Join(t.TempDir(), "work"), Path: "/usr/local/bin:/usr/bin:/bin", At: make(chan struct{}, 2)}
}

// request asks for the source app of a repository with files; a file "a -> b" is a link.
func request(t *testing.T, files map[string]string, plugin *v1alpha1.PluginSource) render.Request {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		name, target, link := strings.Cut(name, " -> ")
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if link {
			if err := os.Symlink(target, full); err != nil {
				t.Fatal(err)
			}
			continue
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(full, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := dirtree.Open(root, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return render.Request{
		App: render.App{Name: "shop", Namespace: "argocd", Project: "team"}, Namespace: "web", Tree: tree,
		Source: v1alpha1.ApplicationSource{RepoURL: "https://git.example.org/shop", Path: "app", Plugin: plugin},
	}
}

func rendered(t *testing.T, r *declared.Renderer, req render.Request) (string, error) {
	t.Helper()
	res, err := (&render.Pipeline{Plain: plain.Renderer{}, Plugins: render.Choice{r}}).Render(t.Context(), req)
	var out strings.Builder
	for _, o := range res.Objects {
		out.Write(o.JSON)
		out.WriteString("\n")
	}
	if entries, left := os.ReadDir(r.Work); left == nil && len(entries) > 0 {
		t.Errorf("it leaves %v", entries)
	}
	return out.String(), err
}

// configMap prints an object.
const configMap = `echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made"},"data":{"text":"'"$text"'"}}'`

func TestADeclaredPluginRendersTheRepository(t *testing.T) {
	t.Setenv("DECLARED_TEST_SECRET", "of-the-agent")
	r := plugins(t, shell("mine", `text="$(cat input.txt) $(cat ../shared/base.txt) $(cat made) $ARGOCD_ENV_GREETING $PARAM_TAG $(ls $HOME $TMPDIR | wc -w) `+
		`$DECLARED_TEST_SECRET$KUBECONFIG."; `+configMap, "  version: v1.0\n  init: {command: [sh, -c, 'echo init > made']}\n"))
	tag := "v7"
	got, err := rendered(t, r, request(t, map[string]string{"app/input.txt": "hello", "shared/base.txt": "base"}, &v1alpha1.PluginSource{
		Name: "mine-v1.0", Env: []v1alpha1.EnvEntry{{Name: "GREETING", Value: "hi $ARGOCD_APP_NAME"}},
		Parameters: []v1alpha1.PluginParameter{{Name: "tag", String: &tag}},
	}))
	if want := `"text":"hello base init hi shop v7 2 ."`; err != nil || !strings.Contains(got, want) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestAProgramOfTheRepositoryRunsWhereModesAreKept(t *testing.T) {
	t.Parallel()
	files := map[string]string{"app/make.sh": "#!/bin/sh\n" + strings.ReplaceAll(configMap, "$text", "ours")}
	declaration := func(keep bool) string {
		return fmt.Sprintf("kind: ConfigManagementPlugin\nmetadata: {name: mine}\nspec: {generate: {command: [./make.sh]}, preserveFileMode: %t, lockRepo: true}\n", keep)
	}
	got, err := rendered(t, plugins(t, declaration(true)), request(t, files, &v1alpha1.PluginSource{Name: "mine"}))
	if err != nil || !strings.Contains(got, "ours") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := rendered(t, plugins(t, declaration(false)), request(t, files, &v1alpha1.PluginSource{Name: "mine"})); !errors.Is(err, sandbox.ErrStart) {
		t.Errorf("%v", err)
	}
}

func TestWithoutANameThePluginThatKnowsTheFilesRenders(t *testing.T) {
	t.Parallel()
	name := func(n string) string { return "text=" + n + "; " + configMap }
	r := plugins(t, shell("none", name("none"), ""),
		shell("file", name("file"), "  discover: {fileName: './one*.txt'}\n"),
		shell("glob", name("glob"), "  discover: {find: {glob: '**/two/*.{txt,md}'}}\n"),
		shell("command", name("command"), "  discover: {find: {command: [sh, -c, 'grep -rl three . || true']}}\n"))
	for want, files := range map[string]map[string]string{
		`"text":"file"`:    {"app/one-and.txt": "x", "app/two/a.txt": "x"},
		`"text":"glob"`:    {"app/a/b/two/c.md": "x"},
		`"text":"command"`: {"app/x": "three"},
		`"kind":"Plain"`:   {"app/x.yaml": "apiVersion: v1\nkind: Plain\nmetadata: {name: x}\n", "one.txt": "outside"},
	} {
		for _, plugin := range []*v1alpha1.PluginSource{nil, {}} {
			got, err := rendered(t, r, request(t, files, plugin))
			if plugin != nil && strings.Contains(want, "Plain") {
				if !errors.Is(err, render.ErrNoPlugin) {
					t.Errorf("%s: %v", want, err)
				}
			} else if err != nil || !strings.Contains(got, want) {
				t.Errorf("%s: %s, %v", want, got, err)
			}
		}
	}
	_, err := rendered(t, r, request(t, map[string]string{"app/y": "x"}, &v1alpha1.PluginSource{Name: "file"}))
	if err == nil || !strings.Contains(err.Error(), "does not know the files") {
		t.Errorf("%v", err)
	}
}

func TestLinksInTheRepositoryReachNothingOutsideOfIt(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("plum-tree-of-the-agent"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := plugins(t, shell("mine", `text="$(cat inside 2>/dev/null) $(cat outside up passwd/hosts 2>/dev/null) $(ls | tr '\n' ' ')"; `+configMap, ""))
	got, err := rendered(t, r, request(t, map[string]string{
		"app/file": "hello", "app/inside -> file": "", "app/outside -> " + secret: "", "app/up -> ../../../../../../" + secret: "", "app/passwd -> /etc": "",
	}, &v1alpha1.PluginSource{Name: "mine"}))
	if err != nil || !strings.Contains(got, `"text":"hello  file inside "`) {
		t.Errorf("%s, %v", got, err)
	}
	// What the plugin makes of a link leads nowhere either.
	r = plugins(t, shell("mine", `ln -s `+secret+` made; cat made`, ""))
	if got, err := rendered(t, r, request(t, map[string]string{"app/file": "hello"}, &v1alpha1.PluginSource{Name: "mine"})); err == nil ||
		strings.Contains(got+err.Error(), "plum") {
		t.Errorf("%s, %v", got, err)
	}
}

func TestACommandCannotMakeMoreReadableForTheNextOne(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	for name, content := range map[string]string{
		"token": "plum-tree-of-the-agent", "tool.sh": "#!/bin/sh\necho '{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"'$(cat " + elsewhere + "/token)'\"}}'\n",
	} {
		if err := os.WriteFile(filepath.Join(elsewhere, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	declaration := func(init, generate string) string {
		return fmt.Sprintf("kind: ConfigManagementPlugin\nmetadata: {name: mine}\nspec:\n  preserveFileMode: true\n  init: {command: [sh, -c, %q]}\n"+
			"  generate: {command: [%s]}\n", init, generate)
	}
	files := map[string]string{"app/gen.sh": "#!/bin/sh\necho '{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"ours\"}}'\n"}
	for name, tt := range map[string]struct{ init, generate, want string }{
		"a program of the repository": {"true", "./gen.sh", `"ours"`},
		"one that was made":           {"cp gen.sh made; chmod 700 made", "./made", `"ours"`},
		"one that became a link":      {"ln -sf " + elsewhere + "/tool.sh gen.sh", "./gen.sh", ""},
		"one of the declaration":      {"true", elsewhere + "/tool.sh", `"plum-tree-of-the-agent"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := rendered(t, plugins(t, declaration(tt.init, tt.generate)), request(t, files, &v1alpha1.PluginSource{Name: "mine"}))
			if (err == nil) != (tt.want != "") || !strings.Contains(got, tt.want) || tt.want == "" && strings.Contains(err.Error(), "plum") {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	secret := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"key":"cGx1bS1UcmVlLTQ3MTEtbGFudGVybg=="}}`
	for name, tt := range map[string]struct {
		script string
		is     error
		text   []string
	}{
		"hangs":                 {"sleep 600", render.ErrTimeout, []string{"2s"}},
		"hangs with a child":    {"sleep 600 & sleep 600 & wait", render.ErrTimeout, []string{"2s"}},
		"floods":                {"yes 'a: line that is rather long, so that it is soon over'", document.ErrLimit, []string{"more than 8 MiB", "split"}},
		"fails":                 {"echo 'no such value, password=hunter2-secret' >&2; exit 3", nil, []string{"code 3", "no such value"}},
		"prints a Secret there": {"echo '" + secret + "' >&2; exit 3", nil, []string{"not shown"}},
		"quotes a Secret": {
			"echo '" + secret + "'; echo 'bad value plum-Tree-4711-lantern of cGx1bS1UcmVlLTQ3MTEtbGFudGVybg==' >&2; exit 4", nil,
			[]string{"code 4", "bad value"},
		},
		"breaks off in a Secret": {
			`echo 'kind: Secret'; echo '  data: [plum-Tree-4711-lantern'; echo 'plum-Tree-4711-lantern' >&2; exit 5`, nil,
			[]string{"code 5", "not shown"},
		},
		"garbles":        {"echo 'kind: ['", nil, []string{"output of plugin mine"}},
		"is killed":      {"kill -KILL $$", nil, []string{"SIGKILL"}},
		"takes memory":   {"x=$(head -c 3000000000 /dev/zero | tr '\\0' a)", nil, nil},
		"is not there":   {"", sandbox.ErrStart, []string{"no-such-tool", "container of the agent"}},
		"has a bad name": {"", render.ErrNoPlugin, []string{"../mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			declaration := shell("mine", tt.script, "")
			plugin := &v1alpha1.PluginSource{Name: "mine"}
			switch name {
			case "is not there":
				declaration = "kind: ConfigManagementPlugin\nmetadata: {name: mine}\nspec: {generate: {command: [no-such-tool]}}\n"
			case "has a bad name":
				plugin.Name = "../mine"
			}
			req := request(t, map[string]string{"app/input.txt": "hello"}, plugin)
			req.Limits = render.Limits{Seconds: 20, Bytes: 8 << 20}
			if strings.HasPrefix(name, "hangs") {
				req.Limits.Seconds = 2
			}
			got, err := rendered(t, plugins(t, declaration), req)
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("%.200s, %v", got, err)
			}
			for _, want := range tt.text {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
			for _, hidden := range []string{"hunter2", "plum-Tree", "cGx1bS1U"} {
				if strings.Contains(err.Error(), hidden) {
					t.Errorf("the error shows a secret: %v", err)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := plugins(t, shell("mine", "sleep 600", "")).Render(ctx, request(t, map[string]string{"app/a": "b"}, &v1alpha1.PluginSource{Name: "mine"}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled rendering: %v", err)
	}
}

func TestAPluginThatHangsInItsDiscoveryIsGivenUp(t *testing.T) {
	t.Parallel()
	r := plugins(t, shell("mine", "exit 1", "  discover: {find: {command: [sh, -c, 'sleep 600']}}\n"))
	req := request(t, map[string]string{"app/input.txt": "hello"}, nil)
	req.Limits.Seconds = 1
	if _, err := r.Claims(t.Context(), req); !errors.Is(err, render.ErrTimeout) || !strings.Contains(err.Error(), "1s") {
		t.Errorf("a claim: %v", err)
	}
	if _, err := r.Announce(t.Context(), req); !errors.Is(err, render.ErrTimeout) {
		t.Errorf("its parameters: %v", err)
	}
}

func TestWhatAPluginMakesUnreadableIsDeletedToo(t *testing.T) {
	t.Parallel()
	r := plugins(t, shell("mine", `mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/c; chmod 000 $TMPDIR/a/b $TMPDIR/a; text=x; `+configMap, ""))
	if got, err := rendered(t, r, request(t, map[string]string{"app/a": "b"}, &v1alpha1.PluginSource{Name: "mine"})); err != nil {
		t.Errorf("%s, %v", got, err)
	}
	left := filepath.Join(r.Work, "run-1", "files")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.Clear(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what an earlier process left is still there: %v", err)
	}
}

func TestAPluginThatMustBeAloneRunsOnceAtATime(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running atomic.Int32
	var served errgroup.Group
	served.Go(func() error {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return nil //nolint:nilerr // it is closed
			}
			served.Go(func() error {
				defer conn.Close()
				defer running.Add(-1)
				if running.Add(1) > 1 {
					t.Error("it runs twice at a time")
				}
				<-time.After(50 * time.Millisecond) // for another one to come
				return nil
			})
		}
	})
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	r := plugins(t, fmt.Sprintf("kind: ConfigManagementPlugin\nmetadata: {name: mine, annotations: {%s: 'true'}}\nspec:\n  allowConcurrency: false\n"+
		"  generate: {command: [bash, -c], args: [%q]}\n", declared.AnnotationNetwork, "exec 3<>/dev/tcp/"+host+"/"+port+" || exit 9; cat <&3"))
	r.At = make(chan struct{}, 4)
	var all errgroup.Group
	for range 4 {
		req := request(t, map[string]string{"app/a": "b"}, &v1alpha1.PluginSource{Name: "mine"})
		all.Go(func() error { _, err := r.Render(t.Context(), req); return err })
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	_ = listener.Close()
	_ = served.Wait()
}

func TestDeclarationsThatAreWrongAreNamed(t *testing.T) {
	t.Parallel()
	good := shell("good", "text=good; "+configMap, "")
	for want, wrong := range map[string]string{
		"must be ConfigManagementPlugin": "kind: Application\nmetadata: {name: x}\n",
		"no name of a plugin":            shell("'../x'", "true", ""),
		"name the program":               "kind: ConfigManagementPlugin\nmetadata: {name: x}\nspec: {generate: {}}\n",
		"another file declares good too": good,
		"256 KiB":                        "# " + strings.Repeat("x", 300<<10),
		"01.yaml":                        "kind: [",
	} {
		r := plugins(t, good, wrong)
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		got, err := rendered(t, r, request(t, map[string]string{"app/a": "b"}, &v1alpha1.PluginSource{Name: "good"}))
		if err != nil || !strings.Contains(got, "good") {
			t.Errorf("a good plugin beside it: %s, %v", got, err)
		}
		if _, err := rendered(t, r, request(t, map[string]string{"app/a": "b"}, &v1alpha1.PluginSource{Name: "other"})); !errors.Is(err, render.ErrNoPlugin) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if r := (&declared.Renderer{Dir: "/none/at/all"}); r.Check() == nil || r.Has("") || r.Has("x") {
		t.Error("a directory that is not there has plugins, or is not reported")
	}
}

func TestParametersAreThoseOfTheFilesAndOfTheDeclaration(t *testing.T) {
	t.Parallel()
	dynamic := `cat parameters.json`
	r := plugins(t, shell("mine", "true", "  parameters:\n    static: [{name: tag, title: Tag, required: true, string: latest}]\n    dynamic: {command: [sh, -c, '"+dynamic+"']}\n"))
	req := request(t, map[string]string{"app/parameters.json": `[{"name":"values","collectionType":"map","map":{"a":"b"}}]`}, &v1alpha1.PluginSource{Name: "mine"})
	got, err := r.Announce(t.Context(), req)
	if err != nil || len(got) != 2 || got[0].Name != "values" || got[0].Map["a"] != "b" || got[1].Title != "Tag" || !got[1].Required || got[1].String != "latest" {
		t.Errorf("%+v, %v", got, err)
	}
	req = request(t, map[string]string{"app/parameters.json": `nothing`}, &v1alpha1.PluginSource{Name: "mine"})
	if _, err := r.Announce(t.Context(), req); err == nil || !strings.Contains(err.Error(), "no list of parameters") {
		t.Errorf("%v", err)
	}
}

func TestAMistakeInADeclarationIsNamed(t *testing.T) {
	t.Parallel()
	head := "apiVersion: argoproj.io/v1alpha1\nkind: ConfigManagementPlugin\nmetadata: {name: mine}\n"
	for name, c := range map[string]struct{ text, want string }{
		"a line as command": {head + "spec: {generate: {command: cat app.txt}}", "spec.generate.command is a string and must be a list"},
		"a list as spec":    {head + "spec: []", "spec is a array and must be an object"},
		"a word as choice":  {head + "spec: {generate: {command: [cat]}, preserveFileMode: often}", "spec.preserveFileMode is a string and must be true or false"},
	} {
		if err := plugins(t, c.text).Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	gone := &declared.Renderer{Dir: filepath.Join(t.TempDir(), "gone")}
	if err := gone.Check(); err == nil || !strings.Contains(err.Error(), "--plugins") {
		t.Errorf("a directory that is not there: %v", err)
	}
	r := plugins(t, head+"spec: {generate: {command: [cat app.txt]}}")
	_, err := r.Render(t.Context(), request(t, map[string]string{"app/a": "b"}, &v1alpha1.PluginSource{Name: "mine"}))
	if err == nil || !strings.Contains(err.Error(), "an item of its own") {
		t.Errorf("a line as program: %v", err)
	}
	r = plugins(t, shell("mine", "echo 'curl: (6) Could not resolve host: example.org' >&2; exit 6", ""))
	_, err = r.Render(t.Context(), request(t, map[string]string{"app/a": "b"}, &v1alpha1.PluginSource{Name: "mine"}))
	if err == nil || !strings.Contains(err.Error(), "has no network: annotate") {
		t.Errorf("no network: %v", err)
	}
}
