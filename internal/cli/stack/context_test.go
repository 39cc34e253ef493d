package stack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
)

// stackAt makes a stack on a data directory, as `slipway up` does when its server listens.
func stackAt(d dir, port int) *stack {
	return &stack{dir: d, server: "slipway-server", options: upOptions{Common: &connect.Common{}}, ports: ports{Server: port}}
}

// claim claims the context of a stack and returns it with what its env says.
func claim(t *testing.T, s *stack) (remote.Context, string) {
	t.Helper()
	mine, err := s.claimContext()
	if err != nil {
		t.Fatal(err)
	}
	env, err := os.ReadFile(s.dir.env())
	if err != nil {
		t.Fatal(err)
	}
	return mine, string(env)
}

func TestEachDataDirectoryHasItsOwnContextAndItsEnvPointsToIt(t *testing.T) {
	t.Setenv("SLIPWAY_CONFIG", filepath.Join(t.TempDir(), "config.json"))
	t.Setenv("SLIPWAY_SERVER", "")
	one, two, three := dir(t.TempDir()), dir(t.TempDir()), dir(t.TempDir())
	for _, c := range []struct {
		name string
		dir  dir
		port int
		want string
	}{
		{"the first", one, 7001, "local"},
		{"the second beside it", two, 7002, "local-2"},
		{"the first again", one, 7001, "local"},
		{"the first on another port", one, 7003, "local"},
		{"the second again", two, 7002, "local-2"},
		{"the third, on a port that the first had", three, 7001, "local-3"},
	} {
		got, env := claim(t, stackAt(c.dir, c.port))
		if got.Name != c.want || !strings.HasSuffix(got.Server, strings.TrimPrefix(loopback(c.port), "127.0.0.1")) {
			t.Errorf("%s: the context is %v, want %s at port %d", c.name, got, c.want, c.port)
		}
		if !strings.Contains(env, "export SLIPWAY_SERVER="+c.want+"\n") {
			t.Errorf("%s: env does not name the context %s:\n%s", c.name, c.want, env)
		}
	}
	if err := os.RemoveAll(string(three)); err != nil {
		t.Fatal(err)
	}
	if got, _ := claim(t, stackAt(dir(t.TempDir()), 7005)); got.Name != "local-3" {
		t.Errorf("the context of a directory that is gone is not used again: %v", got)
	}
	contexts, err := remote.Load()
	if err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(contexts.Names(), " "); names != "local local-2 local-3" || contexts.Current != "local" {
		t.Errorf("the contexts are %q, the current one is %q", names, contexts.Current)
	}
	for _, d := range []dir{one, two} {
		if err := forget(d); err != nil {
			t.Fatal(err)
		}
	}
	if contexts, err = remote.Load(); err != nil || strings.Join(contexts.Names(), " ") != "local-3" {
		t.Errorf("after two were purged: %v, %v", contexts.Contexts, err)
	}
}

func TestAStackTakesNoContextOfAnotherServer(t *testing.T) {
	t.Setenv("SLIPWAY_CONFIG", filepath.Join(t.TempDir(), "config.json"))
	mine := remote.Context{Name: contextName, Server: "https://slipway.example.org", Token: "slp_mine"}
	if err := remote.Update(func(c *remote.Contexts) error { c.Use(mine); return nil }); err != nil {
		t.Fatal(err)
	}
	got, _ := claim(t, stackAt(dir(t.TempDir()), 7001))
	if got.Name != "local-2" || got.Token != "" {
		t.Errorf("the stack has the context %v", got)
	}
	contexts, err := remote.Load()
	if err != nil {
		t.Fatal(err)
	}
	if have, _ := contexts.Get(contextName); have != mine || contexts.Current != contextName {
		t.Errorf("the context of the other server is %v now, and %q is the current one", have, contexts.Current)
	}
}
