package security

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// settings are what an agent reaches services by.
func (f *foreign) settings() {
	f.secret("by-proxy", v1alpha1.SecretTypeRepository, map[string]string{"type": "git", "url": f.strangers.url + "/by-proxy/r.git", "proxy": f.strangers.url + "/proxy"})
	for name := range f.answers() {
		f.secret("to-"+name, v1alpha1.SecretTypeCluster, map[string]string{"name": "to-" + name, "server": f.strangers.url + "/" + name, "config": `{"bearerToken":"x"}`})
	}
}

// application makes one of a source, for a destination.
func (f *foreign) application(name string, source, destination map[string]any) {
	f.t.Helper()
	destination["namespace"] = f.ns
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": name, "namespace": f.ns},
		"spec": map[string]any{"project": "default", "source": source, "destination": destination},
	}}
	if _, err := f.dynamic.Resource(v1alpha1.GroupVersion().WithResource("applications")).Namespace(f.ns).Create(f.t.Context(), obj, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	f.apps = append(f.apps, name)
}

// applications makes one for each source and each destination, and waits until each says that it cannot be compared.
func (f *foreign) applications() {
	from := func(name, address string) {
		f.application(name, map[string]any{"repoURL": address, "path": "all", "targetRevision": "main"}, map[string]any{"server": v1alpha1.InClusterServer})
	}
	banner := f.listens(func(conn net.Conn) {
		f.note("banner")
		_, _ = fmt.Fprintf(conn, "%[1]s\r\nSSH-2.0-%[1]s\r\n%[1]s", f.mark) // who is gone misses nothing
	})
	for name, at := range map[string]string{"shell": f.shell(), "banner": banner} {
		f.secret(name, v1alpha1.SecretTypeRepository, map[string]string{"type": "git", "url": "ssh://git@" + at + "/r.git", "insecure": "true"})
		from(name, "ssh://git@"+at+"/r.git")
	}
	one := strings.Repeat("1", 40)
	pack := &testenv.HostileGit{Refs: []string{one + " HEAD", one + " refs/heads/main"}}
	pack.Fetch = func(_ *http.Request, send func(byte, []byte) error) {
		f.note("pack")
		_ = send(2, []byte(f.mark+"\n")) // likewise
		_ = send(3, []byte(f.mark+"\n"))
	}
	from("pack", pack.Start(f.t))
	from("by-proxy", f.strangers.url+"/by-proxy/r.git")
	for name := range f.answers() {
		from("from-"+name, f.strangers.url+"/"+name+"/r.git")
		f.application("to-"+name, map[string]any{"repoURL": f.repo.URL(), "path": "all", "targetRevision": "main"}, map[string]any{"name": "to-" + name})
	}
	f.each(f.apps, func(name string) { f.settled(f.path(name), `Error"`) })
	f.reached("shell", "banner", "pack")
}

// tries has connections tried, and asks repositories what they have.
func (f *foreign) tries() {
	const agent = "/agents/account.prod"
	var names []string
	for name := range f.answers() {
		names = append(names, name)
	}
	f.each(names, func(name string) {
		at := f.strangers.url + "/" + name
		for _, kind := range []string{"git", "helm"} {
			f.w.do(f.w.admin, http.MethodPost, agent+"/repositories/test", fmt.Sprintf(`{"name":"new","fields":{"url":%q,"type":%q}}`, at, kind))
			f.w.do(f.w.admin, http.MethodGet, agent+"/repository-refs?repoURL="+at+"&type="+kind, "")
		}
		f.w.do(f.w.admin, http.MethodGet, agent+"/repository-paths?revision=main&repoURL="+at, "")
		f.w.do(f.w.admin, http.MethodPost, agent+"/clusters/test", fmt.Sprintf(`{"name":"new","fields":{"name":"new","server":%q}}`, at))
		f.w.do(f.w.admin, http.MethodPost, agent+"/applications/preview", `{"resource":`+manifest("Application", f.ns, "new", "", fmt.Sprintf(`{"project":"default","source":{"repoURL":%q,"path":"all","targetRevision":"main"},"destination":{"name":"to-%s","namespace":%q}}`, f.repo.URL(), name, f.ns))+`}`)
	})
	f.reached(names...)
	f.each(f.apps, func(name string) {
		f.w.do(f.w.admin, http.MethodPost, f.path(name)+"/refresh", `{"hard":true}`)
		f.w.do(f.w.admin, http.MethodPost, f.path(name)+"/plan", `{}`)
	})
}

// calls delivers what forges send, with the mark wherever they can write, to every port of the agent.
func (f *foreign) calls() {
	m := f.mark
	for _, at := range regexp.MustCompile(`"address":"(127\.0\.0\.1:\d+)"`).FindAllStringSubmatch(f.log.String(), -1) {
		for _, header := range []string{"X-GitHub-Event", "X-Gitlab-Event", "X-Gitea-Event", "X-Gogs-Event", "X-Event-Key", "X-Vss-Activityid"} {
			for _, says := range []string{"push", "Push Hook", "repo:push", "repo:refs_changed", m} {
				for _, body := range []string{m, `{"` + m + `":`, fmt.Sprintf(`{"ref":"refs/heads/%[1]s","repository":{"html_url":"http://%[1]s.invalid/","clone_url":"http://%[1]s.invalid/r.git","full_name":%[1]q},"project":{"web_url":"http://%[1]s.invalid/"}}`, m)} {
					r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, "http://"+at[1]+"/api/webhook", strings.NewReader(body))
					if err != nil {
						f.t.Fatal(err)
					}
					for name, value := range map[string]string{header: says, "X-" + m: m, "X-Hub-Signature": "sha1=" + m, "X-Gitlab-Token": m, "User-Agent": m, "Content-Type": "application/json", "X-Request-Id": m, "Traceparent": m} {
						r.Header.Set(name, value)
					}
					response, err := client().Do(r)
					if err != nil {
						f.t.Fatal(err)
					}
					f.w.read("a delivery", response)
				}
			}
		}
	}
}

