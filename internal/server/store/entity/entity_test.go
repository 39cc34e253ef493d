package entity_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestAnEntityIsReadAsItWasMade(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		b.Tree(t)
		want := api.Role{
			Meta: api.Meta{
				ID: "org.acme.deployer", Name: "deployer", Scope: "org.acme", DisplayName: "Deployer Ü", Description: "it's \"quoted\"",
				Labels: map[string]string{"team": "shop", "empty": ""}, Version: 1, CreatedAt: b.Clock.Now(), UpdatedAt: b.Clock.Now(),
			},
			Permissions: []api.Permission{api.PermApplicationSync, api.PermApplicationView},
		}
		made, err := b.Roles.Create(t.Context(), api.Role{
			Meta: api.Meta{
				Name: "deployer", Scope: "org.acme", DisplayName: "Deployer Ü", Description: "it's \"quoted\"",
				Labels: map[string]string{"team": "shop", "empty": ""},
			},
			Permissions: want.Permissions,
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, made); diff != "" {
			t.Errorf("made (-want +got):\n%s", diff)
		}
		got := storetest.Must[api.Role](t)(b.Roles.Get(t.Context(), "org.acme.deployer"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
	})
}

func TestWhatExistsIsNotMadeTwice(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		b.Tree(t)
		_, err := b.Organizations.Create(t.Context(), api.Organization{Meta: api.Meta{Name: "acme"}})
		if !errors.Is(err, db.ErrExists) {
			t.Errorf("got %v, want ErrExists", err)
		}
		storetest.Code(t, err, api.CodeConflict)
	})
}

func TestNothingIsMadeAtAScopeThatIsNotThere(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		for _, scope := range []api.Scope{"org.none", "project.none.at-all", "nonsense"} {
			_, err := b.Roles.Create(t.Context(), api.Role{Meta: api.Meta{Name: "r", Scope: scope}})
			if !errors.Is(err, db.ErrNotFound) && !errors.Is(err, db.ErrInvalid) {
				t.Errorf("%s: got %v", scope, err)
			}
		}
		_, err := b.Projects.Create(t.Context(), api.Project{Meta: api.Meta{Name: "p"}, Organization: "none"})
		storetest.Code(t, err, api.CodeNotFound)
	})
}

func TestAnOrganizationAndAProjectAreAtTheirOwnScope(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		for i, scope := range []api.Scope{"", "account", "org.o-2"} {
			name := fmt.Sprintf("o-%d", i)
			o := storetest.Must[api.Organization](t)(b.Organizations.Create(ctx, api.Organization{Meta: api.Meta{Name: name, Scope: scope}}))
			if o.Scope != api.OrgScope(name) || o.ID != name {
				t.Errorf("organization of %q: %+v", scope, o.Meta)
			}
		}
		for i, scope := range []api.Scope{"", "account", "org.o-0", "project.o-0.p-3"} {
			name := fmt.Sprintf("p-%d", i)
			p := storetest.Must[api.Project](t)(b.Projects.Create(ctx, api.Project{Meta: api.Meta{Name: name, Scope: scope}, Organization: "o-0"}))
			if p.Scope != api.ProjectScope("o-0", name) || p.ID != "o-0."+name {
				t.Errorf("project of %q: %+v", scope, p.Meta)
			}
		}
		_, err := b.Organizations.Create(ctx, api.Organization{Meta: api.Meta{Name: "x", Scope: "org.o-0"}})
		storetest.Code(t, err, api.CodeInvalid)
		_, err = b.Projects.Create(ctx, api.Project{Meta: api.Meta{Name: "x", Scope: "org.o-1"}, Organization: "o-0"})
		storetest.Code(t, err, api.CodeInvalid)
		_, err = b.Projects.Create(ctx, api.Project{Meta: api.Meta{Name: "x"}})
		storetest.Code(t, err, api.CodeInvalid)
	})
}

