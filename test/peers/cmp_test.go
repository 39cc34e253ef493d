package peers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/declared"
	"github.com/slipway-gitops/slipway/internal/engine/render/sidecar"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

// pluginYAML is a plugin with all that a plugin can have.
const pluginYAML = `apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: mine}
spec:
  version: v1.0
  init: {command: [sh, -c, 'echo init > made']}
  generate:
    command: [sh, -c]
    args:
    - |
      [ -e fail ] && { echo "no such value, password=hunter2-secret" >&2; exit 3; }
      ./tool.sh "$(cat input.txt) $(cat ../shared/base.txt) $(cat made) $ARGOCD_ENV_GREETING $PARAM_TAG $PARAM_LIST_1 $PARAM_TABLE_A $ARGOCD_APP_NAME $KUBE_VERSION"
  discover: {find: {glob: '**/input*.txt'}}
  parameters:
    static: [{name: tag, title: Tag, required: true, string: latest}]
    dynamic: {command: [sh, -c, 'echo "[{\"name\":\"table\",\"collectionType\":\"map\",\"map\":{\"a\":\"b\"}}]"']}
  preserveFileMode: true
`

// cmpServer starts Argo CD's server of plugins, and returns the directory of its socket.
func cmpServer(t *testing.T, dir string) string {
	t.Helper()
	home := os.Getenv("ARGO_HOME")
	if home == "" {
		t.Skip("ARGO_HOME is not set: no argocd-cmp-server to compare with")
	}
	built := filepath.Join(home, "bin", "argocd")
	if _, err := os.Stat(built); err != nil {
		t.Skip(err)
	}
	sockets, err := os.MkdirTemp("", "cmp") //nolint:usetesting // the name of a test would make the path too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	program := filepath.Join(t.TempDir(), "argocd-cmp-server")
	if err := os.Symlink(built, program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config-dir-path", dir)
	cmd.Env = append(os.Environ(), "ARGOCD_PLUGINSOCKFILEPATH="+sockets, "ARGOCD_CMP_WORKDIR="+t.TempDir(), "HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for beside := (&sidecar.Renderer{Dir: sockets}); !beside.Has("mine-v1.0"); {
		select {
		case <-ctx.Done():
			t.Fatal("argocd-cmp-server does not listen")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return sockets
}

// TestPluginsOfArgoCDRenderTheSameEitherWay has the server of plugins of Argo CD render, and the agent's own plugins with the same
// declaration.
func TestPluginsOfArgoCDRenderTheSameEitherWay(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plugin.yaml"), []byte(pluginYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	sockets := cmpServer(t, dir)
	request := func(plugin *v1alpha1.PluginSource, more ...string) render.Request {
		root := t.TempDir()
		files := map[string]string{
			"app/input.txt": "hello", "shared/base.txt": "base",
			"app/tool.sh": "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {text: \"%s\"}\\n---\\n" +
				"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: second}\\n' \"$1\"\n",
		}
		for _, name := range more {
			files[name] = ""
		}
		for name, content := range files {
			full := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(content), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		tree, err := dirtree.Open(root, "0123456789abcdef0123456789abcdef01234567")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tree.Close() })
		return render.Request{
			App: render.App{Name: "shop", Namespace: "argocd", Project: "team"}, Namespace: "web", Tree: tree,
			Cluster: render.Capabilities{KubeVersion: "v1.36.1"},
			Source:  v1alpha1.ApplicationSource{RepoURL: "https://git.example.org/shop", Path: "app", Plugin: plugin},
		}
	}
	tag := "v7"
	named := &v1alpha1.PluginSource{
		Name: "mine-v1.0", Env: []v1alpha1.EnvEntry{{Name: "GREETING", Value: "hi"}}, Parameters: []v1alpha1.PluginParameter{
			{Name: "tag", String: &tag}, {Name: "list", Array: []string{"x", "y"}}, {Name: "table", Map: map[string]string{"a": "c"}},
		},
	}
	for name, plugins := range map[string]render.Plugins{
		"argocd-cmp-server": &sidecar.Renderer{Dir: sockets},
		"the agent":         &declared.Renderer{Dir: dir, Work: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			pipeline := &render.Pipeline{Plugins: plugins}
			for kind, plugin := range map[string]*v1alpha1.PluginSource{
				"hello base init hi v7 y c shop 1.36.1": named, "hello base init     shop 1.36.1": nil,
			} {
				res, err := pipeline.Render(t.Context(), request(plugin))
				if err != nil || len(res.Objects) != 2 || !strings.Contains(string(res.Objects[0].JSON), `"text":"`+kind+`"`) {
					t.Errorf("%s: %+v, %v", kind, res, err)
				}
			}
			_, err := pipeline.Render(t.Context(), request(named, "app/fail"))
			if err == nil || !strings.Contains(err.Error(), "no such value") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a failure: %v", err)
			}
			prepared, _, err := render.Prepare(request(named))
			if err != nil {
				t.Fatal(err)
			}
			list, err := plugins.Announce(t.Context(), prepared)
			if err != nil || len(list) != 2 || list[0].Map["a"] != "b" || list[0].CollectionType != "map" || list[1].Title != "Tag" ||
				!list[1].Required || list[1].String != "latest" {
				t.Errorf("parameters: %+v, %v", list, err)
			}
		})
	}
}
