package db_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// fill puts something into every table.
func fill(t *testing.T, b *storetest.Bench) {
	t.Helper()
	ctx := t.Context()
	b.Tree(t)
	storetest.Must[bool](t)(b.CreateFirstAdmin(ctx, authn.User{User: api.User{Meta: api.Meta{Name: "admin", DisplayName: "Ü <&>\u2028\""}}, PasswordHash: "$argon2id$"}))
	storetest.Must[api.Group](t)(b.Groups.Create(ctx, api.Group{Meta: api.Meta{Name: "devs", Scope: "org.acme", Labels: map[string]string{"a": "b"}}, Members: []string{"admin"}}))
	storetest.Must[api.ServiceAccount](t)(b.ServiceAccounts.Create(ctx, api.ServiceAccount{Meta: api.Meta{Name: "ci", Scope: "org.acme"}}))
	storetest.Must[api.ResourceGroup](t)(b.ResourceGroups.Create(ctx, api.ResourceGroup{Meta: api.Meta{Name: "g"}, Selectors: []string{"a=b"}}))
	err := b.CreateToken(ctx, authn.Token{Hash: "h", Token: api.Token{ID: "t", Name: "n", Owner: api.Principal{Type: "user", ID: "admin"}}}, authn.Grounds{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CreateSession(ctx, authn.Session{Hash: "s", User: "admin"}, authn.Grounds{}); err != nil {
		t.Fatal(err)
	}
	a, epoch := b.Agent(t, "prod", "org.acme")
	storetest.Must[api.Mapping](t)(b.SetMapping(ctx, api.Mapping{Agent: a.ID, ArgoProject: "shop", Project: "acme.shop"}))
	var items []agentapi.Item
	for _, name := range strings.Fields(strings.Repeat("a b c d e f g h i j ", 30)) {
		items = append(items, storetest.App(name+"-"+string(rune('a'+len(items)%26))+"x"+strings.Repeat("y", len(items)/26), "shop"))
	}
	storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, items, b.Clock.Now()))
	err = b.AddCommand(ctx, gateway.Command{Command: agentapi.Command{
		ID: "c", Agent: a.UID, Kind: agentapi.KindSync, Issued: b.Clock.Now(), Deadline: b.Clock.Now(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	channel := storetest.Must[api.NotificationChannel](t)(b.NotificationChannels.Create(ctx, api.NotificationChannel{Meta: api.Meta{Name: "ops"}, Kind: "slack", Secret: "ops"}))
	storetest.Must[api.NotificationRule](t)(b.NotificationRules.Create(ctx, api.NotificationRule{Meta: api.Meta{Name: "r"}, Channel: channel.ID, Events: []string{api.NotifyHeld}}))
	b.Record(t, a, epoch, []string{"1"}, storetest.RecordOf("0a", 10, map[string]string{"a": "1", "b": "2"}))
	storetest.Must[api.Service](t)(b.Services.Create(ctx, api.Service{Meta: api.Meta{Name: "checkout", Scope: "org.acme"}}))
	storetest.Must[api.Environment](t)(b.Environments.Create(ctx, api.Environment{
		Meta: api.Meta{Name: "production", Scope: "org.acme"}, Clusters: []api.EnvironmentCluster{{Agent: a.ID, Cluster: "in-cluster"}},
	}))
	storetest.Must[api.ApplicationLinked](t)(b.SetLink(ctx, a.ID, "argocd", items[0].Name, api.ApplicationLink{Service: "org.acme.checkout"}))
	storetest.Must[api.View](t)(b.SaveView(ctx, api.Principal{}, api.View{Name: "bad", Filter: api.FleetFilter{Held: true}}))
	if err := b.AddJob(ctx, api.Job{ID: "j"}, "", []string{"org.acme.prod/argocd/a"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		storetest.Must[any](t)(b.AppendAudit(ctx, "", b.Entry("role.create", api.Ref{})))
	}
}

// lines are those of a backup, but for the first.
func lines(t *testing.T, backup []byte) []string {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(backup))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
}

func TestABackupIsRestoredIntoEitherDatabase(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		fill(t, b)
		var backup bytes.Buffer
		if err := b.Backup(ctx, &backup); err != nil {
			t.Fatal(err)
		}
		for name, url := range map[string]string{"SQLite": filepath.Join(t.TempDir(), "copy.db"), "PostgreSQL": testenv.Postgres(t)} {
			restored := storetest.Open(t, url, false)
			done, err := restored.Restore(ctx, bytes.NewReader(backup.Bytes()), db.RestoreOptions{})
			if err != nil {
				t.Fatalf("restore into %s: %v", name, err)
			}
			// It may have been deleted after the backup.
			if _, err := restored.AuthToken(ctx, "t"); api.CodeOf(err) != api.CodeNotFound || done.Tokens != 1 || done.At.IsZero() {
				t.Errorf("%s: a token of the backup counts again: %v, %+v", name, err, done)
			}
			if _, err := restored.Restore(ctx, bytes.NewReader(backup.Bytes()), db.RestoreOptions{}); err == nil {
				t.Errorf("%s: a backup is restored over what is there", name)
			}
			if n := restored.Verify(t); n != 3 {
				t.Errorf("%s: %d entries of the audit", name, n)
			}
			a := storetest.Must[api.Agent](t)(restored.Agents.Get(ctx, "org.acme.prod"))
			if a.Status.Epoch < 1_000_000 {
				t.Errorf("%s: epochs that were given go on at %d", name, a.Status.Epoch)
			}
			_, err = restored.Session(ctx, "s")
			storetest.Code(t, err, api.CodeNotFound)
			// It goes on where it was.
			storetest.Must[any](t)(restored.AppendAudit(ctx, "", restored.Entry("role.create", api.Ref{})))
			if n := restored.Verify(t); n != 4 {
				t.Errorf("%s: %d entries of the audit, want 4", name, n)
			}
			storetest.Must[api.Role](t)(restored.Roles.Create(ctx, api.Role{Meta: api.Meta{Name: "r", Scope: "org.acme"}}))
			if err := restored.AddCommand(ctx, gateway.Command{Command: agentapi.Command{ID: "d", Agent: a.UID}}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		// What is restored is what was there: its backup is the same.
		same := storetest.Open(t, filepath.Join(t.TempDir(), "same.db"), false)
		if _, err := same.Restore(ctx, bytes.NewReader(backup.Bytes()), db.RestoreOptions{KeepTokens: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := same.AuthToken(ctx, "t"); err != nil {
			t.Errorf("a token that was to be kept: %v", err)
		}
		var again bytes.Buffer
		if err := same.Backup(ctx, &again); err != nil {
			t.Fatal(err)
		}
		sorted := func(backup []byte) []string {
			all := lines(t, backup)
			for i, line := range all {
				all[i] = strings.Replace(line, ",1000001,", ",1,", 1)
			}
			slices.Sort(all)
			return all
		}
		if diff := cmp.Diff(sorted(backup.Bytes()), sorted(again.Bytes())); diff != "" {
			t.Errorf("backup of the restored (-want +got):\n%s", diff)
		}
	})
}

func TestABackupOfTheFirstSchemaIsRestored(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		var backup bytes.Buffer
		zipped := gzip.NewWriter(&backup)
		_, err := io.WriteString(zipped, `{"format":"slipway-backup","version":1,"schema":1}
{"table":"organization","columns":["id","name","scope","display_name","description","version","created_at","updated_at"]}
{"rows":0}
`)
		if err := errors.Join(err, zipped.Close()); err != nil {
			t.Fatal(err)
		}
		url := filepath.Join(t.TempDir(), "old.db")
		if b.IsPostgres() {
			url = testenv.Postgres(t)
		}
		old := storetest.Open(t, url, false)
		if _, err := old.Restore(t.Context(), &backup, db.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		if pending := storetest.Must[[]string](t)(old.Migrate(t.Context(), true)); len(pending) > 0 {
			t.Errorf("not migrated: %v", pending)
		}
	})
}

func TestABackupThatIsNotWholeIsRefused(t *testing.T) {
	t.Parallel()
	b := storetest.Open(t, filepath.Join(t.TempDir(), "a.db"), true)
	fill(t, b)
	var whole bytes.Buffer
	if err := b.Backup(t.Context(), &whole); err != nil {
		t.Fatal(err)
	}
	names := storetest.Must[[]string](t)(storetest.Open(t, filepath.Join(t.TempDir(), "new.db"), false).Migrate(t.Context(), true))
	newest, _, _ := strings.Cut(names[len(names)-1], "_") // numbers may be missing in between
	head := fmt.Sprintf(`{"format":"slipway-backup","version":1,"schema":%s}`, strings.TrimLeft(newest, "0"))
	body := lines(t, whole.Bytes())
	zip := func(text ...string) []byte {
		var out bytes.Buffer
		zipped := gzip.NewWriter(&out)
		_, _ = io.WriteString(zipped, strings.Join(text, "\n")+"\n")
		_ = zipped.Close()
		return out.Bytes()
	}
	row := slices.IndexFunc(body, func(line string) bool { return strings.HasPrefix(line, "[") })
	without := func(n int) []string { return slices.Delete(slices.Clone(body), n, n+1) }
	for name, backup := range map[string][]byte{
		"no file":             []byte("hello"),
		"cut":                 whole.Bytes()[:whole.Len()-40],
		"no end":              zip(append([]string{head}, body[:len(body)-1]...)...),
		"a row less":          zip(append([]string{head}, without(row)...)...),
		"no table":            zip(head, `["a"]`, `{"rows":1}`),
		"a foreign table":     zip(head, `{"table":"sqlite_master","columns":["a"]}`, `{"rows":0}`),
		"a column that is no": zip(head, `{"table":"role","columns":["id) VALUES (1); --"]}`, `["a"]`, `{"rows":1}`),
		"too many values":     zip(head, `{"table":"label","columns":["id"]}`, `["a","b"]`, `{"rows":1}`),
		"a value of no type":  zip(head, `{"table":"label","columns":["id"]}`, `[{}]`, `{"rows":1}`),
		"another format":      zip(`{"format":"slipway-backup","version":2,"schema":1}`, `{"rows":0}`),
		"a newer schema":      zip(`{"format":"slipway-backup","version":1,"schema":9999}`, `{"rows":0}`),
		"no schema":           zip(`{"format":"slipway-backup","version":1}`, `{"rows":0}`),
	} {
		empty := storetest.Open(t, filepath.Join(t.TempDir(), "b.db"), false)
		if _, err := empty.Restore(t.Context(), bytes.NewReader(backup), db.RestoreOptions{}); err == nil {
			t.Errorf("%s: it is restored", name)
		}
		// It can be tried again with a good one.
		if _, err := empty.Restore(t.Context(), bytes.NewReader(whole.Bytes()), db.RestoreOptions{}); err != nil {
			t.Errorf("%s: then a good one: %v", name, err)
		}
	}
}

// FuzzRestore checks that no file makes a restore do more than refuse.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"rows":0}`))
	f.Add([]byte("{\"table\":\"label\",\"columns\":[\"type\",\"id\",\"name\",\"value\"]}\n[\"role\",\"a\",\"b\",\"c\"]\n{\"rows\":1}"))
	f.Add([]byte("{\"table\":\"setting\",\"columns\":[\"id\"]}\n[null]\n[1.5]"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var backup bytes.Buffer
		zipped := gzip.NewWriter(&backup)
		_, _ = io.WriteString(zipped, `{"format":"slipway-backup","version":1,"schema":1}`+"\n")
		_, _ = zipped.Write(body)
		_ = zipped.Close()
		s := storetest.Open(t, filepath.Join(t.TempDir(), "fuzz.db"), false)
		_, _ = s.Restore(t.Context(), &backup, db.RestoreOptions{}) // it may refuse
	})
}

func TestABackupHoldsEveryTableThatLasts(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		var backup bytes.Buffer
		fill(t, b)
		if err := b.Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		saved := []string{
			"attempt", "event", "event_place", "goose_db_version", "idempotency", "job", "notification_delivery", "notification_place",
			"notification_seen", "pending", "server", "session",
		} // not, on purpose
		for _, line := range lines(t, backup.Bytes()) {
			var table struct {
				Table string `json:"table"`
			}
			if json.Unmarshal([]byte(line), &table) == nil && table.Table != "" {
				saved = append(saved, table.Table)
			}
		}
		query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
		if b.IsPostgres() {
			query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
		}
		rows, err := b.Direct(t).QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		var there []string
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				t.Fatal(err)
			}
			there = append(there, name)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(saved)
		slices.Sort(there)
		if diff := cmp.Diff(there, saved); diff != "" {
			t.Errorf("tables (-database +backup):\n%s", diff)
		}
	})
}

func TestADryRunOfMigrationsChangesNothing(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"PostgreSQL": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := storetest.Open(t, url(t), false)
			ctx := t.Context()
			would := storetest.Must[[]string](t)(b.Migrate(ctx, true))
			if again := storetest.Must[[]string](t)(b.Migrate(ctx, true)); len(would) == 0 || cmp.Diff(would, again) != "" {
				t.Errorf("would run %v, then %v", would, again)
			}
			if _, err := b.Organizations.Get(ctx, "acme"); err == nil || api.CodeOf(err) != api.CodeInternal {
				t.Errorf("without a schema: %v", err)
			}
			if err := b.Backup(ctx, io.Discard); err == nil {
				t.Error("a database without a schema is backed up")
			}
			if diff := cmp.Diff(would, storetest.Must[[]string](t)(b.Migrate(ctx, false))); diff != "" {
				t.Errorf("ran (-would +did):\n%s", diff)
			}
			for _, dry := range []bool{true, false} {
				if left := storetest.Must[[]string](t)(b.Migrate(ctx, dry)); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			}
			// A database of a newer program is left alone.
			if _, err := b.Direct(t).ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, "+map[bool]string{true: "true", false: "1"}[b.IsPostgres()]+")"); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Migrate(ctx, true); err == nil || !strings.Contains(err.Error(), "newer") {
				t.Errorf("a newer schema: %v", err)
			}
		})
	}
}

func TestTheFileOfTheDatabaseIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "with space & 100%.db")
	b := storetest.Open(t, "sqlite:"+path, true)
	fill(t, b)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", filepath.Base(name), info, err)
		}
	}
}

func TestWhatWasDroppedIsNotInTheFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "slipway.db")
	s, err := store.Open(ctx, db.Config{URL: path})
	if err != nil {
		t.Fatal(err)
	}
	b := &storetest.Bench{Store: s, Clock: storetest.ClockAt(time.Now()), URL: path}
	storetest.Must[[]string](t)(s.Migrate(ctx, false))
	a, _ := b.Agent(t, "prod", "account")
	body := `{"value":"` + strings.Repeat("needle", 2000) + `"}`
	err = s.AddCommand(ctx, gateway.Command{Command: agentapi.Command{
		ID: "c", Agent: a.UID, Kind: agentapi.KindObjectApply, Body: json.RawMessage(body), Deadline: time.Now(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Must[bool](t)(s.FinishCommand(ctx, a.UID, agentapi.Result{ID: "c", Status: agentapi.StatusDone}, false, time.Now()))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(left, []byte("needle")) {
		t.Error("the body of a command that is done is still in the file")
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("the log is left beside the file")
	}
}

func TestAnAddressThatIsNoneIsSaidWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "sqlite:", "mysql://root:hunter2@host/db", "postgres://u:hunter2@[bad/db", "postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=1"} {
		s, err := store.Open(t.Context(), db.Config{URL: url})
		if err == nil {
			_ = s.Close()
			t.Errorf("%q is opened", url)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is said: %v", err)
		}
	}
}