func TestAnUpdateOfAnOldVersionIsRefused(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		b.Tree(t)
		ctx := t.Context()
		o := storetest.Must[api.Organization](t)(b.Organizations.Get(ctx, "acme"))
		b.Clock.Move(time.Second)
		o.DisplayName, o.Labels = "Acme", map[string]string{"tier": "one"}
		second := storetest.Must[api.Organization](t)(b.Organizations.Update(ctx, o))
		if second.Version != 2 || !second.UpdatedAt.Equal(b.Clock.Now()) || second.CreatedAt.Equal(second.UpdatedAt) {
			t.Errorf("updated to %+v", second.Meta)
		}
		_, err := b.Organizations.Update(ctx, o)
		if !errors.Is(err, db.ErrStale) {
			t.Errorf("got %v, want ErrStale", err)
		}
		storetest.Code(t, err, api.CodeConflict)
		storetest.Code(t, b.Organizations.Delete(ctx, "acme", api.DeleteOptions{Version: 1, Force: true}), api.CodeConflict)
		o.Version = 0 // whatever it is
		third := storetest.Must[api.Organization](t)(b.Organizations.Update(ctx, o))
		if third.Version != 3 {
			t.Errorf("version %d, want 3", third.Version)
		}
	})
}

func TestNameAndScopeNeverChange(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		b.Tree(t)
		p := storetest.Must[api.Project](t)(b.Projects.Get(t.Context(), "acme.shop"))
		p.Name, p.Scope, p.Organization = "other", "org.other", "other"
		got := storetest.Must[api.Project](t)(b.Projects.Update(t.Context(), p))
		if got.Name != "shop" || got.Scope != "project.acme.shop" || got.Organization != "acme" || got.ID != "acme.shop" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAListIsPagedInEveryOrder(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		for i := range 23 {
			b.Clock.Move(time.Second)
			storetest.Must[api.Organization](t)(b.Organizations.Create(ctx, api.Organization{Meta: api.Meta{
				Name: "org-" + strconv.Itoa(i), DisplayName: []string{"x", "y", "Z"}[i%3],
			}}))
		}
		id := func(o api.Organization) string { return o.ID }
		for _, sort := range []string{"", "id", "-id", "name", "-displayName", "displayName", "createdAt", "-updatedAt"} {
			whole := storetest.Must[api.Page[api.Organization]](t)(b.Organizations.List(ctx, storetest.All(api.TypeOrganization), api.ListOptions{Sort: sort}))
			if whole.Total != 23 || len(whole.Items) != 23 || whole.NextCursor != "" {
				t.Fatalf("sort %q: %d of %d items, next %q", sort, len(whole.Items), whole.Total, whole.NextCursor)
			}
			var byCursor, byPage []string
			cursor := ""
			for page := 1; ; page++ {
				part := storetest.Must[api.Page[api.Organization]](t)(b.Organizations.List(ctx, storetest.All(api.TypeOrganization), api.ListOptions{Sort: sort, Limit: 5, Cursor: cursor}))
				byCursor = append(byCursor, storetest.IDs(part, id)...)
				other := storetest.Must[api.Page[api.Organization]](t)(b.Organizations.List(ctx, storetest.All(api.TypeOrganization), api.ListOptions{Sort: sort, Limit: 5, Page: page}))
				byPage = append(byPage, storetest.IDs(other, id)...)
				if cursor = part.NextCursor; cursor == "" {
					break
				}
			}
			if diff := cmp.Diff(storetest.IDs(whole, id), byCursor); diff != "" {
				t.Errorf("sort %q by cursor (-want +got):\n%s", sort, diff)
			}
			if diff := cmp.Diff(storetest.IDs(whole, id), byPage); diff != "" {
				t.Errorf("sort %q by page (-want +got):\n%s", sort, diff)
			}
		}
		// A cursor that somebody made up: text for a time, a number for a name.
		text := base64.RawURLEncoding.EncodeToString([]byte(`{"s":"createdAt","v":"x","i":"a"}`))
		number := base64.RawURLEncoding.EncodeToString([]byte(`{"s":"name","v":1,"i":"a"}`))
		for _, bad := range []api.ListOptions{
			{Sort: "password"},
			{Cursor: "!"},
			{Cursor: "e30"},
			{Page: 1 << 40},
			{Sort: "createdAt", Cursor: text},
			{Sort: "name", Cursor: number},
			{Sort: "-name", Cursor: number},
		} {
			_, err := b.Organizations.List(ctx, storetest.All(api.TypeOrganization), bad)
			storetest.Code(t, err, api.CodeInvalid)
		}
	})
}

