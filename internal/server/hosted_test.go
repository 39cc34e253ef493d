package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/hosting"
)

func TestAHostedAgentIsMadeByWhoMayUseItsCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"edge.kubeconfig": "x", "shop.kubeconfig": "x", "shop.yaml": "scopes: [org.acme]\nnamespace: shop-agent", "agent": "#!/bin/sh\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t: t, server: newServer(t, func(c *Config) {
		c.Hosted = hosting.Options{Dir: dir, Program: filepath.Join(dir, "agent")}
	})}
	w.admin = w.signIn("admin")
	for path, body := range map[string]string{"organizations": `{"name":"acme"}`} {
		if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/"+path, body); code != http.StatusOK {
			t.Fatalf("make %s: %d %s", path, code, answer)
		}
	}
	ada := w.user("ada", "account.admin", "org.acme")
	for _, x := range []struct {
		name, token, method, path, body string
		want                            int
		says                            string
	}{
		{"who may do everything uses every cluster", w.admin, http.MethodPost, "agents", `{"name":"one","hosted":{"cluster":"edge"}}`, 200, `"namespace":"slipway-one-`},
		{"and says which", w.admin, http.MethodPost, "agents", `{"name":"two","hosted":{}}`, http.StatusUnprocessableEntity, "edge, shop"},
		{"who may not finds none of others", ada, http.MethodPost, "agents", `{"name":"two","scope":"org.acme","hosted":{"cluster":"edge"}}`, http.StatusUnprocessableEntity, "no cluster"},
		{"the only one that they may use", ada, http.MethodPost, "agents", `{"name":"two","scope":"org.acme","hosted":{}}`, 200, `"namespace":"shop-agent"`},
		{"which takes one agent", ada, http.MethodPost, "agents", `{"name":"three","scope":"org.acme","hosted":{"cluster":"shop"}}`, http.StatusUnprocessableEntity, "takes one agent"},
		{"the same way round an update", ada, http.MethodPut, "agents/org.acme.four?upsert=true", `{"name":"four","scope":"org.acme","hosted":{"cluster":"edge"}}`, http.StatusUnprocessableEntity, "no cluster"},
		{"what is said of the process is the server's", ada, http.MethodPut, "agents/org.acme.two", `{"name":"two","scope":"org.acme","hosted":{"cluster":"shop","state":"Running","namespace":"kube-system"}}`, 200, `"namespace":"shop-agent"`},
		{"it never moves", ada, http.MethodPut, "agents/org.acme.two", `{"name":"two","scope":"org.acme","hosted":{"cluster":"edge"}}`, http.StatusUnprocessableEntity, "never changes"},
		{"an update that says nothing of it", ada, http.MethodPut, "agents/org.acme.two", `{"name":"two","scope":"org.acme","description":"x"}`, 200, `"cluster":"shop"`},
		{"no token is told", ada, http.MethodPost, "agents/org.acme.two/registration", "", 200, `"token":""`},
		{"the server says that it hosts agents", ada, http.MethodGet, "info", "", 200, `"hosts":true`},
		{"nobody runs it yet", ada, http.MethodGet, "agents/org.acme.two", "", 200, `"state":"Waiting"`},
	} {
		code, answer := w.do(x.token, x.method, "/api/v1/"+x.path, x.body)
		if code != x.want || !strings.Contains(answer, x.says) {
			t.Errorf("%s: %d %s", x.name, code, answer)
		}
	}
	plain := newWorld(t)
	if code, answer := plain.do(plain.admin, http.MethodGet, "/api/v1/info", ""); code != http.StatusOK || !strings.Contains(answer, `"hosts":false`) {
		t.Errorf("what a server without --hosted-dir says of itself: %d %s", code, answer)
	}
	if code, answer := plain.do(plain.admin, http.MethodPost, "/api/v1/agents", `{"name":"x","hosted":{"cluster":"edge"}}`); code != http.StatusUnprocessableEntity || !strings.Contains(answer, "hosts no agents") {
		t.Errorf("a server without --hosted-dir: %d %s", code, answer)
	}
}

func TestOptionsOfHostedAgentsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"a certificate that none has": {func(c *Config) { c.SelfSigned, c.ClientCA = true, "ca.pem" }, "--client-ca"},
		"no size":                     {func(c *Config) { c.Hosted.Memory = "lots" }, "--hosted-memory"},
		"a secret of the server":      {func(c *Config) { c.Hosted.Environment = []string{"SLIPWAY_DATABASE"} }, "SLIPWAY_DATABASE"},
		"users without a directory":   {func(c *Config) { c.Hosted.Users = "60000-60001" }, "--hosted-data"},
	} {
		c := Config{Data: t.TempDir(), Hosted: hosting.Options{Dir: t.TempDir()}}
		x.change(&c)
		if err := c.check(); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
