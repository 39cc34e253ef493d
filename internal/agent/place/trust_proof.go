package place

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/project"
)

// proven judges a chart or an artifact by all that its project asks for: what one kind of signature says is never taken for another.
func (t *Trust) proven(ctx context.Context, claim trust.Claim) (string, error) {
	var signers []string
	rest := claim.Policy
	rest.Helm, rest.Notation = nil, project.Notation{}
	for _, kind := range []struct {
		asked bool
		judge func(context.Context, trust.Claim) (string, error)
	}{
		{rest.Asks(), t.artifact},
		{claim.Policy.Notation.Asks(), t.notation},
		{len(claim.Policy.Helm) > 0, t.chart},
	} {
		if !kind.asked {
			continue
		}
		signer, err := kind.judge(ctx, claim)
		if err != nil {
			return "", err
		}
		signers = append(signers, signer)
	}
	if len(signers) == 0 {
		return "", errors.New("the project asks for a kind of signature that this agent does not verify: upgrade the agent")
	}
	return strings.Join(signers, " and "), nil
}

// question is what is asked about one artifact.
type question struct {
	kind    string
	about   []any  // everything that the answer depends on but the keys
	edition string // of the keys
}

// remembered answers from memory, where the answer still holds, and asks otherwise. Only what ask returns with an answer is kept; its
// error means that nothing is known.
func (t *Trust) remembered(ctx context.Context, q question, now time.Time, ask func() (signedBy, error)) (string, error) {
	raw, err := json.Marshal([]any{q.kind, q.edition, q.about})
	if err != nil {
		return "", err
	}
	about := string(raw)
	t.mu.Lock()
	had, known := t.signed[about]
	round := t.version
	t.mu.Unlock()
	if known && had.holds(now) {
		return had.signer, had.err
	}
	// Many Applications may ask about one artifact at the same time.
	back := registry.LeaveAfter(ctx, slowSource)
	defer back()
	end, err := t.asking.Take(ctx, about)
	if err != nil {
		return "", err
	}
	defer end()
	t.mu.Lock()
	had, known = t.signed[about]
	t.mu.Unlock()
	if known && had.holds(now) {
		return had.signer, had.err
	}
	answer, err := ask()
	if err != nil {
		return "", err
	}
	answer.at = now
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.version == round {
		if len(t.signed) >= maxVerdicts {
			clear(t.signed)
		}
		t.signed[about] = answer
	}
	return answer.signer, answer.err
}

// holds reports whether an answer still counts.
func (s signedBy) holds(now time.Time) bool {
	if s.err != nil {
		return now.Sub(s.at) < refusedLife
	}
	return s.until.IsZero() || now.Before(s.until)
}
