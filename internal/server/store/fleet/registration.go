package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// usedToken stands before the hash of a one-time token that was used. The hash
// stays until there is another token, so that the agent that used it can be answered again.
const usedToken = "used "

// RegisteredWith returns the agent that a one-time token and a public key
// registered, as long as the token would count. It changes nothing.
func (s *Agents) RegisteredWith(ctx context.Context, tokenHash, publicKey string, now time.Time) (gateway.Agent, error) {
	if tokenHash == "" || publicKey == "" {
		return gateway.Agent{}, gateway.ErrToken
	}
	agent, err := s.readAgent(ctx, "registration_hash = ? AND registration_expires > ? AND public_key = ? AND revoked = 0",
		usedToken+tokenHash, now, publicKey)
	if errors.Is(err, gateway.ErrUnknown) {
		return agent, gateway.ErrToken
	}
	return agent, err
}
