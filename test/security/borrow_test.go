package security

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

// A connection is tried with the secrets of the setting of that name. Under the name of another tenant's, and with an address
// of one's own, that would send them there.
func TestNobodyTriesAConnectionWithTheSecretsOfAnother(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	mallory := g.user(walker+"mallory", api.RoleAdmin+"@"+string(api.ProjectScope(ourOrg, ourProject)))
	for noun, field := range map[string]string{"repositories": "url", "clusters": "server"} {
		body := func(name string) string {
			return fmt.Sprintf(`{"name":%q,"fields":{"project":%q,%q:"https://mallory.example"}}`, name, ourProject, field)
		}
		// Theirs is answered as what is not there: with no secret of it, and without a word on it.
		g.arrived()
		answers := map[string]bool{}
		for _, name := range []string{theirProject, "nothing-of-that-name"} {
			answers[g.must(mallory, "POST", "/agents/account.prod/"+noun+"/test", body(name))] = true
		}
		if len(answers) != 1 {
			t.Errorf("what may not be seen is told from what is not there: %v", answers)
		}
		for _, c := range g.arrived() {
			if !strings.Contains(string(c.Body), `"create":true`) || strings.Contains(string(c.Body), `"from"`) {
				t.Errorf("the agent got %s of %v: %s", c.Kind, c.Target, c.Body)
			}
		}
		if out := g.must(mallory, "POST", "/agents/account.prod/"+noun+"/test", body(ourProject)); !strings.Contains(out, `"ok":true`) {
			t.Errorf("what is one's own is not tried: %s", out)
		}
		for flag, name := range map[string]string{`"update":true`: ourProject, `"create":true`: "new"} {
			g.arrived()
			g.must(mallory, "POST", "/agents/account.prod/"+noun+"/test", body(name))
			for _, c := range g.arrived() {
				if !strings.Contains(string(c.Body), flag) {
					t.Errorf("%s of %s is not told with %s: %s", c.Kind, name, flag, c.Body)
				}
			}
		}
	}
}

// An agent that is older than the steps of a test refuses a command that asks for them. It is asked again without.
func TestAConnectionIsTriedByAnOlderAgent(t *testing.T) {
	t.Parallel()
	g := newStage(t)
	g.outdated.Store(true)
	body := fmt.Sprintf(`{"name":%q,"fields":{"project":%q,"url":"https://git.example/x"}}`, ourProject, ourProject)
	user := g.user(walker+"owner", api.RoleAdmin+"@"+string(api.ProjectScope(ourOrg, ourProject)))
	if out := g.must(user, "POST", "/agents/account.prod/repositories/test", body); !strings.Contains(out, `"ok":true`) {
		t.Errorf("the answer is %s", out)
	}
}
