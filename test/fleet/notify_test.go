package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/notify"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// receiver is a channel of the test, and where what it sends arrives.
type receiver struct {
	kind, secret, at string
}

// kinds are all kinds of channels.
func (r *receivers) kinds() []receiver {
	const guid = "11111111-4444-4444-8444-cccccccccccc"
	teams := "/webhookb2/" + guid + "@" + guid + "/IncomingWebhook/33333333012222222222333333333344/" + guid + "/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05"
	plain := strings.TrimPrefix(r.plain, "http://")
	return []receiver{
		{"webhook", token, "/hook"},
		{"email", "smtp://user:" + token + "@" + r.mail + "/?fromaddress=slipway@example.org&toaddresses=ops@example.org&usestarttls=no&auth=plain", "mail"},
		{"slack", "https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/cccccccccccccccccccccccc", "hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/cccccccccccccccccccccccc"},
		{"teams", "https://acme.webhook.office.com" + teams, "acme.webhook.office.com" + teams},
		{"pagerduty", "pagerduty://events.pagerduty.com/0123456789abcdef0123456789abcdef", "events.pagerduty.com/v2/enqueue"},
		{"opsgenie", "opsgenie://api.opsgenie.com/" + token, "api.opsgenie.com/v2/alerts"},
		{"discord", "https://discord.com/api/webhooks/123456789/" + token, "discord.com/api/webhooks/123456789/" + token},
		{"telegram", "telegram://12345:" + token + "@telegram?chats=ops", "api.telegram.org/bot12345:" + token + "/sendMessage"},
		{"googlechat", "https://chat.googleapis.com/v1/spaces/FOO/messages?key=bar&token=" + token, "chat.googleapis.com/v1/spaces/FOO/messages"},
		{"mattermost", "mattermost://matter.example.org/" + token, "matter.example.org/hooks/" + token},
		{"matrix", "matrix://:" + token + "@matrix.example.org", "matrix.example.org/_matrix/client/r0/rooms/!one:matrix.example.org/send/m.room.message"},
		{"rocketchat", "rocketchat://rocket.example.org/" + token + "/token2/channel", "rocket.example.org/hooks/" + token + "/token2"},
		{"zulip", "zulip://bot%40zulip.example.org:" + token + "@zulip.example.org?stream=ops&topic=sync", "zulip.example.org/api/v1/messages"},
		{"ntfy", "ntfy://ntfy.example.org/alerts", "ntfy.example.org/alerts"},
		{"gotify", "gotify://" + plain + "/Aaa.bbb.ccc.ddd?disabletls=yes", "/message"},
		{"pushover", "pushover://:" + token + "@user/", "api.pushover.net/1/messages.json"},
	}
}

// told is a server that tells of what one agent does to its Applications, and everything around it.
type told struct {
	*receivers
	t        *testing.T
	server   *server
	agent    *testenv.Process
	id, ns   string
	client   dynamic.Interface
	repo     *testenv.GitRepo
	database string
}

