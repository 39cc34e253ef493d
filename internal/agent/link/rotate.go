package link

import (
	"bytes"
	"context"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// rotate carries out KindRotate: it makes the next keys, keeps them, announces the next key, and asks for a session with it.
// Where it is interrupted, the next session is made with whichever key the server takes. The keys are new ones each time:
// those of a rotation that was interrupted may be why there is another.
func (l *Link) rotate(ctx context.Context, cmd agentapi.Command) (any, error) {
	if len(cmd.Body) > 0 && string(cmd.Body) != "null" {
		if err := strict.Decode(cmd.Body, &struct{}{}); err != nil {
			return nil, &agentapi.Error{Code: agentapi.CodeUnsupported, Message: "a rotation takes no options: " + err.Error()}
		}
	}
	l.keys.Lock()
	defer l.keys.Unlock()
	l.mu.Lock()
	s := l.session
	l.mu.Unlock()
	id := l.last()
	if s == nil || id == nil {
		return nil, &agentapi.Error{
			Code: agentapi.CodeDisconnected, Message: "the connection was lost before the next key was announced: send it again",
		}
	}
	if l.known() == nil { // a write failed, and may still have been done
		fresh, err := l.secrets.load(ctx)
		if err != nil {
			return nil, err
		}
		if fresh == nil || fresh.uid != id.uid {
			return nil, errRaced
		}
		id = fresh
	}
	next, err := nextKeys(id, s)
	if err != nil {
		return nil, err
	}
	if err := l.secrets.save(ctx, next); err != nil {
		l.forget() // it may still have been written
		return nil, err
	}
	l.keepIdentity(next)
	public, err := publicKey(next.next)
	if err != nil {
		return nil, err
	}
	in := agentapi.Rotation{Epoch: s.currentEpoch(), PublicKey: public}
	text := agentapi.RotationText(next.uid, in.Epoch, public)
	if in.Signature, err = sign(s.seed, text); err != nil {
		return nil, err
	}
	if in.Proof, err = sign(next.next, text); err != nil {
		return nil, err
	}
	_, err = request(ctx, s, agentapi.UpRotate(next.uid), in, func(a agentapi.RotationAck) *agentapi.Error { return a.Error })
	if err != nil {
		return nil, err
	}
	select {
	case l.again <- struct{}{}:
	default: // asked for already
	}
	return map[string]string{"publicKey": public}, nil
}

// nextKeys is an identity with new keys to come.
func nextKeys(id *identity, s *session) (*identity, error) {
	seed, err := newSeed()
	if err != nil {
		return nil, err
	}
	seal, err := newSealKey()
	if err != nil {
		return nil, err
	}
	next := id.copy()
	// The server takes the key of this session. That it is the present one may not have been written.
	next.seed, next.next = s.seed, seed
	next.seal = []SealKey{seal, s.id.seal[0]} // what is in transit is sealed to the one that this session began with
	return next, nil
}

// confirm makes the next key the present one, once a session was made with it. Where that cannot be written, the next
// session tries again: until then both are kept.
func (r *registrar) confirm(ctx context.Context, id *identity, seed []byte) {
	if len(id.next) == 0 || !bytes.Equal(seed, id.next) {
		return
	}
	fresh := id.copy()
	fresh.seed, fresh.next = id.next, nil
	if err := r.secrets.save(ctx, fresh); err != nil {
		r.forget()
		r.log.Warn("the agent has another key, which could not be written; it is tried again", "err", err)
		return
	}
	r.keepIdentity(fresh)
	r.log.Info("the agent has another key now", "agent", id.agent)
}
