package security

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// foreign is a server and an agent that reach nothing but services of others. A word of theirs, the mark, is to be nowhere.
type foreign struct {
	*cluster
	*strangers
	t       *testing.T
	w       *world
	log     *record
	metrics func() string
	through *tap
	apps    []string
}

// TestNoWordOfAForeignServiceIsShown has services of every kind answer with a mark in everything that they say: Git servers over
// HTTP and SSH, Helm repositories, identity providers, receivers of notifications, mail servers, clusters, proxies and collectors
// of spans. Forges that call the agent send it too. Then it looks for the mark wherever somebody could read it. The message of a
// Status of an API server is the exception, and has no mark here: it says why an object is refused.
func TestNoWordOfAForeignServiceIsShown(t *testing.T) {
	t.Parallel()
	raw := make([]byte, 12)
	_, _ = rand.Read(raw)
	s := newStrangers(t, "zq"+hex.EncodeToString(raw))
	p := s.provider()
	file, providers := s.providers(p)
	channels, secrets := s.channels()
	environment := append(s.proxied(hosts()...), "OTEL_EXPORTER_OTLP_ENDPOINT="+s.url+"/collector", "OTEL_BSP_SCHEDULE_DELAY=50")
	w := newProgram(t, environment, "--oidc-config", file, "--notify-secrets", secrets, "--notify-allow-private", "--rate-limit", "1000000", "--rate-burst", "1000000")
	config := testenv.Cluster(t)
	c := &cluster{t: t, w: w, ns: testenv.Namespace(t), p: plants{"a service of others": s.mark}, core: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config), collects: s.collect}
	f := &foreign{cluster: c, strangers: s, t: t, w: w}
	c.repo = testenv.Git(t).NewRepo("sound")
	c.repo.Commit(map[string]string{"all/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n"}, "begin")
	events := w.watch(t.Context(), w.admin)
	f.settings()
	f.through = newTap(t, strings.TrimPrefix(w.url, "http://"))
	made := into[api.AgentRegistration](t, w.must(w.admin, http.MethodPost, "/agents", `{"name":"prod"}`))
	f.log, f.metrics = c.startAgent(f.through, made.Token, "--verbose")
	f.asksProviders(p, providers)
	f.notifies(channels)
	f.applications()
	f.tries()
	f.calls()
	f.delivery()
	f.reads()
	f.commandLine()
	f.found(events)
}

func (f *foreign) path(name string) string {
	return "/agents/account.prod/applications/" + f.ns + "/" + name
}

// reached checks that services were asked: what was not asked shows nothing.
func (f *foreign) reached(names ...string) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		if f.asked[name] == 0 {
			f.t.Errorf("%s was not asked: nothing was looked at", name)
		}
	}
}

// reads asks for all that the API shows of what there is.
func (f *foreign) reads() {
	var paths []string
	for _, r := range described(f.t) {
		bare := strings.TrimPrefix(r.path, "/api/v1")
		switch {
		case r.method != http.MethodGet || r.streams || strings.Contains(bare, "/session"):
		case !strings.Contains(bare, "{"):
			paths = append(paths, bare+"?limit=1000", bare)
		case strings.HasPrefix(bare, "/agents/{id}"):
			paths = append(paths, strings.Replace(bare, "{id}", "account.prod", 1))
		case bare == "/agents/{agent}/applications/{namespace}/{name}":
			for _, name := range f.apps {
				paths = append(paths, f.path(name))
			}
		case strings.HasPrefix(bare, "/agents/{agent}/applications/{namespace}/{name}") && !strings.Contains(bare, "{revision}"):
			for _, name := range some() {
				paths = append(paths, f.path(name)+strings.TrimPrefix(bare, "/agents/{agent}/applications/{namespace}/{name}")+"?"+r.about())
			}
		}
	}
	for _, noun := range []string{"/audit", "/ledger", "/notification-deliveries", "/agents/account.prod/commands"} {
		for _, id := range regexp.MustCompile(`"id":"([^"]+)"`).FindAllStringSubmatch(f.w.do(f.w.admin, http.MethodGet, noun+"?limit=1000", "").text, -1) {
			paths = append(paths, strings.Replace(noun, "/agents/account.prod", "", 1)+"/"+id[1])
		}
	}
	slices.Sort(paths)
	f.each(slices.Compact(paths), func(path string) {
		if out := f.w.do(f.w.admin, http.MethodGet, path, ""); out.StatusCode == http.StatusTooManyRequests {
			f.t.Errorf("%s: %s", path, out)
		}
	})
	for _, format := range []string{"jsonl", "csv"} {
		f.w.do(f.w.admin, http.MethodGet, "/audit/export?format="+format, "")
	}
	f.w.send(f.w.request(f.w.admin, http.MethodGet, "/metrics", ""))
}

