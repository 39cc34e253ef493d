package security

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/seal"
	"github.com/slipway-gitops/slipway/internal/server"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// plants are secrets by where they were put.
type plants map[string]string

// plant makes a secret that is found nowhere by chance, and of no form that a filter knows.
func (p plants) plant(where string) string {
	raw := make([]byte, 15)
	_, _ = rand.Read(raw)
	p[where] = "zq" + hex.EncodeToString(raw[:6]) + "/" + hex.EncodeToString(raw[6:12]) + "+" + hex.EncodeToString(raw[12:])
	return p[where]
}

// look finds secrets in a text, plain or as they are often written.
func (p plants) look(t *testing.T, place, text string, except ...string) {
	t.Helper()
	for where, secret := range p {
		if slices.Contains(except, where) {
			continue
		}
		for form, needle := range forms(secret) {
			if at := strings.Index(text, needle); at >= 0 {
				t.Errorf("the secret of %s is in %s (%s): …%s…", where, place, form, text[max(0, at-300):min(len(text), at+len(needle)+80)])
				break
			}
		}
	}
}

// forms are ways to write a secret. In base64 it is looked for at any place in a longer text.
func forms(secret string) map[string]string {
	out := map[string]string{
		"plain": secret, "in a URL": url.QueryEscape(secret), "in a path": url.PathEscape(secret), "hexadecimal": hex.EncodeToString([]byte(secret)),
		"as JSON": strings.ReplaceAll(secret, "/", `\/`),
	}
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
		text = text[(shift*8+5)/6 : len(text)-2]
		out[fmt.Sprint("base64 ", shift)] = text
		out[fmt.Sprint("base64 for URLs ", shift)] = strings.NewReplacer("+", "-", "/", "_").Replace(text)
	}
	return out
}

func TestASecretIsFoundInEveryForm(t *testing.T) {
	t.Parallel()
	p := plants{}
	secret := p.plant("here")
	for _, text := range []string{
		secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte("user:" + secret + "\n")), base64.URLEncoding.EncodeToString([]byte(`{"a":"` + secret + `"}`)),
		hex.EncodeToString([]byte("ab" + secret)),
	} {
		found := false
		for _, needle := range forms(secret) {
			found = found || strings.Contains(text, needle)
		}
		if !found {
			t.Errorf("%s is not found in %s", secret, text)
		}
	}
}

// cluster is what secrets are planted in.
type cluster struct {
	t       *testing.T
	w       *world
	ns      string
	core    kubernetes.Interface
	dynamic dynamic.Interface
	repo    *testenv.GitRepo
	p       plants
	spans   *record // that the agent sends
	// collects answers the agent for the spans that it sends, how many times it did; nil takes them.
	collects func(w http.ResponseWriter, times int)
}

func (c *cluster) secret(name, kind string, data map[string]string) {
	c.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: data}
	if kind != "" {
		s.Labels = map[string]string{v1alpha1.LabelSecretType: kind}
	}
	if _, err := c.core.CoreV1().Secrets(c.ns).Create(c.t.Context(), s, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) application(name, path string, source map[string]any) {
	c.t.Helper()
	from := map[string]any{"repoURL": c.repo.URL(), "path": path, "targetRevision": "main"}
	for key, value := range source {
		from[key] = value
	}
	last, err := json.Marshal(map[string]any{"stringData": map[string]string{"x": c.p.plant("last-applied of application " + name)}})
	if err != nil {
		c.t.Fatal(err)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": name, "namespace": c.ns, "annotations": map[string]any{corev1.LastAppliedConfigAnnotation: string(last)}},
		"spec":     map[string]any{"project": "default", "source": from, "destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": c.ns}},
	}}
	in := c.dynamic.Resource(v1alpha1.GroupVersion().WithResource("applications")).Namespace(c.ns)
	if _, err := in.Create(c.t.Context(), obj, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// startAgent runs a real agent that belongs to the server, through a tap.
func (c *cluster) startAgent(through *tap, token string, more ...string) (log *record, metrics func() string) {
	c.t.Helper()
	log = newRecord()
	args := append([]string{
		"--server", through.url, "--namespace", c.ns, "--installation-id", c.ns, "--data", c.t.TempDir(), "--kubeconfig", testenv.Kubeconfig(c.t), "--poll", "1h",
		"--webhook-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0",
	}, more...)
	command := exec.Command("slipway-agent", args...) //nolint:noctx // it is stopped in order
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.t.TempDir(), "SLIPWAY_REGISTRATION_TOKEN=" + token, testenv.Outbound,
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.collector(), "OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_TRACES_SAMPLER=always_on", "NO_PROXY=127.0.0.1",
	}
	command.Stderr, command.Stdout = log, log
	if err := command.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = command.Wait()
		if c.t.Failed() {
			tail := log.String()
			c.t.Logf("the agent's log ends with:\n%s", tail[max(0, len(tail)-6000):])
		}
	})
	log.until(c.t, `"msg":"ready"`)
	return log, func() string {
		var out bytes.Buffer
		for _, m := range regexp.MustCompile(`"address":"(127\.0\.0\.1:\d+)"`).FindAllStringSubmatch(log.String(), -1) {
			for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
				r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "http://"+m[1]+path, nil)
				if err != nil {
					continue
				}
				if response, err := client().Do(r); err == nil {
					_, _ = io.Copy(&out, response.Body)
					response.Body.Close()
				}
			}
		}
		return out.String()
	}
}

