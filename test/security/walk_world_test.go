package security

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	_ "modernc.org/sqlite" // the server's database is looked at

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server"
)

// The words of two tenants. The first are those of the examples in the description, so that a request about the other
// tenant is the same request with other words.
const (
	ourOrg, ourProject     = "acme", "shop"
	theirOrg, theirProject = "rival", "vault"
	// planted is in what only the other tenant may read, and in no request.
	planted = "planted-by-the-rival"
	// walker begins the name of everybody who asks here.
	walker = "walker-"
)

// theirs says a text about our tenant in the words of the other.
func theirs(text string) string {
	return strings.NewReplacer(ourOrg, theirOrg, ourProject, theirProject).Replace(text)
}

// stage is a server with two tenants that share an agent, and everything that there can be of each.
type stage struct {
	*world
	handler http.Handler
	agent   *liar
	// ids are what {id} stands for, by the noun of a path.
	ids map[string]string
	db  *sql.DB

	outdated atomic.Bool // the agent is older than the steps of a connection test

	mu       sync.Mutex
	commands []agentapi.Command
}

// quiet logs what a person would look at, and not each request.
type quiet struct{ slog.Handler }

// Enabled leaves out what is for finding faults.
func (quiet) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func newStage(t *testing.T) *stage {
	t.Helper()
	w, s := start(t, password, func(c *server.Config) { c.Log = slog.New(quiet{c.Log.Handler()}) })
	g := &stage{world: w, handler: s.Handler()}
	g.furnish()
	var err error
	if g.db, err = sql.Open("sqlite", "file:"+filepath.Join(w.data, "slipway.db")+"?_query_only=on&_pragma=busy_timeout(10000)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.db.Close() })
	return g
}

// furnish makes something of every noun for both tenants.
func (g *stage) furnish() {
	g.agent = g.liar("account.prod")
	g.answerCommands()
	g.beat()
	made := []struct{ path, body string }{
		{"users", `{"name":"ada","password":"` + password + ` two"}`},
		{"organizations", `{"name":"acme","description":"MARK"}`},
		{"projects", `{"name":"shop","organization":"acme","description":"MARK"}`},
		{"groups", `{"name":"developers","scope":"org.acme","description":"MARK"}`},
		{"service-accounts", `{"name":"ci","scope":"org.acme","description":"MARK"}`},
		{"roles", `{"name":"deployer","scope":"org.acme","permissions":["application_sync"],"description":"MARK"}`},
		{"resource-groups", `{"name":"shop-apps","scope":"org.acme","types":["application"],"selectors":["team=shop"],"description":"MARK"}`},
		{"bindings", `{"name":"developers","scope":"org.acme","principal":{"type":"group","id":"org.acme.developers"},"role":"account.developer","description":"MARK"}`},
		{"services", `{"name":"checkout","scope":"org.acme","description":"MARK"}`},
		{"environments", `{"name":"production","scope":"org.acme","type":"Production","description":"MARK"}`},
		{"notification-channels", `{"name":"ops","scope":"org.acme","kind":"webhook","secret":"ops","url":"https://hooks.example.org/MARK"}`},
		{"notification-rules", `{"name":"failures","scope":"org.acme","events":["degraded"],"channel":"org.acme.ops","description":"MARK"}`},
	}
	for _, m := range made {
		for i, body := range []string{strings.ReplaceAll(m.body, "MARK", "ours"), strings.ReplaceAll(theirs(m.body), "MARK", planted)} {
			if m.path != "users" || i == 0 {
				g.must(g.admin, "POST", "/"+m.path, body)
			}
		}
	}
	for _, m := range []string{"shop", "vault"} {
		org := map[string]string{"shop": "acme", "vault": "rival"}[m]
		g.must(g.admin, "PUT", "/agents/account.prod/mappings/"+m, fmt.Sprintf(`{"argoProject":%q,"project":%q}`, m, org+"."+m))
	}
	var items []agentapi.Item
	for _, project := range []string{ourProject, theirProject} {
		mark := map[string]string{ourProject: "ours", theirProject: planted}[project]
		resource := func(kind, name, spec string) string {
			return fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":%q,"metadata":{"name":%q,"namespace":"argocd","resourceVersion":"7","annotations":{"note":%q}},"spec":%s}`, kind, name, mark, spec)
		}
		add := func(kind agentapi.ItemKind, name, body string) {
			items = append(items, agentapi.Item{Key: agentapi.Key{Kind: kind, Namespace: "argocd", Name: name}, Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body)})
		}
		add(agentapi.ItemApplication, project, resource("Application", project, `{"project":"`+project+`","source":{"repoURL":"https://git.example.org/`+mark+`.git","path":"deploy"},"destination":{"server":"https://edge.example.org:6443","namespace":"`+project+`"}}`))
		add(agentapi.ItemApplicationSet, project+"s", resource("ApplicationSet", project+"s", `{"template":{"spec":{"project":"`+project+`"}}}`))
		add(agentapi.ItemArgoProject, project, resource("AppProject", project, `{"description":"`+mark+`"}`))
		fields := `{"fields":{"project":"` + project + `","url":"https://git.example.org/` + mark + `.git"}}`
		add(agentapi.ItemRepository, project, fields)
		add(agentapi.ItemRepoCreds, project, fields)
		add(agentapi.ItemCluster, project, `{"fields":{"project":"`+project+`","server":"https://`+mark+`.example.org:6443","name":"`+project+`"}}`)
		pods := `{"ready":1,"total":1,"instances":[{"namespace":"` + project + `","pod":"` + mark + `-0","ready":true}]}`
		add(agentapi.ItemInstances, project, pods)
	}
	if ack := g.agent.batch(items, nil); ack.Error != nil {
		g.t.Fatalf("the items are not taken: %v", ack.Error)
	}
	g.ids = map[string]string{
		"users": "ada", "groups": "org.acme.developers", "service-accounts": "org.acme.ci", "organizations": "acme", "projects": "acme.shop",
		"roles": "org.acme.deployer", "resource-groups": "org.acme.shop-apps", "bindings": "org.acme.developers", "agents": "account.prod",
		"services": "org.acme.checkout", "environments": "org.acme.production",
		"notification-channels": "org.acme.ops", "notification-rules": "org.acme.failures",
	}
}

