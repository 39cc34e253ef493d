package link

import (
	"context"
	"errors"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// Records is what waits to be reported of operations. Its methods are called from any goroutine.
type Records interface {
	// Begin says that a session begins: what was sent and not answered is sent again.
	Begin()
	// Next returns what is to be sent, nil for nothing. It is answered, or refused, before it is called again.
	Next() *agentapi.Records
	// Answered takes in the server's answer.
	Answered(sent *agentapi.Records, ack agentapi.RecordAck)
	// Refused says that the server cannot read it at all.
	Refused(sent *agentapi.Records, why error)
	// Wake has something in it when there may be something to send.
	Wake() <-chan struct{}
}

// records sends what operations were.
func (s *session) records(ctx context.Context) error {
	r := s.link.cfg.Records
	if r == nil || !s.ledger {
		return nil
	}
	r.Begin()
	for {
		next := r.Next()
		if next == nil {
			select {
			case <-ctx.Done():
				return nil
			case <-r.Wake():
			}
			continue
		}
		next.Epoch = s.epoch
		ack, err := request(ctx, s, agentapi.UpRecord(s.id.uid), next, func(a agentapi.RecordAck) *agentapi.Error { return a.Error })
		var refused *agentapi.Error
		switch {
		case err == nil:
			r.Answered(next, ack)
		case errors.As(err, &refused) && (refused.Code == agentapi.CodeMalformed || refused.Code == agentapi.CodeTooLarge):
			r.Refused(next, err)
		default:
			return s.end(ctx, err)
		}
	}
}

// Prepare finds out who the agent is, so that its first operation is recorded already. An agent without an identity records
// nothing.
func (r *registrar) Prepare(ctx context.Context) {
	if r.secrets == nil || r.known() != nil {
		return
	}
	id, err := r.secrets.load(ctx)
	if err != nil {
		r.log.Warn("the identity of the agent cannot be read yet: earlier operations are not in the ledger", "err", err)
		return
	}
	if id != nil && id.registered() {
		r.keepIdentity(id)
	}
}

// RecordKey returns what secret values are hashed with in records of operations; nil before the agent has registered, and where
// it writes nothing.
func (r *registrar) RecordKey() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.identity == nil || !r.identity.registered() || r.cfg.ReadOnly {
		return nil
	}
	return r.identity.records
}