// settled waits until the server's copy of an application says something.
func (c *cluster) settled(path, want string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*limit)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	last := ""
	for {
		out := c.w.do(c.w.admin, "GET", path, "")
		if last = out.text; out.StatusCode == http.StatusOK && strings.Contains(last, want) {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			c.t.Fatalf("%s does not say %s: %.3000s", path, want, last)
		}
	}
}

func TestPlantedSecretsAppearNowhere(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"SQLite", "PostgreSQL"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			address := ""
			if database == "PostgreSQL" {
				address = testenv.Postgres(t)
			}
			p := plants{}
			first := p.plant("password of the first user")
			w := newWorldAs(t, first, func(cfg *server.Config) { cfg.Database = address })
			hunt(t, w, p, address)
		})
	}
}

func hunt(t *testing.T, w *world, p plants, address string) {
	t.Helper()
	config := testenv.Cluster(t)
	c := &cluster{t: t, w: w, ns: testenv.Namespace(t), p: p, core: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config)}
	gitPassword := p.plant("password of the repository")
	c.repo = testenv.Git(t, testenv.GitBasicAuth("robot", gitPassword)).NewRepo("shop")
	c.plantSettings(gitPassword)
	c.commit()
	events := w.watch(t.Context(), w.admin)
	through := newTap(t, strings.TrimPrefix(w.url, "http://"))
	made := into[api.AgentRegistration](t, w.must(w.admin, "POST", "/agents", `{"name":"prod"}`))
	p["registration of the agent"] = made.Token
	log, metrics := c.startAgent(through, made.Token, "--verbose")
	c.application("shop", "chart", map[string]any{"helm": map[string]any{
		"values":     "fromValues: " + p.plant("helm values") + "\n",
		"parameters": []any{map[string]any{"name": "fromParameter", "value": p.plant("helm parameter")}},
	}})
	c.application("broken", "broken", nil)
	c.application("astray", ".", map[string]any{"repoURL": "https://bob:" + url.QueryEscape(p.plant("user information of a source")) + "@127.0.0.1:1/x.git"})
	c.everything()
	c.people()
	c.found(events, log, metrics, through, address)
}

