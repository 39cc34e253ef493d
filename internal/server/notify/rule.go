package notify

import (
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// The bounds of times in rules.
const (
	shortestTime = time.Minute
	longestTime  = 400 * 24 * time.Hour
	// longestRepeat is for how long deliveries are kept at least: what is forgotten is sent again.
	longestRepeat = 30 * 24 * time.Hour
)

// CheckRule says what is wrong with a rule that is to be stored.
func CheckRule(r *api.NotificationRule) error {
	invalid := func(field, format string, args ...any) error {
		return &api.Error{Code: api.CodeInvalid, Message: fmt.Sprintf(format, args...), Field: "body." + field}
	}
	if len(r.Events) == 0 {
		return invalid("events", "a rule is about one event or more: name them")
	}
	for _, event := range r.Events {
		if !slices.Contains(api.NotificationEvents(), event) {
			return invalid("events", "event %.40q is not known: see the description of the API", event)
		}
	}
	slices.Sort(r.Events)
	r.Events = slices.Compact(r.Events)
	for _, t := range []struct {
		field, text string
		longest     time.Duration
	}{{"after", r.After, longestTime}, {"before", r.Before, longestTime}, {"repeat", r.Repeat, longestRepeat}} {
		if t.text == "" {
			continue
		}
		d, err := time.ParseDuration(t.text)
		if err != nil || d < shortestTime || d > t.longest {
			return invalid(t.field, "%s is a time from 1m to %dh, such as 30m or 4h", t.field, int(t.longest.Hours()))
		}
	}
	if r.Selector != "" {
		if _, err := rbac.ParseSelector(r.Selector); err != nil {
			return invalid("selector", "%s", err)
		}
	}
	for field, ids := range map[string][]string{"services": r.Services, "environments": r.Environments} {
		for _, id := range ids {
			if _, _, err := api.ParseID(id); err != nil {
				return invalid(field, "%s: %s", field, err)
			}
		}
	}
	_, err := ReadTemplate(r.Title, r.Text)
	return err
}

// Matches reports whether a rule is about an event.
func Matches(r *api.NotificationRule, e *api.NotificationEvent) bool {
	if r.Paused || !slices.Contains(r.Events, e.Event) || !r.Scope.Contains(e.Object.Scope) {
		return false
	}
	if len(r.Services) > 0 && !slices.Contains(r.Services, e.Service) ||
		len(r.Environments) > 0 && !slices.Contains(r.Environments, e.Environment) {
		return false
	}
	if r.Selector == "" {
		return true
	}
	selector, err := rbac.ParseSelector(r.Selector)
	return err == nil && selector.Matches(e.Labels)
}

// Tell makes the message of a rule about an event; false where it is not about it.
func Tell(r *api.NotificationRule, e *api.NotificationEvent) (title, text string, ok bool) {
	if !Matches(r, e) {
		return "", "", false
	}
	t, err := ReadTemplate(r.Title, r.Text)
	if err == nil {
		title, text, err = t.Render(e)
	}
	if err != nil { // it was read when it was stored: the event has something that it cannot do with
		title, text = legible.Prefix(e.Name+": "+what(e),
			api.MaxNotificationTitle), summary(e)+"\n(The templates of rule "+r.ID+" could not be used: "+err.Error()+")"
	}
	return title, text, true
}

// Sample is an event to try a rule with: the first that it is about.
func Sample(r *api.NotificationRule, now time.Time) *api.NotificationEvent {
	e := &api.NotificationEvent{
		ID: "sample", Event: api.NotifyTest, At: now.UTC(), Object: api.Ref{
			Type: api.TypeApplication, ID: "account.prod/argocd/shop", Scope: r.Scope,
		},
		Name: "shop", Namespace: "argocd", Agent: "account.prod", Labels: map[string]string{"team": "shop"}, Sync: "Synced", Health: "Healthy",
	}
	if len(r.Events) > 0 {
		e.Event = r.Events[0]
	}
	switch e.Event {
	case api.NotifyReverted:
		e.Action, e.Automatic, e.Revision, e.Message = api.LedgerSync, true, "3f2a9c14d6e8b0a2", "successfully synced (all tasks run)"
	case api.NotifySyncSucceeded, api.NotifySyncFailed:
		e.Action, e.Actor, e.Revision, e.Author, e.Subject = api.LedgerSync, "ada", "3f2a9c14d6e8b0a2",
			"Ann Example <ann@example.org>", "Raise the limit"
		e.Message = "one or more objects could not be applied"
	case api.NotifyOutOfSync:
		e.Sync = "OutOfSync"
	case api.NotifyDrift:
		e.Sync, e.Since = "OutOfSync", now.Add(-4*time.Hour).UTC()
	case api.NotifyDegraded:
		e.Health, e.Message = "Degraded", "Deployment web exceeded its progress deadline"
	case api.NotifyHeld:
		e.Message = "the sync would delete 40 of 50 objects"
	case api.NotifyDisconnected, api.NotifyConnected:
		e.Object = api.Ref{Type: api.TypeAgent, ID: "account.prod", Scope: r.Scope}
		e.Name, e.Namespace, e.Since = "prod", "", now.Add(-time.Hour).UTC()
	case api.NotifyCertificate:
		e.Object = api.Ref{Type: api.TypeCert, ID: "account.prod/argocd/git.example.org", Scope: r.Scope}
		e.Name, e.ExpiresAt = "git.example.org", now.Add(72*time.Hour).UTC()
	case api.NotifyToken:
		e.Object = api.Ref{Type: api.TypeToken, ID: "t0k3n1d", Scope: r.Scope}
		e.Name, e.Agent, e.Actor, e.Namespace, e.ExpiresAt = "ci", "", "org.acme.ci", "", now.Add(72*time.Hour).UTC()
	}
	return e
}
