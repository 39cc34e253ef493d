package access_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

var (
	_ authn.Users           = (*store.Store)(nil)
	_ authn.ServiceAccounts = (*store.Store)(nil)
	_ authn.Sessions        = (*store.Store)(nil)
	_ authn.Tokens          = (*store.Store)(nil)
	_ authn.Attempts        = (*store.Store)(nil)
	_ authn.Pendings        = (*store.Store)(nil)
)

func TestThereIsOneFirstAdmin(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		var wg sync.WaitGroup
		made, errs := make([]bool, 5), make([]error, 5)
		for i := range made {
			wg.Go(func() {
				u := authn.User{User: api.User{Meta: api.Meta{Name: "admin"}}, PasswordHash: "h"}
				made[i], errs[i] = b.CreateFirstAdmin(t.Context(), u)
			})
		}
		wg.Wait()
		n := 0
		for i := range made {
			if errs[i] != nil {
				t.Error(errs[i])
			}
			if made[i] {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d were made", n)
		}
		roles, groups, bindings, err := b.Grants(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		policy := rbac.NewPolicy(roles, groups, bindings)
		if d := policy.Can(rbac.Subject{UserID: "admin"}, api.PermSettingEdit, rbac.Object{Type: api.TypeSetting, Scope: api.ScopeAccount}); !d.Allowed {
			t.Errorf("the first admin may not do everything: %s", d.Why)
		}
	})
}

func TestAUserOfAProviderIsFoundByTheirSubject(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		u := authn.User{User: api.User{Meta: api.Meta{Name: "ada"}, Origin: api.OriginOIDC}, Provider: "sso", ProviderSubject: "123"}
		if err := b.CreateAuthUser(ctx, u); err != nil {
			t.Fatal(err)
		}
		u.Name = "eve"
		if err := b.CreateAuthUser(ctx, u); !errors.Is(err, db.ErrExists) || api.CodeOf(err) != api.CodeConflict {
			t.Errorf("the same subject: %v", err)
		}
		_, err := b.AuthUser(ctx, "eve")
		storetest.Code(t, err, api.CodeNotFound)
		storetest.Must[api.Group](t)(b.Groups.Create(ctx, api.Group{Meta: api.Meta{Name: "devs"}, Claim: "developers", Members: []string{"ada"}}))
		storetest.Must[api.Group](t)(b.Groups.Create(ctx, api.Group{Meta: api.Meta{Name: "ops"}, Claim: "operators"}))
		groups := storetest.Must[[]string](t)(b.GroupsByClaim(ctx, []string{"operators", "", "none"}))
		if diff := cmp.Diff([]string{"account.ops"}, groups); diff != "" {
			t.Errorf("by claim (-want +got):\n%s", diff)
		}
		if err := b.SignedInByProvider(ctx, "ada", b.Clock.Now(), "Ada", "ada@example.org", authn.ProviderGroups{Claimed: groups}); err != nil {
			t.Fatal(err)
		}
		got := storetest.Must[authn.User](t)(b.AuthUserByProvider(ctx, "sso", "123"))
		if diff := cmp.Diff([]string{"account.devs", "account.ops"}, got.Groups); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		if got.DisplayName != "Ada" || got.Email != "ada@example.org" || !got.LastSignInAt.Equal(b.Clock.Now()) || got.Origin != "oidc" {
			t.Errorf("got %+v", got)
		}
		// A group that has no claim any more has lost whom it brought.
		ops := storetest.Must[api.Group](t)(b.Groups.Get(ctx, "account.ops"))
		ops.Claim = ""
		storetest.Must[api.Group](t)(b.Groups.Update(ctx, ops))
		if got := storetest.Must[api.User](t)(b.Users.Get(ctx, "ada")); cmp.Diff([]string{"account.devs"}, got.Groups) != "" {
			t.Errorf("groups without the claim: %v", got.Groups)
		}
		// The next sign-in says it anew, and leaves what people decided.
		if err := b.SignedInByProvider(ctx, "ada", b.Clock.Now(), "Ada", "", authn.ProviderGroups{}); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Must[api.User](t)(b.Users.Get(ctx, "ada")); cmp.Diff([]string{"account.devs"}, got.Groups) != "" {
			t.Errorf("groups of the next sign-in: %v", got.Groups)
		}
		for _, subject := range []string{"", "124"} {
			_, err := b.AuthUserByProvider(ctx, "sso", subject)
			storetest.Code(t, err, api.CodeNotFound)
		}
		storetest.Code(t, b.SignedIn(ctx, "nobody", b.Clock.Now()), api.CodeNotFound)
	})
}

