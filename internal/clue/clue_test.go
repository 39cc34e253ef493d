package clue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// crashing is a case with a log.
func crashing(t *testing.T) (*broken, *memory) {
	t.Helper()
	all := cases(t)
	i := slices.IndexFunc(all, func(b broken) bool { return b.Code == "LivenessProbe" })
	return &all[i], all[i].memory()
}

func TestLogsAreReadOnRequestOnly(t *testing.T) {
	t.Parallel()
	b, m := crashing(t)
	m.log = "one\ntwo\n"
	if log := b.look(t, m, Ask{}).Items[0].Log; len(m.logged) != 0 || len(log.Lines) != 0 || log.Note != "not asked for" {
		t.Errorf("unasked, %q is read and the log is %+v", m.logged, log)
	}
	if log := b.look(t, m, Ask{Logs: true, Deny: "the permission application_logs is missing"}).Items[0].Log; len(m.logged) != 0 || len(log.Lines) != 0 ||
		log.Note != "the container has a log, and you may not read it: the permission application_logs is missing" {
		t.Errorf("without the right, %q is read and the log is %+v", m.logged, log)
	}
	log := b.look(t, m, Ask{Logs: true}).Items[0].Log
	if want := []string{"shop/web/app true"}; !slices.Equal(m.logged, want) || !slices.Equal(log.Lines, []string{"one", "two"}) || log.Note != "" {
		t.Errorf("asked, %q is read and the log is %+v", m.logged, log)
	}
	m.err = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web", errors.New("no log for you"))
	if log := b.look(t, m, Ask{Logs: true}).Items[0].Log; len(log.Lines) != 0 || !strings.HasPrefix(log.Note, "the container has a log, and it may not be read: ") {
		t.Errorf("where the API server forbids it, the log is %+v", log)
	}
}

func TestTheEndOfALogHoldsNoSecretAndNothingIllegible(t *testing.T) {
	t.Parallel()
	b, m := crashing(t)
	m.log = "MIIEvQIBADANBgkq\nq0swggSj\n-----END PRIVATE KEY-----\nstarting\x1b[31m red \u202e\x00\npassword=hunter2secret\n" +
		"connect to postgres://app:s3cr3tpass@db/shop\nAuthorization: Bearer abcdefghijklmnop1234\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n" + strings.Repeat("x", 5000) + "\nlast"
	lines := b.look(t, m, Ask{Logs: true}).Items[0].Log.Lines
	all := strings.Join(lines, "\n")
	for _, secret := range []string{"MIIEvQ", "q0swggSj", "hunter2", "s3cr3tpass", "abcdefghijklmnop", "MIIEowIB", "\x1b", "\u202e", "\x00"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in the log:\n%s", secret, all)
		}
	}
	if !strings.Contains(all, "starting") || len(all) > api.MaxLogLines*500 {
		t.Errorf("the log has %d bytes:\n%.2000s", len(all), all)
	}
	m.log = strings.Repeat("line\n", 100)
	if lines := b.look(t, m, Ask{Logs: true}).Items[0].Log.Lines; len(lines) != api.MaxLogLines {
		t.Errorf("%d lines are told", len(lines))
	}
}

func TestForeignTextsAreLegibleBoundedAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	b, m := crashing(t)
	evil := "token=abcd1234efgh \x1b[2J\u202e\n" + strings.Repeat("A", 60_000)
	for _, o := range slices.Concat(m.objects["pods"], m.objects["events"]) {
		o["message"] = "Liveness probe failed: " + evil
		for _, c := range object.Dicts(object.Dict(o, "status"), "containerStatuses") {
			object.Dict(object.Dict(c, "lastState"), "terminated")["message"] = evil
		}
	}
	got := b.look(t, m, Ask{Logs: true})
	texts := []string{got.Items[0].What, got.Items[0].Next}
	for _, e := range got.Items[0].Evidence {
		texts = append(texts, e.Text)
	}
	for _, text := range texts {
		if strings.Contains(text, "abcd1234") || strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "\u202e") || len(text) > 1100 {
			t.Errorf("%d bytes: %.300q", len(text), text)
		}
	}
}

// forbidding is a Cluster that lets nobody list some resources.
type forbidding struct {
	*memory
	what []string
}

// List implements Cluster.
func (f forbidding) List(ctx context.Context, q Query) ([]map[string]any, error) {
	if slices.Contains(f.what, q.Resource) {
		return nil, apierrors.NewForbidden(q.GroupResource(), "", errors.New("not you"))
	}
	return f.memory.List(ctx, q)
}

func TestWhatMayNotBeListedIsNamedAndTheRestIsFound(t *testing.T) {
	t.Parallel()
	b, m := crashing(t)
	root := b.Objects[0].object()
	got := Look(t.Context(), forbidding{m, []string{"events"}}, []Root{{Key: keyOf("", "Pod", root), Object: root}}, Ask{App: "web", Now: now()})
	if len(got.Items) != 1 || got.Items[0].Code != "Crash" || !slices.Equal(got.Warnings, []string{"may not list events in namespace shop"}) {
		t.Errorf("without Events it finds %+v", got)
	}
	blind := b.look(t, m, Ask{Blind: "the agent's owner forbids it"})
	if len(blind.Items) != 1 || blind.Items[0].Code != "Crash" || !slices.Equal(blind.Warnings, []string{"Events are not looked at: the agent's owner forbids it"}) {
		t.Errorf("where Events may not be read it finds %+v", blind)
	}
}
