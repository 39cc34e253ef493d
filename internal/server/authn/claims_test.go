package authn

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
)

func TestClaimsOfTheUserInfoCountWhereTheIDTokenHasNone(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(p *Provider) { p.GroupsClaim, p.NameClaim = "realm_access.roles", "nick" })
	s.store.claims["account.ops"] = "ops"
	s.issuer.set(func(i *issuer) {
		i.claims = map[string]any{"email": "ada@example.org"}
		i.userInfo = map[string]any{"nick": "Ada.Lovelace", "realm_access": map[string]any{"roles": []string{"ops"}}, "email": "other@example.org"}
	})
	b := s.newBrowser(t)
	if status, text := b.signIn(); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if _, text, _ := b.get("/whoami"); text != "ada-lovelace account.ops" {
		t.Errorf("signed in as %s", text)
	}
	if mail := s.store.users["ada-lovelace"].Email; mail != "ada@example.org" {
		t.Errorf("the mail address is %s: the signed one counts", mail)
	}
}

func TestOnlyVerifiedAddressesOfTheDomainsMaySignIn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		claims map[string]any
		trust  bool
		status int
		say    string
	}{
		{"a verified one", map[string]any{"email": "ada@Example.org", "email_verified": true}, false, 200, "at /apps"},
		{"verified, as a text", map[string]any{"email": "ada@example.org", "email_verified": "true"}, false, 200, "at /apps"},
		{"not verified", map[string]any{"email": "ada@example.org", "email_verified": false}, true, 403, "has not verified"},
		{"not said", map[string]any{"email": "ada@example.org"}, false, 403, "has not verified"},
		{"not said, and trusted", map[string]any{"email": "ada@example.org"}, true, 200, "at /apps"},
		{"another domain", map[string]any{"email": "ada@example.org.evil.example", "email_verified": true}, false, 403, "mail addresses of example.org.evil.example may not"},
		{"a trick", map[string]any{"email": "\"ada@example.org\"@evil.example", "email_verified": true}, false, 403, "evil.example may not"},
		{"none", map[string]any{}, false, 403, "gave no mail address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(p *Provider) { p.Domains, p.TrustMail = []string{"example.org"}, tt.trust })
			s.issuer.set(func(i *issuer) { i.claims = tt.claims })
			if status, text := s.newBrowser(t).signIn(); status != tt.status || !strings.Contains(text, tt.say) {
				t.Errorf("%d %s", status, text)
			}
			if tt.status != 200 && len(s.store.users) != 0 {
				t.Error("a user was made")
			}
		})
	}
}

func TestANameOfClaimsIsAName(t *testing.T) {
	t.Parallel()
	for want, who := range map[string]person{
		"ada": {name: "Ada"}, "ada-lovelace": {name: "ada.lovelace@example.org"}, "grace": {mail: "Grace@example.org"}, "zo-m": {title: "Zoë M!"},
		"user": {name: "Ада"}, "x": {name: "--x--"},
	} {
		if got := userName(who); got != want {
			t.Errorf("%+v is %s, want %s", who, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		who := person{name: rapid.String().Draw(t, "name"), mail: rapid.String().Draw(t, "mail"), title: rapid.String().Draw(t, "title")}
		name := userName(who)
		for _, made := range []string{name, name + "-" + strings.Repeat("p", 20), name + "-" + strings.Repeat("0", 12)} {
			if err := api.CheckName(made); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestClaimsAreReadWhateverTheyAre(t *testing.T) {
	t.Parallel()
	tests := []struct {
		claim, json string
		want        []string
	}{
		{"groups", `{"groups":["b","a","a"]}`, []string{"a", "b"}},
		{"groups", `{"groups":"one"}`, []string{"one"}},
		{"groups", `{"groups":[1,null,{"a":1},"x",""]}`, []string{"x"}},
		{"groups", `{"groups":{"a":1}}`, nil},
		{"groups", `{}`, nil},
		{"a.b.c", `{"a":{"b":{"c":["x"]}}}`, []string{"x"}},
		{"a.b.c", `{"a":{"b":7}}`, nil},
		{"https://example.org/groups", `{"https://example.org/groups":["x"]}`, []string{"x"}},
		{"groups", `{"groups":["` + strings.Repeat("x", maxGroupName+1) + `","y"]}`, []string{"y"}},
	}
	for _, tt := range tests {
		var c claims
		if err := json.Unmarshal([]byte(tt.json), &c); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, c.list(tt.claim)); diff != "" {
			t.Errorf("%.60s: %s", tt.json, diff)
		}
	}
}

func FuzzClaims(f *testing.F) {
	f.Add([]byte(`{"sub":"1","groups":["a"],"preferred_username":"ada","email":"a@b","email_verified":"true"}`), "groups")
	f.Add([]byte(`{"sub":"1","a":{"b":["c"]}}`), "a.b")
	f.Add([]byte(`{"sub":1}`), "...")
	f.Fuzz(func(t *testing.T, raw []byte, claim string) {
		var c claims
		if json.Unmarshal(raw, &c) != nil {
			return
		}
		p := Provider{Name: "sso", GroupsClaim: claim, NameClaim: claim, Domains: []string{"example.org"}}
		who, err := p.read(c)
		if err != nil {
			return
		}
		if err := api.CheckName(userName(who)); err != nil {
			t.Fatal(err)
		}
		if len(who.groups) > maxGroups {
			t.Fatalf("%d groups", len(who.groups))
		}
		if p.admits(who) == nil && (!who.verified || !strings.HasSuffix(strings.ToLower(who.mail), "@example.org")) {
			t.Fatalf("%+v is let in", who)
		}
	})
}
