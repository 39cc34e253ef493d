package access

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func TestSomebodyIsNamedInAnyWayThatThereIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]api.Principal{
		"":                          {},
		"ada":                       {Type: api.PrincipalUser, ID: "ada"},
		"ada@example.org":           {Type: api.PrincipalUser, ID: "ada@example.org"},
		"user:ada":                  {Type: api.PrincipalUser, ID: "ada"},
		"group:org.acme.developers": {Type: api.PrincipalGroup, ID: "org.acme.developers"},
		"serviceaccount:account.ci": {Type: api.PrincipalServiceAccount, ID: "account.ci"},
	} {
		if got, err := readWho(text); err != nil || got != want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"robot:x", "group:", ":", "user:"} {
		if _, err := readWho(text); err == nil || !strings.Contains(err.Error(), "group:ID") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAnAddressOfMailIsThatOfOneUser(t *testing.T) {
	t.Parallel()
	user := func(id, mail string) api.User { return api.User{Meta: api.Meta{ID: id}, Email: mail} }
	all := []api.User{user("ada", "Ada@example.org"), user("bob", "ops@example.org"), user("eve", "ops@example.org"), user("none", "")}
	if got, err := withEmail(all, "ada@example.org"); err != nil || got.ID != "ada" {
		t.Errorf("found %+v, %v", got, err)
	}
	if _, err := withEmail(all, "ops@example.org"); err == nil || !strings.Contains(err.Error(), "bob, eve") {
		t.Errorf("an address of two: %v", err)
	}
	if _, err := withEmail(all, "x@example.org"); err == nil || !strings.Contains(err.Error(), "serviceaccount:ID") {
		t.Errorf("an address of nobody: %v", err)
	}
}
