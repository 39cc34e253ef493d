package app

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/legible"
)

func shortRevision(revision string) string { return legible.Revision(revision, 10) }

// revisions joins the revisions of one or several sources.
func revisions(one string, several []string) string {
	if len(several) == 0 {
		return shortRevision(one)
	}
	short := make([]string, len(several))
	for i, r := range several {
		short[i] = shortRevision(r)
	}
	return strings.Join(short, ",")
}

// destination prints "in-cluster/web".
func destination(d v1alpha1.ApplicationDestination) string {
	return cmp.Or(d.Name, d.Server) + "/" + d.Namespace
}

// sourceText prints where a source is, for example "https://host/repo.git apps/web@main".
func sourceText(s v1alpha1.ApplicationSource) string {
	what := cmp.Or(s.Chart, s.Path)
	if s.IsRef() {
		what = "$" + s.Ref
	}
	text := s.RepoURL
	if what != "" {
		text += " " + what
	}
	if s.TargetRevision != "" {
		text += "@" + s.TargetRevision
	}
	return text
}

func syncText(s v1alpha1.ApplicationStatus) string {
	return string(cmp.Or(s.Sync.Status, v1alpha1.SyncStatusUnknown))
}

func healthText(h *v1alpha1.HealthStatus) string {
	if h == nil {
		return ""
	}
	return string(h.Status)
}

// kindText prints "Deployment.apps".
func kindText(group, kind string) string {
	if group == "" {
		return kind
	}
	return kind + "." + group
}

// objectText prints "web/web", or "web" for a cluster-scoped object.
func objectText(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func timeText(t *metav1.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// state prints what people ask first, for example "Synced, Healthy".
func state(status v1alpha1.ApplicationStatus) string {
	return fmt.Sprintf("%s, %s", syncText(status), cmp.Or(status.Health.Status, v1alpha1.HealthUnknown))
}

// operating reports whether a sync is asked for or under way.
func operating(app *v1alpha1.Application) bool {
	return app.Operation != nil || app.Status.OperationState != nil && !app.Status.OperationState.Phase.Completed()
}

// policyText prints the sync policy in words.
func policyText(p *v1alpha1.SyncPolicy) string {
	if !p.AutomatedEnabled() {
		return "on request"
	}
	words := []string{"automated"}
	for _, option := range []struct {
		on   *bool
		name string
	}{{p.Automated.Prune, "prune"}, {p.Automated.SelfHeal, "self-heal"}, {p.Automated.AllowEmpty, "allow-empty"}} {
		if option.on != nil && *option.on {
			words = append(words, option.name)
		}
	}
	return strings.Join(words, ", ")
}