func TestAListIsNarrowedByScopeLabelsAndText(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		b.Tree(t)
		ctx := t.Context()
		for scope, labels := range map[api.Scope]map[string]string{
			"account": {"team": "a"}, "org.acme": {"team": "b", "tier": ""}, "org.other": nil, "project.acme.shop": {"team": "a", "tier": "1"},
		} {
			storetest.Must[api.Group](t)(b.Groups.Create(ctx, api.Group{Meta: api.Meta{Name: "devs", Scope: scope, Labels: labels, Description: "100% " + string(scope)}}))
		}
		tests := []struct {
			name    string
			options api.ListOptions
			want    []string
		}{
			{"account", api.ListOptions{Scope: "account"}, []string{"account.devs", "org.acme.devs", "org.other.devs", "project.acme.shop.devs"}},
			{"organization", api.ListOptions{Scope: "org.acme"}, []string{"org.acme.devs", "project.acme.shop.devs"}},
			{"project", api.ListOptions{Scope: "project.acme.shop"}, []string{"project.acme.shop.devs"}},
			{"label", api.ListOptions{Labels: map[string]string{"team": "a"}}, []string{"account.devs", "project.acme.shop.devs"}},
			{"label that exists", api.ListOptions{Labels: map[string]string{"tier": ""}}, []string{"org.acme.devs", "project.acme.shop.devs"}},
			{"two labels", api.ListOptions{Labels: map[string]string{"tier": "1", "team": "a"}}, []string{"project.acme.shop.devs"}},
			{"text", api.ListOptions{Search: "100% ORG."}, []string{"org.acme.devs", "org.other.devs"}},
			{"words in any order", api.ListOptions{Search: "org. 100%"}, []string{"org.acme.devs", "org.other.devs"}},
			{"a word that it has not", api.ListOptions{Search: "org. nothing"}, []string{}},
			{"a sign of patterns is a text", api.ListOptions{Search: "100_"}, []string{}},
		}
		for _, test := range tests {
			page := storetest.Must[api.Page[api.Group]](t)(b.Groups.List(ctx, storetest.All(api.TypeGroup), test.options))
			if diff := cmp.Diff(test.want, storetest.IDs(page, func(g api.Group) string { return g.ID })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
	})
}