func TestANewPasswordEndsOtherSessions(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: "ada"}}))
		session := func(hash string) authn.Session {
			return authn.Session{
				Hash: hash, User: "ada", Method: "password", IP: "10.0.0.1", UserAgent: "x", CreatedAt: b.Clock.Now(), SeenAt: b.Clock.Now(),
				ExpiresAt: b.Clock.Now().Add(time.Hour),
			}
		}
		for _, hash := range []string{"one", "two", "three"} {
			if err := b.CreateSession(ctx, session(hash), authn.Grounds{}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(session("one"), storetest.Must[authn.Session](t)(b.Session(ctx, "one"))); diff != "" {
			t.Errorf("session (-want +got):\n%s", diff)
		}
		if err := b.SetPassword(ctx, "ada", authn.NewPassword{Hash: "hash", MustChange: true, KeepSession: "two"}); err != nil {
			t.Fatal(err)
		}
		u := storetest.Must[authn.User](t)(b.AuthUser(ctx, "ada"))
		if u.PasswordHash != "hash" || !u.MustChangePassword {
			t.Errorf("user %+v", u)
		}
		for hash, there := range map[string]bool{"one": false, "two": true, "three": false} {
			if _, err := b.Session(ctx, hash); (err == nil) != there {
				t.Errorf("session %s: %v", hash, err)
			}
		}
		later := b.Clock.Now().Add(time.Minute)
		if err := b.TouchSession(ctx, "two", later); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Must[authn.Session](t)(b.Session(ctx, "two")); !got.SeenAt.Equal(later) {
			t.Errorf("seen at %v", got.SeenAt)
		}
		if err := b.DeleteOldSessions(ctx, b.Clock.Now(), later); err != nil {
			t.Fatal(err)
		}
		storetest.Must[authn.Session](t)(b.Session(ctx, "two"))
		if err := b.DeleteOldSessions(ctx, b.Clock.Now().Add(time.Hour), time.Time{}); err != nil {
			t.Fatal(err)
		}
		_, err := b.Session(ctx, "two")
		storetest.Code(t, err, api.CodeNotFound)
		// Whoever is disabled is signed out.
		if err := b.CreateSession(ctx, session("four"), authn.Grounds{}); err != nil {
			t.Fatal(err)
		}
		u.Version, u.Disabled = 0, true
		storetest.Must[api.User](t)(b.Users.Update(ctx, u.User))
		_, err = b.Session(ctx, "four")
		storetest.Code(t, err, api.CodeNotFound)
	})
}

