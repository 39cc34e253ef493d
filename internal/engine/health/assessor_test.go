package health_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/health"
)

const (
	says   = `return {status = "Degraded", message = "script"}`
	widget = `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"},"status":{"phase":"Ready"}}`
	issuer = `{"apiVersion":"cert-manager.io/v1","kind":"Issuer","status":{"conditions":[{"type":"Ready","status":"True","message":"ok"}]}}`
)

func TestAScriptOfTheUserWinsOverAllElse(t *testing.T) {
	t.Parallel()
	deleted := strings.Replace(rolledOut, `"name":"web"`, `"name":"web","deletionTimestamp":"2026-01-01T00:00:00Z"`, 1)
	for _, c := range []struct{ name, key, source, object, want string }{
		{"over a built-in kind", "apps/Deployment", says, rolledOut, "Degraded: script"},
		{"over the rules of a custom kind", "cert-manager.io/Issuer", says, issuer, "Degraded: script"},
		{"for a kind that nobody knows", "shop.example.com/Widget", says, widget, "Degraded: script"},
		{"in the core group", "Pod", says, readyPod, "Degraded: script"},
		{"for all kinds of a domain", "*.example.com/*", says, widget, "Degraded: script"},
		{"for all kinds", "*", says, widget, "Degraded: script"},
		{"but not for another kind", "shop.example.com/Gadget", says, widget, "none"},
		{"but not for another domain", "*.example.org/*", says, issuer, "Healthy: ok"},
		{"but not while an object is deleted", "apps/Deployment", says, deleted, "Progressing: Pending deletion"},
		{"even if it says nothing", "cert-manager.io/Issuer", `return {}`, issuer, "none"},
		{"reading the object", "*/Widget", `return {status = "Healthy", message = obj.status.phase}`, widget, "Healthy: Ready"},
		{"but its status must exist", "*/Widget", `return {status = "Fine"}`, widget, "Unknown: Lua returned an invalid health status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := "none"
			if r, ok := health.New(map[string]health.Script{c.key: {Source: c.source}}).Assess(parse(t, c.object)); ok {
				got = r.String()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestABrokenScriptGivesUnknownAndSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"it cannot be compiled": {`return {`, "health script of */Widget"},
		"it fails":              {`return obj.spec.size.x`, "attempt to index"},
		"it never ends":         {`while true do end`, "takes more than it may"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ok := health.New(map[string]health.Script{"*/Widget": {Source: c.source}}).Assess(parse(t, widget))
			if !ok || r.Status != health.Unknown || !strings.Contains(r.Message, c.want) {
				t.Errorf("got %v, %s; want Unknown with %q", ok, r, c.want)
			}
		})
	}
}

func TestANamedKindWinsOverAPatternAndALongerPatternOverAShorter(t *testing.T) {
	t.Parallel()
	as := func(m string) health.Script {
		return health.Script{Source: `return {status = "Healthy", message = "` + m + `"}`}
	}
	a := health.New(map[string]health.Script{"shop.example.com/Widget": as("named"), "*.example.com/*": as("domain"), "*/*": as("all")})
	for object, want := range map[string]string{
		widget: "Healthy: named", strings.Replace(widget, `"Widget"`, `"Gadget"`, 1): "Healthy: domain", issuer: "Healthy: all",
	} {
		if r, _ := a.Assess(parse(t, object)); r.String() != want {
			t.Errorf("got %s, want %s", r, want)
		}
	}
}

func TestAScriptKnowsTheTimeOnlyFromTheClockItIsGiven(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	script := health.Script{Source: `local os = require("os"); return {status = "Healthy", message = os.date("!%Y")}`}
	a := health.New(map[string]health.Script{"*/Widget": script}).WithClock(func() time.Time { return now })
	if r, _ := a.Assess(parse(t, widget)); r.String() != "Healthy: 2026" {
		t.Errorf("got %s", r)
	}
}

func TestAnAssessorKnowsTheKindsOfItsScripts(t *testing.T) {
	t.Parallel()
	a := health.New(map[string]health.Script{"*.example.com/*": {Source: says}})
	for _, c := range []struct {
		group, kind string
		want        bool
	}{
		{"shop.example.com", "Widget", true},
		{"apps", "Deployment", true},
		{"cert-manager.io", "Issuer", true},
		{"", "ConfigMap", false},
		{"cert-manager.io", "Nothing", false},
		{"example.com", "Widget", false},
	} {
		if got := a.Knows(c.group, c.kind); got != c.want {
			t.Errorf("knows %s/%s: %v", c.group, c.kind, got)
		}
	}
}