// answerCommands has the agent answer each command, and keep it.
func (g *stage) answerCommands() {
	l := g.agent
	if _, err := l.conn.Subscribe(agentapi.DownCommand(l.uid), func(m *nats.Msg) {
		var c agentapi.Command
		if agentapi.Open(l.server, agentapi.PurposeCommand, l.uid, m.Data, &c) != nil {
			return
		}
		g.mu.Lock()
		g.commands = append(g.commands, c)
		g.mu.Unlock()
		done := agentapi.Result{ID: c.ID, Status: agentapi.StatusDone, Finished: time.Now(), Body: json.RawMessage(`{}`)}
		if c.Kind == agentapi.KindSettingsTest {
			done.Body = json.RawMessage(`{"ok":true}`)
			if g.outdated.Load() && strings.Contains(string(c.Body), `"steps"`) {
				done.Status, done.Code, done.Body = agentapi.StatusFailed, agentapi.CodeUnsupported, nil
			}
		}
		switch c.Kind.Nature() {
		case agentapi.Changes:
			if raw, err := json.Marshal(agentapi.ResultReport{Epoch: l.epoch, Result: done}); err == nil {
				_ = l.conn.PublishRequest(agentapi.UpResult(l.uid), agentapi.InboxPrefix(l.uid)+".none", raw)
			}
		case agentapi.Reads:
			parts, _ := agentapi.Split(l.epoch, done)
			for _, part := range parts {
				if raw, err := json.Marshal(part); err == nil {
					_ = l.conn.Publish(agentapi.UpReply(l.uid, c.ID), raw)
				}
			}
		case agentapi.Streams:
			if raw, err := json.Marshal(agentapi.Chunk{Stream: c.Stream, End: true}); err == nil {
				_ = l.conn.Publish(agentapi.UpStream(l.uid, c.Stream), raw)
			}
		case agentapi.Unknown:
		}
	}); err != nil {
		g.t.Fatal(err)
	}
}

// arrived gives the commands that the agent got since it was asked last.
func (g *stage) arrived() []agentapi.Command {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.commands
	g.commands = nil
	return out
}

// beat keeps the agent connected for as long as the walk takes.
func (g *stage) beat() {
	data, err := json.Marshal(agentapi.Heartbeat{Epoch: g.agent.epoch, Versions: agentapi.Versions{Agent: "1"}})
	if err != nil {
		g.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(g.t.Context()))
	var beats sync.WaitGroup
	beats.Go(func() {
		ticker := time.NewTicker(agentapi.HeartbeatInterval / 2)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_, _ = g.agent.conn.RequestWithContext(ctx, agentapi.UpHeartbeat(g.agent.uid), data) // without it the walk finds out
			}
		}
	})
	g.t.Cleanup(func() { cancel(); beats.Wait() })
}

