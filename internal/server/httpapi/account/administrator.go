package account

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// loss is what a change takes away.
type loss struct {
	// binding goes, or gives something else.
	binding string
	// user goes, or is disabled.
	user string
	// group goes, or becomes something else.
	group   string
	becomes *api.Group
}

// keepAdministrator refuses a change after which no user is left who may do everything: no user could revert it.
func (h *People) keepAdministrator(ctx context.Context, c *core.Call, l loss) error {
	after, err := h.administered(ctx, c, l)
	if err != nil || after {
		return err
	}
	if before, err := h.administered(ctx, c, loss{}); err != nil || !before {
		return err // programs do it here
	}
	return api.Errorf(api.CodeConflict, "no user would be left who may do everything: bind another user to the role %s at the account first",
		api.RoleAdmin)
}

// administered reports whether there is a person who may do everything.
func (h *People) administered(ctx context.Context, c *core.Call, l loss) (bool, error) {
	for _, who := range c.Policy.Administrators(l.binding) {
		found, err := false, error(nil)
		switch who.Type {
		case api.PrincipalUser:
			found, err = h.enters(ctx, who.ID, l)
		case api.PrincipalGroup:
			found, err = h.peopled(ctx, who.ID, l)
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// enters reports whether a user can sign in.
func (h *People) enters(ctx context.Context, id string, l loss) (bool, error) {
	if id == l.user {
		return false, nil
	}
	u, err := h.Users.Get(ctx, id)
	if api.CodeOf(err) == api.CodeNotFound {
		return false, nil
	}
	return err == nil && !u.Disabled, err
}

// peopled reports whether a group has a member who can sign in. Members from an identity provider cannot be shut
// out here.
func (h *People) peopled(ctx context.Context, id string, l loss) (bool, error) {
	group := api.Group{}
	if id == l.group {
		if l.becomes == nil {
			return false, nil
		}
		group = *l.becomes
	} else {
		var err error
		if group, err = h.Groups.Get(ctx, id); err != nil {
			if api.CodeOf(err) == api.CodeNotFound {
				err = nil
			}
			return false, err
		}
	}
	if group.Claim != "" && h.Providers.Methods(ctx).OIDC != "" {
		return true, nil
	}
	for _, member := range slices.Compact(slices.Sorted(slices.Values(group.Members))) {
		if found, err := h.enters(ctx, member, l); found || err != nil {
			return found, err
		}
	}
	return false, nil
}
