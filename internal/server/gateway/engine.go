package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// otherEngine says that an agent runs another engine than it was created for: with one too many, two would work on the same
// Applications; with one too few, none would.
func otherEngine(agent Agent) string {
	if agent.Engine.Known() == agentapi.EngineArgoCD {
		return fmt.Sprintf("agent %s was created for the Argo CD of its cluster, and was started with its own engine, which would work "+
			"on the same applications: start it with --engine argocd (`slipway agent install %[1]s` does), or, when that Argo CD's "+
			"application controller is stopped, `slipway agent update %[1]s --engine slipway`", agent.ID)
	}
	return fmt.Sprintf("agent %s was created for its own engine, and was started with --engine argocd, so possibly no engine works on the "+
		"applications: start it without --engine (`slipway agent install %[1]s` does), or, where an Argo CD is to go on, "+
		"`slipway agent update %[1]s --engine argocd`", agent.ID)
}

// refuseEngine reports an agent that runs another engine than it was created for, once while that goes on.
func (r *reception) refuseEngine(ctx context.Context, agent Agent, why string, now time.Time) {
	var again bool
	at := r.presence.update(agent.UID, func(at *seen) {
		again = at.health.Message == why
		at.id, at.health.Message = agent.ID, why
	})
	if again {
		return
	}
	r.cfg.Log.Warn("an agent runs another engine than it was created for, and was refused", "agent", agent.ID,
		"from", r.conns.address(agent.UID))
	r.refused(ctx, agent, at.health, LinkEvent{Type: LinkEngine, Address: r.conns.address(agent.UID), At: now, Message: why})
}
