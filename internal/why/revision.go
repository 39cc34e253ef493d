package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// Revisions says at which revisions an Application is, as far as the Application itself shows: not where its branches are.
func Revisions(f Facts) api.RevisionStatus {
	app := f.App
	out := api.RevisionStatus{ComparedAt: timeOf(app.Status.ReconciledAt), Sources: []api.SourceRevisions{}}
	compared := revisions(app.Status.Sync.Revision, app.Status.Sync.Revisions)
	var deployed, pinned []string
	if n := len(app.Status.History); n > 0 {
		last := app.Status.History[n-1]
		out.Deployment, out.DeployedAt = last.ID, last.DeployedAt.Time
		deployed = revisions(last.Revision, last.Revisions)
	}
	pin, err := mark.ReadPin(app)
	switch {
	case f.Foreign(): // what another engine does not know pins nothing
	case err != nil:
		out.Warnings = append(out.Warnings, err.Error())
	case pin != nil:
		out.Pinned, out.PinnedAt, pinned = pin.ID, pin.At, pin.Revisions
	}
	sources := app.Spec.EffectiveSources()
	at := func(list []string, i int) string {
		if len(list) != len(sources) { // they are of other sources than there are now
			return ""
		}
		return list[i]
	}
	for i, s := range sources {
		out.Sources = append(out.Sources, api.SourceRevisions{
			RepoURL: redact.URLs(s.RepoURL), TargetRevision: cmp.Or(s.TargetRevision, "HEAD"),
			Compared: at(compared, i), Deployed: at(deployed, i), Pinned: at(pinned, i),
		})
	}
	return out
}

// WithTips adds where branches are, as an agent has reported it.
func WithTips(status api.RevisionStatus, tips api.TipsAnswer) api.RevisionStatus {
	if len(tips.Items) != len(status.Sources) {
		return status
	}
	for i := range status.Sources {
		status.Sources[i].RevisionTip = tips.Items[i]
	}
	status.Same = tips.Same
	return status
}

// RevisionFacts are the revisions of an Application as lines of a name and a value: where each branch is, what was compared,
// deployed and pinned. What is not known has no line.
func RevisionFacts(status api.RevisionStatus, now time.Time) [][2]string {
	var out [][2]string
	var compared, deployed, pinned []string
	for _, s := range status.Sources {
		name := "Tip of " + s.TargetRevision
		if len(status.Sources) > 1 {
			name += " of " + s.RepoURL
		}
		value := short([]string{s.Tip})
		if s.Tip == "" && !s.TipSeenAt.IsZero() {
			value = "not known"
		}
		if !s.TipSeenAt.IsZero() {
			value += " (looked at " + Age(now.Sub(s.TipSeenAt)) + " ago)"
		}
		if s.TipError != "" {
			value = strings.TrimPrefix(value+"; not known since: "+s.TipError, "; ")
		}
		if value != "" && s.Tip != s.TargetRevision { // a commit id alone has no meaning
			out = append(out, [2]string{name, value})
		}
		compared, deployed, pinned = append(compared, s.Compared), append(deployed, s.Deployed), append(pinned, s.Pinned)
	}
	add := func(name string, revisions []string, more string) {
		if known := slices.DeleteFunc(revisions, func(r string) bool { return r == "" }); len(known) > 0 {
			out = append(out, [2]string{name, short(known) + more})
		}
	}
	same := ""
	if status.Same {
		same = "; newer commits change nothing that it renders"
	}
	add("Compared", compared, since(status.ComparedAt, now)+same)
	add("Deployed", deployed, fmt.Sprintf(", deployment %d%s", status.Deployment, since(status.DeployedAt, now)))
	add("Pinned", pinned, fmt.Sprintf(", deployment %d%s", status.Pinned, since(status.PinnedAt, now)))
	return out
}

// RevisionText prints the revisions of an Application below an answer; nothing where none is known.
func RevisionText(status api.RevisionStatus, now time.Time) string {
	facts := RevisionFacts(status, now)
	if len(facts) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("\nrevisions\n")
	for _, f := range facts {
		fmt.Fprintf(&out, "  %s: %s\n", object.Line(f[0]), object.Line(f[1]))
	}
	return out.String()
}