func TestWhatIsReferredToIsDeletedByForceOnly(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		b.Tree(t)
		ctx := t.Context()
		storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: "ada"}}))
		storetest.Must[api.Group](t)(b.Groups.Create(ctx, api.Group{Meta: api.Meta{Name: "devs", Scope: "org.acme"}, Members: []string{"ada"}}))
		storetest.Must[api.Role](t)(b.Roles.Create(ctx, api.Role{Meta: api.Meta{Name: "r", Scope: "org.acme"}}))
		storetest.Must[api.ResourceGroup](t)(b.ResourceGroups.Create(ctx, api.ResourceGroup{Meta: api.Meta{Name: "g", Scope: "org.acme"}, All: true}))
		storetest.Must[api.Binding](t)(b.Bindings.Create(ctx, api.Binding{
			Meta: api.Meta{Name: "one", Scope: "project.acme.shop"}, Role: "org.acme.r", ResourceGroup: "org.acme.g",
			Principal: api.Principal{Type: "group", ID: "org.acme.devs"},
		}))
		storetest.Must[api.Binding](t)(b.Bindings.Create(ctx, api.Binding{
			Meta: api.Meta{Name: "two"}, Role: api.RoleViewer, Principal: api.Principal{Type: "user", ID: "ada"},
		}))
		refused := map[string]error{
			"user":           b.Users.Delete(ctx, "ada", api.DeleteOptions{}),
			"group":          b.Groups.Delete(ctx, "org.acme.devs", api.DeleteOptions{}),
			"role":           b.Roles.Delete(ctx, "org.acme.r", api.DeleteOptions{}),
			"resource group": b.ResourceGroups.Delete(ctx, "org.acme.g", api.DeleteOptions{}),
			"project":        b.Projects.Delete(ctx, "acme.shop", api.DeleteOptions{}),
			"organization":   b.Organizations.Delete(ctx, "acme", api.DeleteOptions{}),
		}
		for name, err := range refused {
			var said *api.Error
			if !errors.Is(err, db.ErrReferenced) || !errors.As(err, &said) || len(said.References) == 0 {
				t.Errorf("%s: got %v, want ErrReferenced with references", name, err)
			}
		}
		if err := b.Roles.Delete(ctx, "org.acme.r", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		_, err := b.Bindings.Get(ctx, "project.acme.shop.one")
		storetest.Code(t, err, api.CodeNotFound)
		if err := b.Organizations.Delete(ctx, "acme", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		_, err = b.Groups.Get(ctx, "org.acme.devs")
		storetest.Code(t, err, api.CodeNotFound)
		_, err = b.Projects.Get(ctx, "acme.web")
		storetest.Code(t, err, api.CodeNotFound)
		if u := storetest.Must[api.User](t)(b.Users.Get(ctx, "ada")); len(u.Groups) > 0 {
			t.Errorf("ada is still in %v", u.Groups)
		}
		if err := b.Users.Delete(ctx, "ada", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		page := storetest.Must[api.Page[api.Binding]](t)(b.Bindings.List(ctx, storetest.All(api.TypeBinding), api.ListOptions{}))
		if page.Total != 0 {
			t.Errorf("bindings are left: %+v", page.Items)
		}
		storetest.Code(t, b.Organizations.Delete(ctx, "acme", api.DeleteOptions{}), api.CodeNotFound)
	})
}

func TestABindingNamesWhatIsThere(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: "ada"}}))
		ada := api.Principal{Type: "user", ID: "ada"}
		for _, bad := range []api.Binding{
			{Principal: api.Principal{Type: "user", ID: "nobody"}, Role: api.RoleViewer},
			{Principal: api.Principal{Type: "agent", ID: "ada"}, Role: api.RoleViewer},
			{Principal: ada, Role: "account.none"},
			{Principal: ada, Role: api.RoleViewer, ResourceGroup: "account.none"},
		} {
			bad.Name = "b"
			_, err := b.Bindings.Create(ctx, bad)
			storetest.Code(t, err, api.CodeInvalid)
		}
		made := storetest.Must[api.Binding](t)(b.Bindings.Create(ctx, api.Binding{Meta: api.Meta{Name: "b"}, Principal: ada, Role: api.RoleViewer}))
		if made.ResourceGroup != api.AllResources {
			t.Errorf("resource group %q", made.ResourceGroup)
		}
	})
}

func TestWhatComesWithTheServerIsListedAndStays(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		page := storetest.Must[api.Page[api.Role]](t)(b.Roles.List(ctx, storetest.All(api.TypeRole), api.ListOptions{}))
		want := []string{api.RoleAdmin, api.RoleAuditor, api.RoleDeveloper, api.RoleOperator, api.RoleViewer}
		if diff := cmp.Diff(want, storetest.IDs(page, func(r api.Role) string { return r.ID })); diff != "" {
			t.Errorf("roles (-want +got):\n%s", diff)
		}
		viewer := page.Items[4]
		viewer.Permissions = []api.Permission{"*"}
		_, err := b.Roles.Update(ctx, viewer)
		storetest.Code(t, err, api.CodeInvalid)
		storetest.Code(t, b.Roles.Delete(ctx, api.RoleViewer, api.DeleteOptions{Force: true}), api.CodeInvalid)
		storetest.Code(t, b.ResourceGroups.Delete(ctx, api.AllResources, api.DeleteOptions{Force: true}), api.CodeInvalid)
		roles, groups, bindings, err := b.Grants(ctx)
		if err != nil || len(roles)+len(groups)+len(bindings) > 0 {
			t.Errorf("grants of an empty store: %v %v %v %v", roles, groups, bindings, err)
		}
	})
}