// plantSettings plants what an agent signs in with.
func (c *cluster) plantSettings(gitPassword string) {
	p := c.p
	key := func(where string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: []byte(strings.Repeat("k", 48) + p.plant(where))}))
	}
	c.secret("shop-repo", v1alpha1.SecretTypeRepository, map[string]string{"type": "git", "url": c.repo.URL(), "username": "robot", "password": gitPassword})
	c.secret("ssh-repo", v1alpha1.SecretTypeRepository, map[string]string{"type": "git", "url": "ssh://git@127.0.0.1:1/x.git", "sshPrivateKey": key("SSH key of a repository")})
	c.secret("app-repo", v1alpha1.SecretTypeRepository, map[string]string{
		"type": "git", "url": "https://bob:" + url.QueryEscape(p.plant("user information of a repository")) + "@127.0.0.1:2/x.git", "githubAppPrivateKey": key("key of a GitHub app"),
		"bearerToken": p.plant("bearer token of a repository"), "tlsClientCertKey": key("client key of a repository"), "proxy": "http://eve:" + url.QueryEscape(p.plant("user information of a proxy")) + "@127.0.0.1:3",
		"somethingNew": p.plant("unknown field of a repository"),
	})
	c.secret("creds", v1alpha1.SecretTypeRepoCreds, map[string]string{"type": "git", "url": "https://127.0.0.1:2/", "username": "robot", "password": p.plant("password of a credential template")})
	c.secret("edge", v1alpha1.SecretTypeCluster, map[string]string{"name": "edge", "server": "https://127.0.0.1:4", "config": fmt.Sprintf(`{"bearerToken":%q,"username":"bob","password":%q}`, p.plant("bearer token of a cluster"), p.plant("password of a cluster"))})
	c.secret("odd", v1alpha1.SecretTypeCluster, map[string]string{"name": "odd", "server": "https://127.0.0.1:5", "config": `{"broken ` + p.plant("config of a cluster that is no JSON")})
	c.secret("plain", "", map[string]string{"x": p.plant("a Secret that nobody uses")})
}

// commit plants what Git holds.
func (c *cluster) commit() {
	p := c.p
	data := base64.StdEncoding.EncodeToString([]byte(p.plant("data of a Secret in Git")))
	c.repo.Commit(map[string]string{
		"chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		"chart/templates/all.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: rendered\ndata:\n  git: " + data +
			"\nstringData:\n  text: " + p.plant("stringData of a Secret in Git") + "\n  fromValues: {{ .Values.fromValues }}\n  fromParameter: {{ .Values.fromParameter }}\n" +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  a: b\n",
		// What an API server refuses it quotes.
		"broken/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: broken\ndata:\n  x: '" + p.plant("data of a Secret that is no base64") + "'\nstringData:\n  y: [" + p.plant("stringData that is no text") + "]\n",
	}, "begin")
}

// everything does what the API offers.
func (c *cluster) everything() {
	t, w, p := c.t, c.w, c.p
	shop := "/agents/account.prod/applications/" + c.ns + "/shop"
	broken := "/agents/account.prod/applications/" + c.ns + "/broken"
	c.settled(shop, `"OutOfSync"`)
	w.must(w.admin, "POST", shop+"/sync", `{"reason":"release"}`)
	c.settled(shop, `"Synced"`)
	w.do(w.admin, "POST", broken+"/sync", `{}`)
	c.settled("/agents/account.prod/applications/"+c.ns+"/astray", `"ComparisonError"`)
	object := "kind=Secret&version=v1&resourceName=rendered"
	for _, path := range []string{
		"/agents", "/agents/account.prod", "/agents/account.prod/manifest", "/agents/account.prod/manifest?format=helm", "/agents/account.prod/commands", "/overview",
		"/applications", "/repositories", "/credential-templates", "/clusters", "/certificates", "/gpg-keys", "/argo-projects", "/applicationsets",
		"/agents/account.prod/repositories/" + c.ns + "/app-repo", "/agents/account.prod/clusters/" + c.ns + "/edge",
		"/agents/account.prod/applications/" + c.ns + "/astray",
		shop + "/diff", shop + "/diff?drift=true", shop + "/tree", shop + "/manifests", shop + "/manifests?live=true", broken + "/diff", broken + "/manifests", broken + "/tree",
		shop + "/resource?" + object, shop + "/resource/events?" + object, shop + "/resource/actions?" + object, shop + "/resource?kind=Secret&version=v1&resourceName=plain",
		shop + "/resource?kind=Secret&version=v1&resourceName=shop-repo", shop + "/logs?kind=Pod&resourceName=none", broken, shop,
	} {
		w.do(w.admin, "GET", path, "")
	}
	named := `"resource":{"version":"v1","kind":"Secret","name":"rendered"}`
	patch := fmt.Sprintf(`{%s,"type":"merge","patch":{"stringData":{"patched":%q}},"reason":"turn"}`, named, p.plant("patch of a Secret"))
	w.refused(w.admin, "PATCH", shop+"/resource", patch, api.CodeForbidden)
	w.do(w.admin, "PATCH", shop+"/resource", fmt.Sprintf(`{%s,"type":"merge","patch":{"data":{"patched":%q}}}`, named, p.plant("patch of a Secret that is refused")))
	w.do(w.admin, "PATCH", shop+"/resource", fmt.Sprintf(`{%s,"type":"json","patch":[{"op":"add","path":"/stringData","value":{"x":%q}}]}`, named, p.plant("JSON patch of a Secret")))
	w.must(w.admin, "GET", shop+"/diff?drift=true", "")
	w.must(w.admin, "GET", shop+"/resource?"+object, "")
	local := fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"local","namespace":%q},"stringData":{"x":%q}}`, c.ns, p.plant("a Secret among local manifests"))
	own := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":%q},"data":{"x":%q}}`, c.ns, p.plant("a local manifest"))
	for _, manifest := range []string{local, own} {
		body, err := json.Marshal(api.SyncRequest{Manifests: []string{manifest}})
		if err != nil {
			t.Fatal(err)
		}
		w.do(w.admin, "POST", shop+"/sync", string(body))
	}
	c.ledger()
	w.must(w.admin, "DELETE", shop+"/resource?"+object, "")
	c.seal()
}