// passing are the tables that are not compared, each for a reason.
func passing() map[string]string {
	return map[string]string{
		"audit":       "each request is compared with its entries",
		"audit_place": "the head of the audit, which each entry moves",
		"command":     "each command arrives at the agent here, and is judged there",
		"command_id":  "the ids of these commands",
		"idempotency": "answers by caller and key: a request without rights may leave a key of its own",
		"attempt":     "failed sign-ins, which anybody may cause in any name",
		"event":       "tells of changes, which are compared where they are",
	}
}

// volatile are columns that are not compared, each for a reason.
func volatile() map[string]map[string]string {
	return map[string]map[string]string{
		"session": {"seen_at": "written when a session is used"},
		"token":   {"last_used_at": "written when a token is used"},
		"server":  {"seen_at": "written by the server with the time"},
		"job":     {"holder": "work in the background goes from run to run", "held_until": "the same", "due_at": "the same"},
		"agent":   {"heartbeat_at": "written with each heartbeat", "lag": "the same", "pending": "the same", "seq": "written with each batch of the agent"},
	}
}

// others is everything that is kept and is neither ours nor of those who ask: what no request here may change.
func (g *stage) others() map[string]bool {
	g.t.Helper()
	out := map[string]bool{}
	tables := g.rows("", "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
	for name := range passing() {
		if !slices.Contains(tables, name) {
			g.t.Fatalf("there is no table %s any more: it needs no reason not to be compared", name)
		}
	}
	for _, table := range tables {
		if passing()[table] != "" || strings.HasPrefix(table, "sqlite_") {
			continue
		}
		for _, row := range g.rows(table, "SELECT * FROM "+table) {
			if !ours(row) && !counts(row) {
				out[table+": "+row] = true
			}
		}
	}
	return out
}

// ours is true for a row about our tenant, its application, or somebody who asks here.
func ours(row string) bool {
	return strings.Contains(row, ourOrg) || strings.Contains(row, walker) || strings.Contains(row, "|account.prod/argocd/"+ourProject+"|")
}

// counts is true for a row that only counts how often something was written.
func counts(row string) bool {
	return strings.HasPrefix(row, "commands|") || strings.HasPrefix(row, "policy|")
}

// rows are those of a query, without the volatile columns of a table.
func (g *stage) rows(table, query string) []string {
	g.t.Helper()
	rows, err := g.db.QueryContext(g.t.Context(), query)
	if err != nil {
		g.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		g.t.Fatal(err)
	}
	masked := volatile()[table]
	for name := range masked {
		if !slices.Contains(columns, name) {
			g.t.Fatalf("%s has no column %s any more: it needs no reason not to be compared", table, name)
		}
	}
	var out []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.NullString)
		}
		if err := rows.Scan(values...); err != nil {
			g.t.Fatal(err)
		}
		var texts []string
		for i, v := range values {
			if text, _ := v.(*sql.NullString); masked[columns[i]] == "" {
				texts = append(texts, text.String)
			}
		}
		out = append(out, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		g.t.Fatal(err)
	}
	return out
}

// serve answers a request in this process, without a connection; it ends what streams.
func (g *stage) serve(r *http.Request) *httptest.ResponseRecorder {
	out := httptest.NewRecorder()
	out.Body = &bytes.Buffer{}
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	g.handler.ServeHTTP(out, r.WithContext(ctx))
	return out
}

// actor is somebody who asks.
type actor struct {
	name string
	// token or cookie prove who it is; headers are sent with everything.
	token   string
	cookie  *http.Cookie
	headers http.Header
	// principal is who the server takes it for, as type:id; "" for nobody.
	principal string
	// grants are the permissions that it has, and scope is where.
	grants []api.Permission
	scope  api.Scope
	// code is what it is answered, whatever it asks; 0 where that depends.
	code int
	// unsettled is true for who has to choose a password first, foreign for a page of another origin: it may change nothing.
	unsettled, foreign bool
	// thorough is true for who asks with every variant of the fields that say whose something is, also where others only try some.
	thorough bool
}

// everywhere is true for who may see both tenants.
func (a *actor) everywhere() bool { return a.scope == api.ScopeAccount }

func (a *actor) may(p api.Permission, at api.Scope) bool {
	return slices.Contains(a.grants, p) && (a.scope.Contains(at) || at == anywhere)
}