// about are the parameters of a query that the route has, about an object of the applications.
func (r *route) about() string {
	query := url.Values{}
	for _, p := range r.query {
		if value := map[string]string{"kind": "ConfigMap", "resourceName": "web", "version": "v1", "revision": "main"}[p.name]; value != "" {
			query.Set(p.name, value)
		}
	}
	return query.Encode()
}

// each does something with many, a few at a time.
func (f *foreign) each(all []string, do func(string)) {
	var work errgroup.Group
	work.SetLimit(8)
	for _, one := range all {
		work.Go(func() error { do(one); return nil })
	}
	_ = work.Wait() // there are no errors
}

// some are applications of every kind of service, of which everything is asked.
func some() []string {
	return []string{"shell", "banner", "pack", "by-proxy", "from-phrase", "from-realm", "from-git", "to-broken", "to-away", "to-kind", "to-warning", "to-json"}
}

// commandLine asks for the same with the command line.
func (f *foreign) commandLine() {
	commands := []string{
		"app list", "agent list", "agent get account.prod", "audit list", "ledger list", "repo list", "cluster list", "notify delivery list", "notify channel list", "fleet summary",
		"repo test --url " + f.strangers.url + "/phrase/r.git", "notify channel test account.webhook",
	}
	for _, name := range some() {
		commands = append(commands, "app get "+name, "app why "+name)
	}
	home := f.t.TempDir()
	f.each(commands, func(text string) {
		command := exec.CommandContext(f.t.Context(), "slipway", strings.Fields(text)...)
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SLIPWAY_SERVER=" + f.w.url, "SLIPWAY_TOKEN=" + f.w.admin}
		out, err := command.CombinedOutput()
		fmt.Fprintf(f.w.answers, "slipway %s: %v %s\n", text, err, out)
	})
}

// found looks for the mark everywhere.
func (f *foreign) found(events *record) {
	f.log.until(f.t, "spans were not taken")
	f.w.log.until(f.t, "spans were not taken")
	var kept strings.Builder
	for _, resource := range []schema.GroupVersionResource{
		v1alpha1.GroupVersion().WithResource("applications"), v1alpha1.GroupVersion().WithResource("appprojects"),
		{Version: "v1", Resource: "events"},
		{Version: "v1", Resource: "configmaps"},
		{Version: "v1", Resource: "secrets"},
		{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	} {
		list, err := f.dynamic.Resource(resource).Namespace(f.ns).List(f.t.Context(), metav1.ListOptions{})
		if err != nil {
			f.t.Fatal(err)
		}
		raw, err := json.Marshal(list)
		if err != nil {
			f.t.Fatal(err)
		}
		kept.Write(raw)
	}
	metrics := f.metrics()
	f.files(f.w.data, nil) // while it runs, with what is not in the file yet
	f.w.stop()
	f.files(f.w.data, nil)
	for place, text := range map[string]string{
		"the events": events.String(), "the server's log": f.w.log.String(), "the agent's log": f.log.String(), "the agent's metrics": metrics, "the agent's spans": f.cluster.spans.String(),
		"the server's spans": f.strangers.spans.String(), "the traffic of the link": f.through.messages(), "the cluster": kept.String(),
	} {
		f.p.look(f.t, place, strings.ToLower(text))
		f.p.look(f.t, place, text)
	}
	for line := range strings.Lines(f.w.answers.String()) {
		f.p.look(f.t, "an answer", strings.ToLower(line))
		f.p.look(f.t, "an answer", line)
	}
}
