package mirror_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // to look at the plans of queries

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

// long makes everything that an index holds as long as an agent may tell it.
func long(name string, repos ...string) agentapi.Item {
	item := storetest.App(name, strings.Repeat("p", 2000), func(r map[string]any) {
		status := r["status"].(map[string]any)
		status["sync"] = map[string]any{"status": strings.Repeat("ü", 2000)}
		status["health"] = map[string]any{"status": strings.Repeat("h", 2000)}
		spec := r["spec"].(map[string]any)
		spec["destination"] = map[string]any{"name": strings.Repeat("d", 2000)}
		var sources []any
		for _, repo := range repos {
			sources = append(sources, map[string]any{"repoURL": repo})
		}
		delete(spec, "source")
		spec["sources"] = sources
	})
	item.Namespace = strings.Repeat("n", 253)
	return item
}

func TestWhatIsVeryLongIsKeptListedAndFoundByItsRepository(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		a, epoch := b.Agent(t, "prod", "account")
		var repos []string
		for i := range 30 {
			repos = append(repos, fmt.Sprintf("https://git.example.org/%d/%s.git", i, strings.Repeat("r", 100)))
		}
		first, last := long(strings.Repeat("a", 253), repos...), storetest.App("short", "default")
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(t.Context(), a.UID, epoch, 1, []agentapi.Item{first, last}, b.Clock.Now()))
		for _, test := range []struct {
			name   string
			filter api.ApplicationFilter
			want   []string
		}{
			{"all", api.ApplicationFilter{}, []string{first.Name, last.Name}},
			{"its name", api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Search: "AAAA"}}}, []string{first.Name}},
			{"words in any order", api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Search: "git.example  PROD aaa"}}}, []string{first.Name}},
			{"a word that it has not", api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Search: "aaa short"}}}, []string{}},
			{"a repository that comes late", api.ApplicationFilter{RepoURL: repos[25]}, []string{first.Name}},
			{"the repository of a short one", api.ApplicationFilter{RepoURL: "https://git.example.org/short"}, []string{"short"}},
			{"the beginning of a repository", api.ApplicationFilter{RepoURL: "https://git.example.org/sho"}, []string{}},
			{"a search for signs of patterns", api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Search: "sh%t"}}}, []string{}},
		} {
			test.filter.Sort = "name"
			page := storetest.Must[api.Page[api.Application]](t)(b.ListApplications(t.Context(), storetest.All(api.TypeApplication), test.filter))
			if diff := cmp.Diff(test.want, storetest.IDs(page, func(a api.Application) string { return a.Name })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
	})
}

// What is asked of a table of 50,000 rows is asked of an index: no more rows are read than are wanted.
func TestItemsAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	b := storetest.Open(t, t.TempDir()+"/slipway.db", true)
	db, err := sql.Open("sqlite", b.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, test := range []struct{ name, query, want string }{
		{"those of a page", "message FROM item WHERE kind = 'a' AND id IN ('x', 'y')", "item_by_id (kind=? AND id=?)"},
		{"those that changed", "message FROM item WHERE kind = 'application' AND agent = 'x' AND edition > 7", "item_changed (agent=? AND edition>?)"},
		{"another kind, by id", "message FROM item WHERE kind = 'a' ORDER BY id", "item_by_id (kind=?)"},
		{"another kind, of an agent", "message FROM item WHERE kind = 'a' AND agent_id = 'x' ORDER BY id", "item_agent (agent_id=? AND kind=?)"},
		{"total of another kind", "COUNT(*) FROM item WHERE kind = 'a'", "COVERING INDEX"},
	} {
		if plan := planOf(t, db, test.query); !strings.Contains(plan, test.want) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s are read by %q, not by %s", test.name, plan, test.want)
		}
	}
}

// planOf returns how a query of which SELECT is left out is carried out.
func planOf(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN SELECT "+query+" LIMIT 100")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "; ")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

func TestASearchFindsWhatIsWrittenInOtherLetters(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		storetest.Must[api.Organization](t)(b.Organizations.Create(t.Context(), api.Organization{Meta: api.Meta{Name: "acme", DisplayName: "Österreich WIEN"}}))
		for search, want := range map[string][]string{
			"Österreich": {"acme"}, "wien": {"acme"}, "ÖSTERREICH": {"acme"}, "Ostende": {},
		} {
			page := storetest.Must[api.Page[api.Organization]](t)(b.Organizations.List(t.Context(), storetest.All(api.TypeOrganization), api.ListOptions{Search: search}))
			if diff := cmp.Diff(want, storetest.IDs(page, func(o api.Organization) string { return o.Name })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", search, diff)
			}
		}
	})
}
