package agent

import (
	"context"
	"errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/status"
)

// errNotStored is a status that does not say what was written to it.
var errNotStored = errors.New("the stored status does not say it yet")

// confirm writes how far an operation is where the stored status does not tell enough, and returns once it does. app is
// what the status was last written to: the report at the end builds on it.
func (a *turner) confirm(app **v1alpha1.Application) func(
	context.Context, func(*v1alpha1.OperationState) bool, func() v1alpha1.OperationState,
) error {
	id := registry.NameOf(*app)
	return func(ctx context.Context, told func(*v1alpha1.OperationState) bool, state func() v1alpha1.OperationState) error {
		if told((*app).Status.OperationState) {
			return nil
		}
		now := state()
		if !told(&now) {
			return nil // it has more hooks than a status has room for
		}
		patch, err := status.Progress(*app, &now)
		if err != nil {
			return err
		}
		if patch != nil {
			if err := a.write(ctx, *app, patch); err != nil {
				return err
			}
		}
		fresh, ok := a.registry.Get(id)
		if !ok {
			return nil // deleted meanwhile: nobody takes the operation over
		}
		*app = fresh
		if !told(fresh.Status.OperationState) {
			return errNotStored // somebody else wrote something else, such as the wish to end it
		}
		return nil
	}
}
