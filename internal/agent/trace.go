package agent

import (
	"context"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/trace"
)

// traces follows work through the agent. Nil if it is off: nothing is done then. The engine knows nothing of
// it; its stages become spans from the times that it reports.
type traces struct {
	*trace.Tracer

	mu      sync.Mutex
	written map[registry.Name]string // the trace in which an Application was written last, until that is reported
}

func newTraces(t *trace.Tracer) *traces {
	if t == nil {
		return nil
	}
	return &traces{Tracer: t, written: map[registry.Name]string{}}
}

// moved begins the trace of a revision that moved, for the Applications that it concerns, and returns its traceparent.
func (t *traces) moved(revision string) string {
	if t == nil {
		return ""
	}
	ctx, span := t.Start(context.Background(), "revision moved", "slipway.target_revision", revision)
	span.Done()
	return trace.Parent(ctx)
}

// turn begins the span of a turn.
func (t *traces) turn(ctx context.Context, id registry.Name, parent string) (context.Context, *trace.Span) {
	if t == nil {
		return ctx, nil
	}
	return t.Start(trace.Trusted(ctx, parent), "reconcile", "slipway.application", id.Name, "slipway.namespace", id.Namespace)
}

// reconciled adds the stages of a turn, one after the other.
func (t *traces) reconciled(ctx context.Context, span *trace.Span, start time.Time, res engine.Result) {
	if t == nil {
		return
	}
	for _, stage := range []engine.Stage{
		engine.StagePermit, engine.StageFetch, engine.StageVerify, engine.StageRender, engine.StageLive,
		engine.StageCompare, engine.StageApply,
	} {
		if took := res.Times[stage]; took > 0 {
			t.Past(ctx, string(stage), start, start.Add(took))
			start = start.Add(took)
		}
	}
	span.Set("slipway.sync", string(res.Sync), "slipway.health", string(res.Health.Status))
	if len(res.Revisions) > 0 {
		span.Set("slipway.revision", res.Revisions[0])
	}
	if res.Operation != nil {
		span.Set("slipway.phase", string(res.Operation.Phase))
	}
	if res.Err != nil {
		span.Fail(string(res.Err.Stage))
	}
}

// unwritten forgets the trace of a write that failed.
func (t *traces) unwritten(id registry.Name) {
	if t == nil {
		return
	}
	t.mu.Lock()
	delete(t.written, id)
	t.mu.Unlock()
}

// writes notes in which trace an Application is about to be written.
func (t *traces) writes(ctx context.Context, id registry.Name) {
	if t == nil {
		return
	}
	if parent := trace.Parent(ctx); parent != "" {
		t.mu.Lock()
		t.written[id] = parent
		t.mu.Unlock()
	}
}

// of is the trace that an item was written in last, once.
func (t *traces) of(key agentapi.Key) string {
	if t == nil || key.Kind != agentapi.ItemApplication {
		return ""
	}
	id := registry.Name{Namespace: key.Namespace, Name: key.Name}
	t.mu.Lock()
	defer t.mu.Unlock()
	parent := t.written[id]
	delete(t.written, id)
	return parent
}

// commands has commands carried out in the trace of the request, and turns that follow from them too.
func (t *traces) commands(run map[agentapi.Kind]link.Executor,
	ask func(registry.Name, registry.Ask, bool),
) map[agentapi.Kind]link.Executor {
	if t == nil {
		return run
	}
	out := map[agentapi.Kind]link.Executor{}
	for kind, do := range run {
		out[kind] = func(ctx context.Context, cmd agentapi.Command) (any, error) {
			id := registry.Name{Namespace: cmd.Target.Namespace, Name: cmd.Target.Name}
			ctx, span := t.Start(trace.Trusted(ctx, cmd.Traceparent), "command "+string(kind), "slipway.application", id.Name,
				"slipway.namespace", id.Namespace)
			defer span.Done()
			if kind.Nature() == agentapi.Changes && cmd.Target.Kind == agentapi.ItemApplication {
				t.follow(ctx, id, ask) // before the watch reports the change
			}
			body, err := do(ctx, cmd)
			if err != nil {
				span.Fail("failed")
			}
			return body, err
		}
	}
	return out
}

// follow has the next turn of an Application in the trace of ctx.
func (t *traces) follow(ctx context.Context, id registry.Name, wish func(registry.Name, registry.Ask, bool)) {
	wish(id, registry.Ask{Trace: trace.Parent(ctx)}, false)
}