func TestANewPasswordEndsTokensWhereItSaysSo(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		for _, name := range []string{"ada", "bob"} {
			storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: name}}))
		}
		b.Tree(t)
		storetest.Must[api.ServiceAccount](t)(b.ServiceAccounts.Create(ctx, api.ServiceAccount{Meta: api.Meta{Name: "ada", Scope: api.ScopeAccount}}))
		for id, owner := range map[string]api.Principal{
			"one": {Type: api.PrincipalUser, ID: "ada"}, "two": {Type: api.PrincipalUser, ID: "ada"}, "bobs": {Type: api.PrincipalUser, ID: "bob"},
			"robots": {Type: api.PrincipalServiceAccount, ID: "account.ada"},
		} {
			if err := b.CreateToken(ctx, authn.Token{Hash: id, Token: api.Token{ID: id, Name: id, Owner: owner}}, authn.Grounds{}); err != nil {
				t.Fatal(err)
			}
		}
		left := func() (ids []string) {
			for _, id := range []string{"bobs", "one", "robots", "two"} {
				if _, err := b.GetToken(ctx, id); err == nil {
					ids = append(ids, id)
				}
			}
			return ids
		}
		for _, step := range []struct {
			set  authn.NewPassword
			want []string
		}{
			{authn.NewPassword{Hash: "a"}, []string{"bobs", "one", "robots", "two"}},
			{authn.NewPassword{Hash: "b", EndTokens: true, KeepToken: "two"}, []string{"bobs", "robots", "two"}},
			{authn.NewPassword{Hash: "c", EndTokens: true}, []string{"bobs", "robots"}},
		} {
			if err := b.SetPassword(ctx, "ada", step.set); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(step.want, left()); diff != "" {
				t.Errorf("%+v: %s", step.set, diff)
			}
		}
	})
}

func TestATokenIsSeenByWhoMaySeeItsOwner(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		b.Tree(t)
		storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: "ada"}}))
		storetest.Must[api.ServiceAccount](t)(b.ServiceAccounts.Create(ctx, api.ServiceAccount{Meta: api.Meta{Name: "ci", Scope: "org.acme"}}))
		token := func(id, name, kind, owner string) authn.Token {
			return authn.Token{Hash: "h" + id, Token: api.Token{
				ID: id, Name: name, Owner: api.Principal{Type: kind, ID: owner}, Permissions: []api.Permission{"*_view"}, Scope: "org.acme",
				ExpiresAt: b.Clock.Now().Add(time.Hour), CreatedAt: b.Clock.Now(),
			}}
		}
		for _, v := range []authn.Token{token("t1", "laptop", "user", "ada"), token("t2", "ci", "serviceaccount", "org.acme.ci")} {
			if err := b.CreateToken(ctx, v, authn.Grounds{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(v, storetest.Must[authn.Token](t)(b.AuthToken(ctx, v.ID))); diff != "" {
				t.Errorf("token (-want +got):\n%s", diff)
			}
		}
		if err := b.CreateToken(ctx, token("t3", "laptop", "user", "ada"), authn.Grounds{}); !errors.Is(err, db.ErrExists) {
			t.Errorf("the same name: %v", err)
		}
		storetest.Code(t, b.CreateToken(ctx, token("t4", "x", "user", "nobody"), authn.Grounds{}), api.CodeNotFound)
		org := rbac.Filter{Type: api.TypeToken, Terms: []rbac.Term{{Scope: "org.acme", All: true}}}
		list := func(f rbac.Filter, owner api.Principal) []string {
			page := storetest.Must[api.Page[api.Token]](t)(b.ListTokens(ctx, f, owner, api.ListOptions{}))
			return storetest.IDs(page, func(v api.Token) string { return v.ID })
		}
		ada := api.Principal{Type: "user", ID: "ada"}
		for _, test := range []struct{ got, want []string }{
			{list(storetest.All(api.TypeToken), api.Principal{}), []string{"t1", "t2"}},
			{list(storetest.All(api.TypeToken), ada), []string{"t1"}},
			{list(org, api.Principal{}), []string{"t2"}},
			{list(org, ada), []string{}},
		} {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
		}
		used := b.Clock.Now().Add(time.Minute)
		if err := b.TouchToken(ctx, "t1", used); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Must[api.Token](t)(b.GetToken(ctx, "t1")); !got.LastUsedAt.Equal(used) {
			t.Errorf("used at %v", got.LastUsedAt)
		}
		if err := b.DeleteToken(ctx, "t1"); err != nil {
			t.Fatal(err)
		}
		storetest.Code(t, b.DeleteToken(ctx, "t1"), api.CodeNotFound)
		// A token goes with its owner.
		if err := b.Organizations.Delete(ctx, "acme", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		_, err := b.AuthToken(ctx, "t2")
		storetest.Code(t, err, api.CodeNotFound)
	})
}