func TestMembersOfAGroupAreGroupsOfAUser(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		for _, name := range []string{"ada", "bob", "cy"} {
			storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: name}}))
		}
		g := storetest.Must[api.Group](t)(b.Groups.Create(ctx, api.Group{Meta: api.Meta{Name: "devs"}, Members: []string{"bob", "ada", "bob"}}))
		if diff := cmp.Diff([]string{"ada", "bob"}, g.Members); diff != "" {
			t.Errorf("members (-want +got):\n%s", diff)
		}
		g.Members = []string{"cy", "bob"}
		storetest.Must[api.Group](t)(b.Groups.Update(ctx, g))
		users := storetest.Must[api.Page[api.User]](t)(b.Users.List(ctx, storetest.All(api.TypeUser), api.ListOptions{}))
		for _, u := range users.Items {
			if want := u.Name != "ada"; slices.Contains(u.Groups, "account.devs") != want {
				t.Errorf("%s is in %v", u.Name, u.Groups)
			}
		}
		g.Version, g.Members = 0, []string{"nobody"}
		_, err := b.Groups.Update(ctx, g)
		storetest.Code(t, err, api.CodeInvalid)
	})
}

func TestAPolicyIsMadeAnewOnlyWhenRightsChange(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		version := func() int64 { return storetest.Must[int64](t)(b.GrantsVersion(ctx)) }
		start := version()
		storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: "ada"}}))
		if version() != start {
			t.Error("a user alone changes no rights")
		}
		storetest.Must[api.Binding](t)(b.Bindings.Create(ctx, api.Binding{
			Meta: api.Meta{Name: "b"}, Principal: api.Principal{Type: "user", ID: "ada"}, Role: api.RoleViewer,
		}))
		made := version()
		if made == start {
			t.Error("a binding changes rights")
		}
		if err := b.Users.Delete(ctx, "ada", api.DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if version() == made {
			t.Error("a binding that goes with its user changes rights")
		}
	})
}

func TestWhatIsMadeAndDeletedAtATimeLeavesNoLooseEnds(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		b.Tree(t)
		storetest.Must[api.User](t)(b.Users.Create(ctx, api.User{Meta: api.Meta{Name: "ada"}}))
		expected := func(err error) {
			if code := api.CodeOf(err); err != nil && code == api.CodeInternal {
				t.Errorf("got %v", err)
			}
		}
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				for i := range 8 {
					_, err := b.Roles.Create(ctx, api.Role{Meta: api.Meta{Name: "r", Scope: "org.acme"}})
					expected(err)
					_, err = b.Bindings.Create(ctx, api.Binding{
						Meta: api.Meta{Name: fmt.Sprintf("b-%d-%d", worker, i), Scope: "project.acme.shop"},
						Role: "org.acme.r", Principal: api.Principal{Type: "user", ID: "ada"},
					})
					expected(err)
					if worker%2 == 0 {
						expected(b.Roles.Delete(ctx, "org.acme.r", api.DeleteOptions{Force: true}))
					} else if i == 4 {
						expected(b.Projects.Delete(ctx, "acme.shop", api.DeleteOptions{Force: true}))
					}
				}
			})
		}
		wg.Wait()
		roles, _, bindings, err := b.Grants(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(roles) == 0 && len(bindings) > 0 {
			t.Errorf("bindings of a role that is gone: %v", bindings)
		}
		if _, err := b.Projects.Get(ctx, "acme.shop"); err == nil || len(bindings) > 0 {
			t.Errorf("the project is there (%v), or bindings at it are: %v", err, bindings)
		}
	})
}
