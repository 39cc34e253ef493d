package verb

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// foreseeRemoval adds to the answer of a dry run which objects would stay, and what a person would have to confirm.
func (v *applications) foreseeRemoval(ctx context.Context, app *v1alpha1.Application, req api.DeleteApplicationRequest,
	answer any,
) (any, error) {
	out, ok := answer.(api.OperationAnswer)
	if !ok || !req.Cascade {
		return answer, nil
	}
	var p guard.Parting
	if v.ReadBy == agentapi.EngineArgoCD {
		for _, o := range out.Objects {
			if k := keyNamed(o.ObjectName); k.GroupKind() == guard.Definition {
				p.Kept = append(p.Kept, guard.Kept{Key: k, Why: KeptByArgoCD})
			}
		}
	} else {
		var err error
		if p, err = v.Engine.Foresee(ctx, app); err != nil {
			out.Warnings = append(out.Warnings, "what would stay is not known: "+err.Error())
			return out, nil //nolint:nilerr // the answer says it
		}
	}
	for i := range out.Objects {
		k := keyNamed(out.Objects[i].ObjectName)
		if at := slices.IndexFunc(p.Kept, func(kept guard.Kept) bool { return kept.Key == k }); at >= 0 {
			out.Objects[i].Stays = p.Kept[at].Why
		}
	}
	if p.Held != "" {
		out.Warnings = append(out.Warnings, p.Held)
	}
	return out, nil
}

// KeptByArgoCD is why a definition stays where Argo CD deletes an Application.
const KeptByArgoCD = "Argo CD deletes no CustomResourceDefinition with an Application"

func keyNamed(n api.ObjectName) object.Key {
	return object.Key{Group: n.Group, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
}
