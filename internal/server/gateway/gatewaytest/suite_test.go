package gatewaytest_test

import (
	"context"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

func TestTheStoreInMemoryIsAStore(t *testing.T) {
	t.Parallel()
	for _, c := range gatewaytest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			m := gatewaytest.NewMemory()
			c.Run(t, gatewaytest.Store{
				Agents: m, Copies: m, Commands: m, AddToken: m.AddToken, Revoke: m.RevokeAgent,
				AddAgent: func(ctx context.Context, name string) (string, error) {
					uid := gateway.NewUID()
					return uid, m.AddAgent(ctx, uid, "account."+name)
				},
			})
		})
	}
}