func TestWrongPasswordsAreCountedOneByOne(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := b.Attempt(ctx, "key", func(a authn.Attempt) authn.Attempt {
					a.Failures++
					a.LastAt = b.Clock.Now()
					return a
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		same := func(a authn.Attempt) authn.Attempt { return a }
		if a := storetest.Must[authn.Attempt](t)(b.Attempt(ctx, "key", same)); a.Failures != 20 || !a.LastAt.Equal(b.Clock.Now()) {
			t.Errorf("counted %+v", a)
		}
		if err := b.DeleteOldAttempts(ctx, b.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		if a := storetest.Must[authn.Attempt](t)(b.Attempt(ctx, "key", same)); a.Failures != 20 {
			t.Errorf("forgotten too early: %+v", a)
		}
		if err := b.ClearAttempts(ctx, "key"); err != nil {
			t.Fatal(err)
		}
		if a := storetest.Must[authn.Attempt](t)(b.Attempt(ctx, "key", same)); a != (authn.Attempt{}) {
			t.Errorf("not forgotten: %+v", a)
		}
	})
}

func TestWhatIsPendingIsTakenOnce(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		p := authn.Pending{Hash: "h", Kind: "oidc", Body: []byte(`{"a":1}`), ExpiresAt: b.Clock.Now().Add(time.Minute)}
		if err := b.CreatePending(ctx, p); err != nil {
			t.Fatal(err)
		}
		_, err := b.TakePending(ctx, "other", "h")
		storetest.Code(t, err, api.CodeNotFound)
		var wg sync.WaitGroup
		var mu sync.Mutex
		taken := 0
		for range 5 {
			wg.Go(func() {
				got, err := b.TakePending(ctx, "oidc", "h")
				if err != nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				taken++
				if diff := cmp.Diff(p, got); diff != "" {
					t.Errorf("taken (-want +got):\n%s", diff)
				}
			})
		}
		wg.Wait()
		if taken != 1 {
			t.Errorf("taken %d times", taken)
		}
		if err := b.CreatePending(ctx, p); err != nil {
			t.Fatal(err)
		}
		if err := b.DeleteOldPending(ctx, p.ExpiresAt); err != nil {
			t.Fatal(err)
		}
		_, err = b.TakePending(ctx, "oidc", "h")
		storetest.Code(t, err, api.CodeNotFound)
	})
}

func TestWhatWasCheckedBeforeAResetIsNotKeptAfterIt(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: "ada"}}))
		set := func(p authn.NewPassword) {
			t.Helper()
			if err := b.SetPassword(ctx, "ada", p); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		sessionOn := func(hash string, on authn.Grounds) error {
			return b.CreateSession(ctx, authn.Session{Hash: hash, User: "ada", ExpiresAt: b.Clock.Now().Add(time.Hour)}, on)
		}
		tokenOn := func(id string, on authn.Grounds) error {
			return b.CreateToken(ctx, authn.Token{Hash: id, Token: api.Token{ID: id, Name: id, Owner: api.Principal{Type: api.PrincipalUser, ID: "ada"}}}, on)
		}
		refused := func(what string, on authn.Grounds) {
			t.Helper()
			n++
			name := fmt.Sprintf("late-%d", n)
			for _, err := range []error{sessionOn(name, on), tokenOn(name, on)} {
				if api.CodeOf(err) != api.CodeUnauthenticated {
					t.Errorf("%s: %v", what, err)
				}
			}
			if _, err := b.Session(ctx, name); err == nil {
				t.Errorf("%s: a session is there", what)
			}
			if _, err := b.GetToken(ctx, name); err == nil {
				t.Errorf("%s: a token is there", what)
			}
		}
		set(authn.NewPassword{Hash: "old"})
		old := authn.Grounds{User: "ada", PasswordHash: "old"}
		for _, err := range []error{sessionOn("one", old), tokenOn("two", authn.Grounds{Session: "one"}), tokenOn("three", authn.Grounds{Token: "two"})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		set(authn.NewPassword{Hash: "new", EndTokens: true})
		refused("the password before", old)
		refused("a session that ended", authn.Grounds{Session: "one"})
		refused("a token that ended", authn.Grounds{Token: "two"})
		// Nor is a password of the user's own choice, or a renewed hash, where the one before it was checked before the reset.
		err := b.SetPassword(ctx, "ada", authn.NewPassword{Hash: "mine", Was: "old"})
		storetest.Code(t, err, api.CodeConflict)
		if u := storetest.Must[authn.User](t)(b.AuthUser(ctx, "ada")); u.PasswordHash != "new" {
			t.Errorf("the reset password was replaced by %q", u.PasswordHash)
		}
		u := storetest.Must[api.User](t)(b.Users.Get(ctx, "ada"))
		u.Disabled = true
		storetest.Must[api.User](t)(b.Users.Update(ctx, u))
		refused("somebody who was disabled", authn.Grounds{User: "ada", PasswordHash: "new"})
	})
}

