package act

import (
	"cmp"
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/engine/action"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// remote is a live object of an application at a server: its agent lists and runs actions.
type remote struct {
	server *connect.Server
	app    client.Application
	ref    api.ResourceRef
}

// findRemote finds the object that --app and --resource name at a server; nil where the command is about a file or a
// cluster.
func findRemote(ctx context.Context, s *subject) (*remote, error) {
	if s.file != "" {
		return nil, nil //nolint:nilnil // no server is no error
	}
	key, err := readResource(s.resource)
	if err != nil {
		return nil, err
	}
	server, err := s.Server()
	if err != nil || server == nil {
		return nil, err
	}
	app, err := server.Application(ctx, s.app)
	if err != nil {
		return nil, err
	}
	return &remote{server, app, api.ResourceRef{Group: key.Group, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name}}, nil
}

// name prints "Deployment shop/web".
func (r *remote) name() string {
	place := r.ref.Name
	if r.ref.Namespace != "" {
		place = r.ref.Namespace + "/" + place
	}
	return r.ref.Kind + " " + place
}

func (r *remote) list(ctx context.Context) ([]action.Action, error) {
	answer, err := r.app.Actions(ctx, r.ref)
	if err != nil {
		return nil, r.server.Explain(err)
	}
	out := []action.Action{}
	for _, a := range answer.Actions {
		one := action.Action{Name: a.Name, DisplayName: a.DisplayName, Disabled: a.Disabled, Params: []string{}}
		for _, p := range a.Parameters {
			one.Params = append(one.Params, p.Name)
		}
		out = append(out, one)
	}
	return out, nil
}

func (r *remote) run(ctx context.Context, called string, params map[string]string, dryRun bool) ([]action.Impact, error) {
	answer, err := r.app.Act(ctx, api.ResourceAction{Resource: r.ref, Action: called, Parameters: params, DryRun: dryRun})
	if err != nil {
		return nil, r.server.Explain(err)
	}
	out := []action.Impact{}
	for _, i := range answer.Impacts {
		obj, err := object.DecodeJSON(i.Object)
		if err != nil {
			return nil, fmt.Errorf("read what %s made: %w", cmp.Or(called, "the action"), err)
		}
		out = append(out, action.Impact{Operation: action.Operation(i.Operation), Object: obj})
	}
	return out, nil
}
