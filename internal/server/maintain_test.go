package server

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tool runs a subcommand of the server.
func tool(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := Command("1.2.3")
	var out, talk bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&talk)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return strings.TrimSpace(out.String()), err
}

func TestABackupBringsBackAllThatWasKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	data, file := w.server.cfg.Data, filepath.Join(t.TempDir(), "slipway.backup")
	if out, err := tool(t, "backup", "--data", data, file); err != nil || !strings.Contains(out, file) {
		t.Fatalf("%s %v", out, err)
	}
	for _, name := range []string{file, file + ".key"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if _, err := tool(t, "backup", "--data", data, file); err == nil {
		t.Error("a backup was written over another")
	}
	fresh := t.TempDir()
	if out, err := tool(t, "restore", "--data", fresh, file); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	restored := &world{t: t, server: newServer(t, func(c *Config) { c.Data, c.AdminPassword = fresh, "" })}
	admin := restored.signIn("admin")
	for _, path := range []string{"roles/org.acme.deployer", "agents/account.prod", "agents/account.prod/applications/argocd/thing"} {
		if code, answer := restored.do(admin, http.MethodGet, "/api/v1/"+path, ""); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, answer)
		}
	}
	if code, answer := restored.do(admin, http.MethodGet, "/api/v1/audit/verification", ""); code != http.StatusOK || !strings.Contains(answer, `"ok":true`) {
		t.Errorf("the audit: %d %s", code, answer)
	}
	if !bytes.Equal(restored.server.gateway.ServerKey(), w.server.gateway.ServerKey()) {
		t.Error("the server has another key: no agent would obey it")
	}
}

func TestAForgottenPasswordIsResetOnTheMachineOfTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	word, err := tool(t, "reset-password", "--data", w.server.cfg.Data, "admin")
	if err != nil || len(word) < 12 {
		t.Fatalf("%q %v", word, err)
	}
	if code, _ := w.do("", http.MethodPost, "/api/v1/session", `{"username":"admin","password":"`+password+`"}`); code != http.StatusUnauthorized {
		t.Errorf("the old password: %d", code)
	}
	if code, answer := w.do("", http.MethodPost, "/api/v1/session", `{"username":"admin","password":"`+word+`"}`); code != http.StatusOK || !strings.Contains(answer, `"mustChangePassword":true`) {
		t.Errorf("the new one: %d %s", code, answer)
	}
	if _, err := tool(t, "reset-password", "--data", w.server.cfg.Data, "nobody"); err == nil {
		t.Error("a user that is not there got a password")
	}
}

func TestMigrationsAreToldBeforeTheyAreMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told, err := tool(t, "migrate", "--dry-run", "--data", dir)
	if err != nil || told == "" {
		t.Fatalf("%q %v", told, err)
	}
	if made, err := tool(t, "migrate", "--data", dir); err != nil || made != told {
		t.Errorf("told %q and made %q: %v", told, made, err)
	}
	if again, err := tool(t, "migrate", "--data", dir); err != nil || again != "" {
		t.Errorf("again: %q %v", again, err)
	}
}

func TestTheFirstPasswordIsSaidOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, want := range []bool{true, false} {
		var said bytes.Buffer
		s, err := New(t.Context(), Config{Listen: "127.0.0.1:0", Data: dir, Say: &said, Limits: plenty()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(said.String(), "password") != want {
			t.Errorf("start %d: %q", i+1, said.String())
		}
	}
}