func TestAResetAndASignInAtTheSameMomentLeaveNothingOfTheOldPassword(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: "ada"}}))
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				name, on := fmt.Sprintf("s-%d", i), authn.Grounds{User: "ada"}
				err := b.CreateSession(ctx, authn.Session{Hash: name, User: "ada", ExpiresAt: b.Clock.Now().Add(time.Hour)}, on)
				if err == nil {
					err = b.CreateToken(ctx, authn.Token{Hash: name, Token: api.Token{ID: name, Name: name, Owner: api.Principal{Type: api.PrincipalUser, ID: "ada"}}}, authn.Grounds{Session: name})
				}
				if err != nil && api.CodeOf(err) != api.CodeUnauthenticated {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if err := b.SetPassword(ctx, "ada", authn.NewPassword{Hash: "new", EndTokens: true}); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		for i := range 20 {
			name := fmt.Sprintf("s-%d", i)
			if _, err := b.Session(ctx, name); err == nil {
				t.Errorf("session %s survived", name)
			}
			if _, err := b.GetToken(ctx, name); err == nil {
				t.Errorf("token %s survived", name)
			}
		}
	})
}

func TestGroupsOfAProviderCountForATimeAndWithoutAClaimWhereTheConfigurationNamesThem(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		u := authn.User{User: api.User{Meta: api.Meta{Name: "ada"}, Origin: api.OriginOIDC}, Provider: "sso", ProviderSubject: "123"}
		if err := b.CreateAuthUser(ctx, u); err != nil {
			t.Fatal(err)
		}
		for _, g := range []api.Group{{Meta: api.Meta{Name: "claimed"}, Claim: "c"}, {Meta: api.Meta{Name: "mapped"}}, {Meta: api.Meta{Name: "made"}, Members: []string{"ada"}}} {
			storetest.Must[api.Group](t)(b.Groups.Create(ctx, g))
		}
		groups := authn.ProviderGroups{Claimed: []string{"account.claimed"}, Mapped: []string{"account.mapped", "account.gone", "account.claimed"}}
		has := func(when string, want ...string) {
			t.Helper()
			for _, got := range [][]string{storetest.Must[authn.User](t)(b.AuthUser(ctx, "ada")).Groups, storetest.Must[api.User](t)(b.Users.Get(ctx, "ada")).Groups} {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", when, diff)
				}
			}
		}
		signIn := func() {
			t.Helper()
			if err := b.SignedInByProvider(ctx, "ada", b.Clock.Now(), "Ada", "", groups); err != nil {
				t.Fatal(err)
			}
		}
		signIn()
		has("at once", "account.claimed", "account.made", "account.mapped")
		b.Clock.Move(db.ProviderGroupsLast - time.Second)
		has("before the end", "account.claimed", "account.made", "account.mapped")
		b.Clock.Move(time.Second)
		has("after it", "account.made")
		signIn()
		has("after the next sign-in", "account.claimed", "account.made", "account.mapped")
	})
}