// ledger asks what operations were, once it has those of the application, the last of them of local manifests.
func (c *cluster) ledger() {
	t, w := c.t, c.w
	c.settled("/ledger?name=shop", `"local":true`)
	page := into[api.Page[api.LedgerEntry]](t, w.must(w.admin, "GET", "/ledger?name=shop", ""))
	hashed := false
	for _, e := range page.Items {
		w.must(w.admin, "GET", "/ledger/"+e.ID, "")
		hashed = strings.Contains(w.must(w.admin, "GET", "/ledger/"+e.ID+"/manifests", ""), "hmac:") || hashed
	}
	if !hashed {
		t.Error("no manifest of the ledger has a hashed value: nothing was looked at")
	}
	w.must(w.admin, "GET", "/ledger/at", "")
	w.must(w.admin, "GET", "/ledger/diff?manifests=true", "")
	w.must(w.admin, "GET", "/ledger/objects?kind=Secret&objectName=rendered", "")
	for _, format := range []string{"jsonl", "tar"} {
		w.must(w.admin, "GET", "/ledger/export?format="+format, "")
	}
}

// seal writes settings through the API.
func (c *cluster) seal() {
	t, w, p := c.t, c.w, c.p
	agent := into[api.Agent](t, w.must(w.admin, "GET", "/agents/account.prod", ""))
	to, err := seal.ParsePublicKey(agent.SealKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(verb agentapi.Kind, kind, name, fields string, secrets map[string]string) string {
		t.Helper()
		sealed, err := seal.Seal(to, secrets, seal.Purpose{
			Agent: agent.UID, Verb: string(verb), Type: kind, Name: name, Actor: "user:admin", Open: into[map[string]string](t, fields), At: time.Now(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"name":%q,"fields":%s,"sealed":%q}`, name, fields, base64.StdEncoding.EncodeToString(sealed))
	}
	for many, s := range map[string]struct {
		kind, name, fields string
		secrets            map[string]string
	}{
		"repositories": {"repository", "sealed", `{"url":"https://127.0.0.1:6/x.git","type":"git"}`, map[string]string{"username": "bob", "password": p.plant("sealed password")}},
		"clusters":     {"cluster", "sealed-edge", `{"name":"sealed-edge","server":"https://127.0.0.1:7"}`, map[string]string{"config": fmt.Sprintf(`{"bearerToken":%q}`, p.plant("sealed token of a cluster"))}},
	} {
		w.must(w.admin, "POST", "/agents/account.prod/"+many, write(agentapi.KindSettingsApply, s.kind, s.name, s.fields, s.secrets))
		w.do(w.admin, "POST", "/agents/account.prod/"+many+"/test", write(agentapi.KindSettingsTest, s.kind, s.name, s.fields, s.secrets))
	}
	// What is not sealed is refused, and not repeated.
	w.refused(w.admin, "POST", "/agents/account.prod/repositories", fmt.Sprintf(`{"name":"open","fields":{"url":"https://127.0.0.1:8/x.git","password":%q}}`, p.plant("password that was not sealed")), api.CodeInvalid)
	w.refused(w.admin, "POST", "/agents/account.prod/repositories", fmt.Sprintf(`{"name":"open","fields":{"url":"https://bob:%s@127.0.0.1:8/x.git"}}`, url.QueryEscape(p.plant("user information that was not sealed"))), api.CodeInvalid)
	w.must(w.admin, "DELETE", "/agents/account.prod/repositories/"+c.ns+"/sealed", "")
}

// people plants what people sign in with.
func (c *cluster) people() {
	w, p := c.w, c.p
	own := p.plant("password of a user")
	w.must(w.admin, "POST", "/users", fmt.Sprintf(`{"name":"ada","password":%q}`, own))
	cookie := w.session("ada", own)
	next := p.plant("next password of a user")
	w.browse(cookie, "POST", "/session/password", fmt.Sprintf(`{"current":%q,"new":%q}`, own, next))
	w.do("", "POST", "/session", fmt.Sprintf(`{"username":"ada","password":%q}`, p.plant("wrong password")))
	w.do("", "POST", "/session/oidc/exchange", fmt.Sprintf(`{"code":%q,"verifier":%q,"token":"x"}`, p.plant("code of a sign-in"), p.plant("verifier")))
	w.do(p.plant("wrong token"), "GET", "/session", "")
	w.do(w.admin, "GET", "/users/ada", "")
	w.do(w.admin, "GET", "/tokens?owner=*", "")
	w.do(w.admin, "GET", "/audit?limit=1000", "")
	for _, format := range []string{"jsonl", "csv"} {
		w.must(w.admin, "GET", "/audit/export?format="+format, "")
	}
	w.send(w.request(w.admin, "GET", "/metrics", ""))
	// What is said once is a secret from here on.
	p["session of a user"] = cookie.Value
	_, p["token of the administrator"], _ = strings.Cut(strings.TrimPrefix(w.admin, "slp_"), "_")
}

// found looks everywhere.
func (c *cluster) found(events, log *record, metrics func() string, through *tap, address string) {
	t, w, p := c.t, c.w, c.p
	// They are part of what an Application says in clear, to all who may see it; and these are said once, to whom they are for.
	spec := []string{"helm values", "helm parameter"}
	once := []string{"registration of the agent", "session of a user", "token of the administrator"}
	p.look(t, "the events", events.String())
	p.look(t, "the agent's log", log.String())
	p.look(t, "the agent's metrics and health", metrics())
	c.spans.until(t, "slipway")
	p.look(t, "the agent's spans", c.spans.String())
	// The server passes on what somebody wants written, and what was sealed.
	p.look(t, "the traffic of the link", through.messages(), append([]string{
		"patch of a Secret", "patch of a Secret that is refused", "JSON patch of a Secret", "a local manifest", "a Secret among local manifests",
	}, spec...)...)
	for line := range strings.Lines(w.answers.String()) {
		except := once
		if strings.Contains(line, "/applications") && !strings.Contains(line, "/manifests") && !strings.Contains(line, "/diff") && !strings.Contains(line, "/resource") {
			except = append(slices.Clone(once), spec...)
		}
		p.look(t, "an answer", line, except...)
	}
	ctx := context.WithoutCancel(t.Context())
	if address == "" {
		c.files(w.data, spec) // while it runs, with what is not in the file yet
	}
	w.stop()
	p.look(t, "the server's log", w.log.String())
	c.files(w.data, spec)
	s, err := store.Open(ctx, db.Config{URL: cmpOr(address, filepath.Join(w.data, "slipway.db"))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var backup bytes.Buffer
	if err := s.Backup(ctx, &backup); err != nil {
		t.Fatal(err)
	}
	kept := bytes.NewReader(bytes.Clone(backup.Bytes()))
	whole, err := gzip.NewReader(&backup)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(whole)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("shop-repo")) {
		t.Error("the backup does not hold what was planted beside the secrets")
	}
	p.look(t, "the backup", string(text), spec...)
	c.restored(kept, spec)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// files looks through what the server keeps on disk.
func (c *cluster) files(dir string, except []string) {
	c.t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			c.t.Errorf("others may read %s (%s)", path, info.Mode())
		}
		raw, err := os.ReadFile(path)
		c.p.look(c.t, filepath.Base(path), string(raw), except...)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
}
