package remote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

func TestContextsAreForNobodyElse(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("SLIPWAY_CONFIG", "")
	err := Update(func(c *Contexts) error {
		c.Use(Context{Name: "prod", Server: "https://slipway.example.org", Token: "slp_secret"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := File()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %v, want that of a secret", file, info.Mode())
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("beside the file there are %v, %v", left, err)
	}
	again, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := again.Get("prod")
	if !ok || got.Token != "slp_secret" || again.Current != "prod" {
		t.Errorf("got %v, current %q", got, again.Current)
	}
	if text := fmt.Sprint(got); strings.Contains(text, "slp_secret") {
		t.Errorf("printed, it shows its token: %s", text)
	}
}

func TestWhichServerIsMeant(t *testing.T) {
	c := &Contexts{Current: "prod", Contexts: []Context{
		{Name: "prod", Server: "https://prod.example.org", Token: "one"},
		{Name: "again", Server: "https://prod.example.org", Token: "two"},
		{Name: "test", Server: "https://test.example.org", Token: "three"},
	}}
	for _, x := range []struct{ name, given, server, token, want string }{
		{"the current one", "", "", "", "one"},
		{"by name", "test", "", "", "three"},
		{"by address, the current one first", "https://prod.example.org", "", "", "one"},
		{"by address", "test.example.org", "", "", "three"},
		{"by the environment", "", "again", "", "two"},
		{"a flag before the environment", "test", "again", "", "three"},
		{"another token", "test", "", "four", "four"},
		{"an address with a token", "https://other.example.org", "", "four", "four"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Setenv("SLIPWAY_SERVER", x.server)
			t.Setenv("SLIPWAY_TOKEN", x.token)
			got, err := c.Choose(x.given)
			if err != nil || got.Token != x.want {
				t.Errorf("got the token %q, %v, want %q", got.Token, err, x.want)
			}
		})
	}
	t.Setenv("SLIPWAY_SERVER", "")
	t.Setenv("SLIPWAY_TOKEN", "")
	if _, err := c.Choose("https://other.example.org"); (iostream.Streams{Err: &strings.Builder{}}).Report(err) != iostream.CodeNotLoggedIn {
		t.Errorf("got %v, want that nobody is signed in", err)
	}
}

// Who signs in while the environment names another place, or another person, learns of it. What counts is what Choose does.
func TestWhatOverrulesTheCurrentContextIsNamed(t *testing.T) {
	c := &Contexts{Current: "prod", Contexts: []Context{
		{Name: "test", Server: "https://test.example.org", Token: "two"}, {Name: "prod", Server: "https://prod.example.org", Token: "one"},
	}}
	const cluster, server, token = "KUBECONFIG", "SLIPWAY_SERVER", "SLIPWAY_TOKEN"
	for _, x := range []struct {
		name, server, kubeconfig, token string
		want                            []string
	}{
		{name: "nothing"},
		{name: "a cluster", kubeconfig: "/tmp/kubeconfig", want: []string{cluster}},
		{name: "another server", server: "https://test.example.org", want: []string{server}},
		{name: "a server that is not known", server: "https://other.example.org", want: []string{server}},
		{name: "another server, before a cluster", server: "test", kubeconfig: "/tmp/kubeconfig", want: []string{server}},
		{name: "this server by its address", server: "https://prod.example.org/", kubeconfig: "/tmp/kubeconfig"},
		{name: "this server by its host", server: "prod.example.org"},
		{name: "this server by its name", server: "prod"},
		{name: "the token of somebody else", token: "three", want: []string{token}},
		{name: "both", kubeconfig: "/tmp/kubeconfig", token: "three", want: []string{cluster, token}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Setenv(server, x.server)
			t.Setenv(cluster, x.kubeconfig)
			t.Setenv(token, x.token)
			var have []string
			for _, problem := range c.Overruled() {
				variable, _, _ := strings.Cut(problem, " ")
				have = append(have, variable)
				if strings.Contains(problem, "three") {
					t.Errorf("it shows the token: %s", problem)
				}
			}
			if !slices.Equal(have, x.want) {
				t.Errorf("it names %q, want %q", have, x.want)
			}
		})
	}
}

func TestAKeyThatChangedIsNotTakenUnasked(t *testing.T) {
	t.Parallel()
	var c Contexts
	for i, x := range []struct {
		key          string
		accept, want bool
	}{{"a", false, true}, {"a", false, true}, {"b", false, false}, {"a", false, true}, {"b", true, true}, {"b", false, true}, {"a", false, false}} {
		if got := c.Trust("https://prod.example.org", "uid", x.key, x.accept); got != x.want {
			t.Errorf("step %d: the key %s is trusted: %v, want %v", i, x.key, got, x.want)
		}
	}
	if !c.Trust("https://prod.example.org", "other", "b", false) {
		t.Error("the first key of another agent is refused")
	}
}

func TestCommandsAtTheSameTimeLoseNoContext(t *testing.T) {
	t.Setenv("SLIPWAY_CONFIG", filepath.Join(t.TempDir(), "slipway", "config.json"))
	var group errgroup.Group
	const commands = 16
	for n := range commands {
		group.Go(func() error {
			return Update(func(c *Contexts) error {
				c.Set(Context{Name: fmt.Sprint("server-", n), Server: fmt.Sprintf("https://server-%d.example.org", n)})
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if got := len(c.Names()); got != commands {
		t.Errorf("the file has %d contexts, want %d: %v", got, commands, c.Names())
	}
}

func TestAChangeThatFailsLeavesTheContextsAsTheyAre(t *testing.T) {
	t.Setenv("SLIPWAY_CONFIG", filepath.Join(t.TempDir(), "config.json"))
	broken := errors.New("broken")
	if err := Update(func(c *Contexts) error { c.Use(Context{Name: "prod"}); return broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if c, err := Load(); err != nil || len(c.Contexts) != 0 {
		t.Errorf("got %v, %v", c, err)
	}
}
