package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// clearPause is the time between two looks at whether another replica has heard what the agent is for.
const clearPause = time.Second

// wrongEngine reports whether the server has refused the engine of the agent.
func wrongEngine(err error) bool {
	var refused *agentapi.Error
	return errors.As(err, &refused) && refused.Code == agentapi.CodeEngine
}

// superseded reports whether the server has welcomed another agent that took over from this one.
func superseded(err error) bool {
	var refused *agentapi.Error
	return errors.As(err, &refused) && refused.Code == agentapi.CodeSuperseded
}

// learn keeps what the server says that the agent is for, so that the next start knows it without asking.
func (r *registrar) learn(ctx context.Context, engine agentapi.Engine) {
	id := r.last()
	if engine == "" || id == nil || id.engine == engine {
		return
	}
	fresh := id.copy()
	fresh.engine = engine
	if !r.cfg.ReadOnly {
		if err := r.secrets.save(ctx, fresh); err != nil {
			r.forget() // the next session tries again
			r.log.Warn("what this agent is for could not be kept", "engine", engine, "err", err)
			return
		}
	}
	r.keepIdentity(fresh)
}

// Cleared returns once it is known that the agent was created for the engine that it runs: two engines must not work on the same
// Applications. An agent that has registered for this engine may begin, with or without a server. One that has never registered
// waits for that, and one that was created for another engine waits until the server reports that this has changed; Run fails
// where it says that it has not. An agent whose server has never named an engine may begin.
func (l *Link) Cleared(ctx context.Context) error {
	if l.cfg.ReadOnly {
		return nil
	}
	ticker := time.NewTicker(clearPause)
	defer ticker.Stop()
	said := ""
	for {
		why, err := l.unclear(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			why = err.Error()
		case why == "":
			return nil
		}
		if why != said {
			l.log.Warn("nothing is worked on yet", "why", why)
			said = why
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case <-l.welcome:
		}
	}
}

// unclear says why it is not known that the agent is for the engine that it runs; "" where it is.
func (r *registrar) unclear(ctx context.Context) (string, error) {
	id, err := r.secrets.load(ctx)
	if err != nil {
		return "", err
	}
	mine := r.cfg.Versions().Engine.Known()
	switch {
	case id == nil || !id.registered():
		return "the agent has not registered at its server yet, which knows what it is for", nil
	case id.engine != "" && id.engine.Known() != mine:
		return fmt.Sprintf("the agent was created for engine %s and runs %s: the server is asked whether that has changed",
			id.engine.Known(), mine), nil
	}
	return "", nil
}