func newTold(t *testing.T) *told {
	t.Helper()
	w := &told{
		t: t, ns: testenv.Namespace(t), client: clientOf(t, testenv.Cluster(t)), repo: repository(t), database: testenv.Postgres(t),
		receivers: startReceivers(t, "hooks.slack.com", "acme.webhook.office.com", "events.pagerduty.com", "api.opsgenie.com", "discord.com",
			"api.telegram.org", "chat.googleapis.com", "matter.example.org", "matrix.example.org", "rocket.example.org", "zulip.example.org",
			"ntfy.example.org", "api.pushover.net"),
	}
	secrets := t.TempDir()
	for _, k := range append(w.kinds(), receiver{kind: "down", secret: token}) {
		if err := os.WriteFile(filepath.Join(secrets, "account."+k.kind), []byte(k.secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.server = startServerWith(t, []string{"SLIPWAY_DATABASE=" + w.database, "HTTPS_PROXY=" + w.proxy, "SSL_CERT_FILE=" + w.ca},
		"--notify-secrets", secrets, "--notify-allow-private")
	w.id, w.agent = w.server.newAgent("told", w.server.url, testenv.Kubeconfig(t), w.ns)
	w.agent.Start()
	await(t, settled, "the agent", w.server.connected(w.id), w.agent, w.server.Process)
	return w
}

// deployment is one that never comes up where it wants another node than there is.
func deployment(node string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  progressDeadlineSeconds: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeSelector: %s, containers: [{name: web, image: web}]}
`, node)
}

// begin brings Applications up. All are as Git says, and the server knows it.
func (w *told) begin() {
	w.t.Helper()
	var many strings.Builder
	for n := range 12 {
		many.WriteString(configMap(fmt.Sprintf("many-%d", n), "0") + "---\n")
	}
	w.repo.Commit(map[string]string{
		"many/cm.yaml": many.String(), "hand/cm.yaml": configMap("hand", "0"), "broken/cm.yaml": configMap("broken", "0"), "web/web.yaml": deployment("{}"),
	}, "begin")
	for _, name := range []string{"many", "hand", "broken", "web"} {
		createApplication(w.t, w.client, w.ns, name, w.repo.URL(), name, name != "hand")
	}
	// It fails at once, and not after minutes of attempts.
	_, err := w.client.Resource(applications()).Namespace(w.ns).Patch(w.t.Context(), "broken", "application/merge-patch+json",
		[]byte(`{"spec":{"syncPolicy":{"retry":{"limit":0}}}}`), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	hand := w.server.admin.Application(api.Target{Agent: w.id, Namespace: w.ns, Name: "hand"})
	await(w.t, settled, "the Application that is synced by hand", func(ctx context.Context) string {
		copies, err := w.server.copies(ctx, w.id)
		if err != nil {
			return err.Error()
		}
		if copies["hand"].Sync == "" {
			return "the server does not know it"
		}
		return ""
	}, w.agent, w.server.Process)
	if _, err := hand.Operate(w.t.Context(), api.SyncRequest{Reason: "begin"}); err != nil {
		w.t.Fatal(err)
	}
	await(w.t, settled, "the Applications at the beginning", func(ctx context.Context) string {
		copies, err := w.server.copies(ctx, w.id)
		if err != nil {
			return err.Error()
		}
		for _, name := range []string{"many", "hand", "broken", "web"} {
			if app := copies[name]; app.Sync != "Synced" || app.Health != "Healthy" {
				return fmt.Sprintf("%s is %q and %q", name, app.Sync, app.Health)
			}
		}
		return ""
	}, w.agent, w.server.Process)
	// What ends soon is told as well.
	core, err := kubernetes.NewForConfig(testenv.Cluster(w.t))
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = core.CoreV1().ConfigMaps(w.ns).Create(w.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "argocd-tls-certs-cm", Labels: map[string]string{"app.kubernetes.io/part-of": "argocd"}},
		Data:       map[string]string{"git.example.org": string(testenv.NewAuthority(w.t).IssueUntil(time.Now().Add(48*time.Hour), "receiver", "git.example.org").Cert)},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.server.admin.CreateToken(w.t.Context(), api.Token{Name: "ci", ExpiresAt: time.Now().Add(48 * time.Hour)}, false); err != nil {
		w.t.Fatal(err)
	}
}

// channels makes a channel of each kind with a rule. The webhook and the first services are told everything, the others
// of syncs that failed; and there is a webhook that takes nothing.
func (w *told) channels() {
	w.t.Helper()
	for i, k := range append(w.kinds(), receiver{kind: "down"}) {
		c := api.NotificationChannel{Meta: api.Meta{Name: k.kind}, Kind: k.kind, Secret: k.kind}
		switch k.kind {
		case "webhook":
			c.URL = w.plain + "/hook"
		case "down":
			c.Kind, c.URL = api.ChannelWebhook, w.plain+"/down"
		}
		made, err := w.server.admin.NotificationChannels().Create(w.t.Context(), c, false)
		if err != nil {
			w.t.Fatalf("channel %s: %v", k.kind, err)
		}
		rule := api.NotificationRule{Meta: api.Meta{Name: k.kind}, Channel: made.ID, Events: []string{api.NotifySyncFailed}}
		if i < 5 {
			rule.Events = api.NotificationEvents()
		}
		if soak() { // else what lasts is made to have lasted
			rule.After = "1m"
		}
		if _, err := w.server.admin.NotificationRules().Create(w.t.Context(), rule, false); err != nil {
			w.t.Fatalf("rule %s: %v", k.kind, err)
		}
	}
}

// told waits until the webhook has taken events of objects, and checks that each is signed.
func (w *told) awaitTold(want ...string) {
	w.t.Helper()
	await(w.t, settled, "notifications", func(context.Context) string {
		var have, missing []string
		for _, p := range w.at("/hook") {
			var b api.WebhookBody
			if err := json.Unmarshal([]byte(p.body), &b); err != nil {
				w.t.Fatal(err)
			}
			if sign := notify.Sign([]byte(token), p.header.Get(notify.HeaderTimestamp), []byte(p.body)); sign != p.header.Get(notify.HeaderSignature) {
				w.t.Errorf("a webhook is signed %q, not %q", p.header.Get(notify.HeaderSignature), sign)
			}
			have = append(have, b.Event.Event+" "+b.Event.Name)
		}
		for _, one := range want {
			if !slices.Contains(have, one) {
				missing = append(missing, one)
			}
		}
		if len(missing) > 0 {
			return fmt.Sprintf("%q are missing of %q", missing, have)
		}
		return ""
	}, w.agent, w.server.Process)
}

// deliveries are all messages in a state; in any where it is "".
func (w *told) deliveries(ctx context.Context, state string) ([]api.NotificationDelivery, error) {
	page, err := w.server.admin.Deliveries(ctx, api.DeliveryFilter{ListOptions: api.ListOptions{Limit: api.MaxLimit}, State: state})
	return page.Items, err
}

// awaitSent waits until no message waits any more, but for those to the channel that takes nothing.
func (w *told) awaitSent() {
	w.t.Helper()
	await(w.t, settled, "messages that wait", func(ctx context.Context) string {
		waiting, err := w.deliveries(ctx, api.DeliveryWaiting)
		if err != nil {
			return err.Error()
		}
		for _, d := range waiting {
			if d.Channel != "account.down" {
				return fmt.Sprintf("%s of %s to %s, after %d attempts: %s", d.Event.Event, d.Event.Name, d.Channel, d.Attempts, d.Message)
			}
		}
		return ""
	}, w.server.Process)
}

// sql changes the database as time would.
func (w *told) sql(statement string) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.database)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) }()
	if _, err := conn.Exec(w.t.Context(), statement); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatHappensInAClusterIsToldToReceiversOfEveryKind(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	w.begin()
	w.channels()
	w.repo.Commit(map[string]string{
		"many/cm.yaml": configMap("many-0", "0"), "hand/cm.yaml": configMap("hand", "1"),
		"broken/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: broken}\ndata: {value: [1]}\n", "web/web.yaml": deployment("{no: node}"),
	}, "all that can happen")
	w.awaitTold("sync.succeeded web", "sync.failed broken", "out-of-sync hand", "degraded web")
	w.deadLetter()
	w.awaitTold("held many")
	w.awaitSent()
	w.last()
	w.awaitTold("agent.disconnected told", "drift hand", "token.expiring ci", "certificate.expiring git.example.org")
	w.awaitSent()
	w.check()
}

// last ends the agent and the server, which finds afterwards what has lasted for long meanwhile. In a soak it lasts, else
// the database says so.
func (w *told) last() {
	w.t.Helper()
	w.agent.Kill()
	w.awaitSent() // what is on its way when a server is killed is sent again
	if soak() {
		await(w.t, settled, "the end of the agent", func(ctx context.Context) string {
			all, err := w.server.agents(ctx)
			if err != nil {
				return err.Error()
			}
			if at := all[w.id]; at.State != api.AgentDisconnected {
				return "it is " + at.State
			}
			return ""
		}, w.server.Process)
	}
	w.server.Kill()
	if !soak() {
		w.sql("UPDATE agent SET state = 'Disconnected', state_since = state_since - 7200000000; " +
			"UPDATE item SET drift_since = drift_since - 7200000000 WHERE drift_since <> 0")
	}
	w.server.Start()
	w.server.awaitReady()
}

// deadLetter looks at a message that was tried in vain for the last time, and has it sent again.
func (w *told) deadLetter() {
	w.t.Helper()
	await(w.t, settled, "the first attempt", func(ctx context.Context) string {
		list, err := w.deliveries(ctx, api.DeliveryWaiting)
		if err != nil {
			return err.Error()
		}
		for _, d := range list {
			if d.Channel == "account.down" && d.Message != "" {
				return ""
			}
		}
		return "there was none"
	}, w.server.Process)
	// Hours of attempts are behind it. One that is under way just then would write over that: it is said again.
	const hours = "UPDATE notification_delivery SET attempts = 11, next_at = 0 WHERE channel = 'account.down' AND state = 'Waiting' AND held_until = 0 AND attempts < 11"
	var dead api.NotificationDelivery
	await(w.t, settled, "the message that nobody takes", func(ctx context.Context) string {
		w.sql(hours)
		list, err := w.deliveries(ctx, api.DeliveryDead)
		if err != nil {
			return err.Error()
		}
		if len(list) == 0 {
			return "none is dead"
		}
		dead = list[0]
		return ""
	}, w.server.Process)
	if dead.Attempts != 12 || !strings.Contains(dead.Message, "503") || dead.FinishedAt.IsZero() || len(w.at("/down")) > 0 {
		w.t.Errorf("dead is %+v", dead)
	}
	w.mend()
	if _, err := w.server.admin.ResendDelivery(w.t.Context(), dead.ID); err != nil {
		w.t.Fatal(err)
	}
	await(w.t, settled, "the message that is sent again", func(ctx context.Context) string {
		d, err := w.server.admin.Delivery(ctx, dead.ID)
		if err != nil {
			return err.Error()
		}
		if d.State != api.DeliverySent {
			return "it is " + d.State + ": " + d.Message
		}
		return ""
	}, w.server.Process)
	if got := w.at("/down"); len(got) != 1 || got[0].header.Get(notify.HeaderDelivery) != dead.ID {
		w.t.Errorf("received %d messages, want the one of %s", len(got), dead.ID)
	}
}

// check compares what was sent with what was received: each message once.
func (w *told) check() {
	w.t.Helper()
	all, err := w.deliveries(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	sent := map[string][]api.NotificationDelivery{}
	for _, d := range all {
		if d.State != api.DeliverySent {
			w.t.Errorf("%s of %s to %s is %s: %s", d.Event.Event, d.Event.Name, d.Channel, d.State, d.Message)
		}
		sent[d.Channel] = append(sent[d.Channel], d)
		if d.Event.Event == api.NotifyHeld && d.Channel == "account.webhook" && d.Attempts != 2 {
			w.t.Errorf("%s was refused once, and tried %d times", d.Event.Name, d.Attempts)
		}
	}
	for _, k := range w.kinds() {
		got := w.at(k.at)
		if len(got) == 0 || len(got) != len(sent["account."+k.kind]) {
			w.t.Errorf("%s: %d messages were sent, %d received", k.kind, len(sent["account."+k.kind]), len(got))
		}
		for _, d := range sent["account."+k.kind] {
			if !slices.ContainsFunc(got, func(p posted) bool { return strings.Contains(p.body, d.Event.Name) }) {
				w.t.Errorf("%s: nothing is about %s", k.kind, d.Event.Name)
			}
		}
	}
	if n := w.server.Logged(token); n > 0 {
		w.t.Errorf("a secret of a receiver is %d times in the server's log", n)
	}
	w.t.Logf("%d messages to %d receivers, each taken once", len(all), len(sent))
}
