package authn

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

func (d desk) token(t *testing.T, in api.Token) api.TokenCreated {
	t.Helper()
	made, err := d.MakeToken(t.Context(), in, Grounds{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestATokenActsAsItsOwnerWithinItsLimits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	d.store.accounts["org.acme.ci"] = api.ServiceAccount{}
	ada := api.Principal{Type: api.PrincipalUser, ID: "ada"}
	ci := api.Principal{Type: api.PrincipalServiceAccount, ID: "org.acme.ci"}
	tests := []struct {
		name string
		in   api.Token
		want rbac.Subject
	}{
		{"a user's", api.Token{Owner: ada}, rbac.Subject{UserID: "ada"}},
		{"a service account's", api.Token{Owner: ci}, rbac.Subject{ServiceAccountID: "org.acme.ci"}},
		{"of the account", api.Token{Owner: ada, Scope: api.ScopeAccount}, rbac.Subject{UserID: "ada"}},
		{
			"for some permissions",
			api.Token{Owner: ada, Permissions: []api.Permission{"*_view"}},
			rbac.Subject{UserID: "ada", Ceiling: &rbac.Ceiling{Permissions: []api.Permission{"*_view"}, Scope: api.ScopeAccount}},
		},
		{
			"for a scope",
			api.Token{Owner: ci, Scope: "org.acme"},
			rbac.Subject{ServiceAccountID: "org.acme.ci", Ceiling: &rbac.Ceiling{Permissions: []api.Permission{"*"}, Scope: "org.acme"}},
		},
	}
	for i, tt := range tests {
		tt.in.Name = fmt.Sprint("t", i)
		made := d.token(t, tt.in)
		who, err := d.bearer(t, "bearer "+made.Secret)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, who.Subject); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if who.Principal != tt.in.Owner || who.Token == nil || who.Token.ID != made.ID || !who.ExpiresAt.Equal(d.clock.now().Add(tokenLasts)) {
			t.Errorf("%s: %+v", tt.name, who)
		}
		_, key, _ := splitToken(made.Secret)
		if strings.Contains(fmt.Sprintf("%+v", d.store.tokens), key) {
			t.Error("the secret is kept in clear")
		}
	}
}

func TestATokenThatIsNotRightIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	d.store.accounts["account.ci"] = api.ServiceAccount{}
	good := d.token(t, api.Token{Name: "a", Owner: api.Principal{Type: api.PrincipalUser, ID: "ada"}})
	other := d.token(t, api.Token{Name: "b", Owner: api.Principal{Type: api.PrincipalUser, ID: "ada"}})
	_, otherKey, _ := splitToken(other.Secret)
	for _, header := range []string{
		"Bearer", "Bearer ", "Bearer x", "Basic " + good.Secret, good.Secret,
		"Bearer " + good.Secret[:len(good.Secret)-1], "Bearer " + good.Secret + "a", "Bearer " + strings.ToUpper(good.Secret),
		"Bearer slp_" + strings.Repeat("a", 16) + "_" + otherKey, "Bearer slp_" + good.ID + "_" + otherKey,
		"Bearer slp_" + good.ID + "_" + d.store.tokens[good.ID].Hash[:52],
	} {
		if who, err := d.bearer(t, header); api.CodeOf(err) != api.CodeUnauthenticated {
			t.Errorf("%s: %+v, %v", header, who, err)
		}
	}
	d.clock.pass(tokenLasts)
	if _, err := d.bearer(t, "Bearer "+good.Secret); api.CodeOf(err) != api.CodeUnauthenticated || !strings.Contains(err.Error(), "the token a expired at") {
		t.Errorf("an old token: %v", err)
	}
	if _, err := d.bearer(t, "Bearer slp_"+good.ID+"_"+otherKey); err == nil || strings.Contains(err.Error(), "expired") {
		t.Errorf("it is told that the token expired, without its secret: %v", err)
	}
}

func TestTheTokenOfADisabledOwnerIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	d.store.accounts["account.ci"] = api.ServiceAccount{Disabled: true}
	ada := d.token(t, api.Token{Name: "a", Owner: api.Principal{Type: api.PrincipalUser, ID: "ada"}})
	ci := d.token(t, api.Token{Name: "a", Owner: api.Principal{Type: api.PrincipalServiceAccount, ID: "account.ci"}})
	gone := d.token(t, api.Token{Name: "a", Owner: api.Principal{Type: api.PrincipalServiceAccount, ID: "account.gone"}})
	if err := change(d.store, d.store.users, "ada", func(u *User) { u.Disabled = true }); err != nil {
		t.Fatal(err)
	}
	for _, made := range []api.TokenCreated{ada, ci} {
		if _, err := d.bearer(t, "Bearer "+made.Secret); api.CodeOf(err) != api.CodeForbidden {
			t.Errorf("%s: %v", made.Owner.ID, err)
		}
	}
	if _, err := d.bearer(t, "Bearer "+gone.Secret); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("%v", err)
	}
}

func TestTheUseOfATokenIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	made := d.token(t, api.Token{Name: "a", Owner: api.Principal{Type: api.PrincipalUser, ID: "ada"}})
	for range 13 {
		if _, err := d.bearer(t, "Bearer "+made.Secret); err != nil {
			t.Fatal(err)
		}
		d.clock.pass(10 * time.Second)
	}
	if d.store.touches != 3 {
		t.Errorf("noted %d times in two minutes", d.store.touches)
	}
}

func TestATokenThatCannotBeIsNotMade(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ada := api.Principal{Type: api.PrincipalUser, ID: "ada"}
	for field, in := range map[string]api.Token{
		"name":        {Owner: ada, Name: "Not a name"},
		"owner":       {Name: "a", Owner: api.Principal{Type: api.PrincipalGroup, ID: "account.ops"}},
		"permissions": {Name: "a", Owner: ada, Permissions: []api.Permission{"application_fly"}},
		"scope":       {Name: "a", Owner: ada, Scope: "org."},
		"expiresAt":   {Name: "a", Owner: ada, ExpiresAt: d.clock.now().Add(400 * 24 * time.Hour)},
	} {
		_, err := d.MakeToken(t.Context(), in, Grounds{})
		if e := (&api.Error{}); !errors.As(err, &e) || e.Code != api.CodeInvalid || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestASecondLaptopOfThatNameGetsATokenToo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	for range 3 {
		s, _, err := d.SignIn(t.Context(), api.SignIn{Username: "ada", Password: goodPassword, Token: "laptop"}, Client{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.bearer(t, "Bearer "+s.Token); err != nil || s.TokenID == "" || s.ExpiresAt.IsZero() {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if len(d.store.tokens) != 3 {
		t.Errorf("there are %d tokens", len(d.store.tokens))
	}
}

func FuzzSplitToken(f *testing.F) {
	f.Add("slp_" + strings.Repeat("a", tokenIDSize) + "_" + strings.Repeat("b", tokenSecretSize))
	f.Add("slp__")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		id, key, ok := splitToken(text)
		if ok && (api.TokenPrefix+id+"_"+key != text || len(id) != tokenIDSize || len(key) != tokenSecretSize) {
			t.Fatalf("%q is %q and %q", text, id, key)
		}
	})
}