// hosts are those that services have whose addresses nobody chooses.
func hosts() []string {
	return []string{
		"hooks.slack.com", "acme.webhook.office.com", "events.pagerduty.com", "api.opsgenie.com", "discord.com", "api.telegram.org", "chat.googleapis.com", "mattermost.example.org",
		"matrix.example.org", "rocket.example.org", "zulip.example.org", "ntfy.example.org", "gotify.example.org", "api.pushover.net",
	}
}

// channels are those of every kind, by name, and the directory with their secrets.
func (s *strangers) channels() (kinds map[string]string, dir string) {
	dir = s.t.TempDir()
	token := strings.Repeat("0a", 16)
	kinds = map[string]string{}
	for name, secret := range map[string]string{
		"slack":     "https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/cccccccccccccccccccccccc",
		"teams":     "https://acme.webhook.office.com/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05",
		"pagerduty": "pagerduty://events.pagerduty.com/" + token, "opsgenie": "opsgenie://api.opsgenie.com/11111111-4444-4444-8444-cccccccccccc", "discord": "https://discord.com/api/webhooks/123456789/" + token,
		"telegram": "telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX@telegram?chats=@ops", "googlechat": "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=k&token=t",
		"mattermost": "mattermost://mattermost.example.org/" + token, "matrix": "matrix://:" + token + "@matrix.example.org/?rooms=!ops:example.org", "rocketchat": "rocketchat://rocket.example.org/" + token + "/" + token,
		"zulip": "zulip://bot%40example.org:" + token + "@zulip.example.org/?stream=ops&topic=ops", "ntfy": "ntfy://ntfy.example.org/ops", "gotify": "gotify://gotify.example.org/AAAAAAAAAAAAAAA",
		"pushover": "pushover://shoutrrr:" + token[:30] + "@" + token[:30] + "/", "webhook": "k3y",
	} {
		kinds[name] = name
		s.write(dir, name, secret)
	}
	for _, refused := range []string{"", "EHLO", "MAIL", "RCPT", "DATA", "."} {
		name := "mail-" + strings.ToLower(strings.Trim(refused, "."))
		if refused == "." {
			name = "mail-end"
		}
		kinds[strings.TrimSuffix(name, "-")] = "email"
		s.write(dir, strings.TrimSuffix(name, "-"), "smtp://"+s.mail(refused)+"/?fromaddress=a@example.org&toaddresses=b@example.org&encryption=None&usestarttls=no")
	}
	for name := range s.answers() {
		kinds["webhook-"+name] = "webhook"
		s.write(dir, "webhook-"+name, "k3y")
	}
	return kinds, dir
}

func (s *strangers) write(dir, name, secret string) {
	if err := os.WriteFile(filepath.Join(dir, "account."+name), []byte(secret), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// notifies tries every channel, with more than one kind of answer of those that have their own hosts.
func (f *foreign) notifies(kinds map[string]string) {
	var names []string
	for name, kind := range kinds {
		address := ""
		if kind == "webhook" {
			address = fmt.Sprintf(`,"url":"%s/%s"`, f.strangers.url, strings.TrimPrefix(strings.TrimPrefix(name, "webhook"), "-"))
		}
		f.w.must(f.w.admin, http.MethodPost, "/notification-channels", fmt.Sprintf(`{"name":%q,"kind":%q,"secret":%q%s}`, name, kind, name, address))
		names = append(names, name)
	}
	for _, answer := range []string{"forbidden", "json", "broken", "away"} {
		f.mu.Lock()
		f.kind = answer
		f.mu.Unlock()
		f.each(names, func(name string) {
			f.w.do(f.w.admin, http.MethodPost, "/notification-channels/account."+name+"/test", "")
		})
		if answer == "forbidden" {
			names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "webhook") || strings.HasPrefix(name, "mail") })
		}
	}
	f.reached(hosts()...)
	f.reached("mail ", "mail EHLO", "mail MAIL", "mail RCPT", "mail DATA", "mail .")
}

// delivery waits for a message of a rule that a receiver refused.
func (f *foreign) delivery() {
	f.w.must(f.w.admin, http.MethodPost, "/notification-rules", `{"name":"failures","events":["sync.failed","sync.succeeded"],"channel":"account.webhook-phrase"}`)
	f.application("sound", map[string]any{"repoURL": f.repo.URL(), "path": "all", "targetRevision": "main"}, map[string]any{"server": v1alpha1.InClusterServer})
	f.settled(f.path("sound"), `"OutOfSync"`)
	f.w.must(f.w.admin, http.MethodPost, f.path("sound")+"/sync", `{}`)
	f.settled("/notification-deliveries", "the webhook answered with status 500")
}

// TestEveryKindOfChannelIsAsked compares the channels that are tried with the kinds that there are.
func TestEveryKindOfChannelIsAsked(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "api", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Enum []any }
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	kinds, _ := newStrangers(t, "mark").channels()
	there := map[string]bool{}
	for _, kind := range kinds {
		there[kind] = true
	}
	known := doc.Components.Schemas["NotificationChannel"].Properties["kind"].Enum
	for _, kind := range known {
		if text, _ := kind.(string); !there[text] {
			t.Errorf("%v is a new kind of channel: give channels() one, so that its errors are looked at", kind)
		}
	}
	if len(known) != len(there) {
		t.Errorf("%d kinds are tried, and there are %d", len(there), len(known))
	}
}
