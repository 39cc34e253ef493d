package verb

import (
	"context"
	"fmt"
	"time"

	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/setting"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/cause"
	"github.com/slipway-gitops/slipway/internal/clue"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// findingLimit is how long a look for what fails may take.
const findingLimit = 10 * time.Second

// findings says what fails below the objects of an Application. It reads when it is asked, and keeps nothing.
func (v *looks) findings(ctx context.Context, cmd agentapi.Command, req api.FindingsRequest) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	p, err := v.site(ctx, app)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, findingLimit)
	defer cancel()
	roots, unread, err := v.unwell(ctx, p, app)
	if err != nil {
		return nil, err
	}
	core, err := typedcorev1.NewForConfig(p.d.As(place.Actor{}))
	if err != nil {
		return nil, fmt.Errorf("make client for logs: %w", err)
	}
	// The owner of the cluster may have forbidden to read logs or Events: that holds on this way as well.
	policy := v.Settings.Config(link.ConfigPolicy)
	out := clue.Look(ctx, clue.Dynamic{Client: p.read, Core: core}, roots, clue.Ask{
		App: app.Name, Now: v.Now(), Logs: req.Logs,
		Deny:  link.Denied(policy, agentapi.KindResourceLogs, app.Namespace),
		Blind: link.Denied(policy, agentapi.KindResourceEvents, app.Namespace),
	})
	out.Warnings = append(unread, out.Warnings...)
	return out, nil
}

// unwell reads the objects of an Application that may have a finding. Any user who may write the Application can write its
// status: the objects are asked whose they are.
func (v *looks) unwell(ctx context.Context, p *site, app *v1alpha1.Application) ([]clue.Root, []string, error) {
	now := *app
	now.Status.Resources = v.judged(p, v.permitted(app))
	permits := v.Engine.Permits(app)
	var asked []versioned
	for _, r := range cause.Candidates(&now) {
		if key := inspect.KeyOf(&r); permits(key, "") == nil {
			asked = append(asked, versioned{key, r.Version})
		}
	}
	if len(asked) == 0 {
		return nil, nil, nil
	}
	found, unread, err := p.readSome(ctx, asked)
	if err != nil {
		return nil, nil, err
	}
	var out []clue.Root
	for _, a := range asked {
		obj := found[a.Key]
		if owner, _ := p.cluster.Tracking.Owner(obj, a.Key); obj == nil || owner != p.instance || holdsData(a.GroupKind()) {
			continue
		}
		out = append(out, clue.Root{Key: a.Key, Object: obj})
	}
	return out, unread, nil
}

// holdsData reports whether objects of a kind hold data that no finding is about.
func holdsData(kind object.Kind) bool {
	return kind == object.Kind{Kind: "Secret"} || kind == object.Kind{Kind: "ConfigMap"}
}

// Bounds of a look at the tips of branches.
const (
	tipLimit = 8 * time.Second
	// tipAge is how old an answer from memory may be: the agent looks at what its Applications follow far more often.
	tipAge = 10 * time.Minute
	// tipAgeBeside is that beside an Argo CD, where nothing is followed.
	tipAgeBeside = time.Minute
)

// tips says where the branches of an Application are, from what is known where that is not old.
func (v *looks) tips(ctx context.Context, cmd agentapi.Command) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	src, ok := v.Engine.Sources.(*place.Sources)
	if !ok {
		return nil, command.Refuse(agentapi.CodeUnsupported, "this agent reads no repositories")
	}
	rules, err := setting.RulesFor(v.Engine.Projects, v.Namespace, app.Spec.ProjectName(), app.Namespace)
	if err != nil {
		return nil, err
	}
	age := tipAge
	if v.ReadBy == agentapi.EngineArgoCD {
		age = ageBeside(app, v.Now())
	}
	ctx, cancel := context.WithTimeout(ctx, tipLimit)
	defer cancel()
	out := api.TipsAnswer{Items: []api.RevisionTip{}}
	moved := false
	for i, s := range app.Spec.EffectiveSources() {
		tip := api.RevisionTip{}
		err := rules.PermitsChart(s.RepoURL, s.Chart)
		if err == nil {
			tip.Tip, tip.TipSeenAt, err = src.Tip(ctx, app.Spec.ProjectName(), s, age)
		}
		if err != nil {
			tip.TipError = cause.Say(err.Error(), maxTipError)
		}
		moved = moved || tip.Tip != "" && tip.Tip != status.ComparedRevision(app, i)
		out.Items = append(out.Items, tip)
	}
	out.Same = moved && v.Engine.Unaffected(ctx, app)
	return out, nil
}

// ageBeside is how old what is known of the branches of an Application may be beside an Argo CD: no older than Argo CD's last
// comparison, which would else name a commit that is newer than the tip.
func ageBeside(app *v1alpha1.Application, now time.Time) time.Duration {
	if at := app.Status.ReconciledAt; at != nil && now.After(at.Time) {
		return max(0, min(tipAgeBeside, now.Sub(at.Time)-time.Second)) // the status has whole seconds
	}
	return tipAgeBeside
}

// maxTipError bounds why a tip is not known, in bytes.
const maxTipError = 500
