package access

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// forms lists the ways to name a principal.
const forms = "write the name or e-mail of a user, user:NAME, group:ID such as group:org.acme.developers, " +
	"or serviceaccount:ID such as serviceaccount:org.acme.ci"

// readWho reads user:NAME, group:ID, serviceaccount:ID and what is a user's, which needs no word in front.
func readWho(text string) (api.Principal, error) {
	kind, id, ok := strings.Cut(text, ":")
	switch {
	case text == "":
		return api.Principal{}, nil
	case !ok:
		return api.Principal{Type: api.PrincipalUser, ID: text}, nil
	case id != "" && (kind == api.PrincipalUser || kind == api.PrincipalGroup || kind == api.PrincipalServiceAccount):
		return api.Principal{Type: kind, ID: id}, nil
	}
	return api.Principal{}, iostream.Usagef("%q is not a user, group or service account: %s", text, forms)
}

// known is the principal that a server knows by that name: for an unknown name, the answer would be a "no" that looks like one
// for a principal. Where the caller may not look, the server decides.
func known(ctx context.Context, c *client.Client, who api.Principal) (api.Principal, error) {
	var err error
	switch who.Type {
	case api.PrincipalUser:
		_, err = c.Users().Get(ctx, who.ID)
		if api.CodeOf(err) == api.CodeNotFound && strings.Contains(who.ID, "@") {
			return byEmail(ctx, c, who.ID)
		}
	case api.PrincipalGroup:
		_, err = c.Groups().Get(ctx, who.ID)
	case api.PrincipalServiceAccount:
		_, err = c.ServiceAccounts().Get(ctx, who.ID)
	}
	switch {
	case err == nil || api.CodeOf(err) == api.CodeForbidden:
		return who, nil
	case api.CodeOf(err) == api.CodeNotFound:
		return who, fmt.Errorf("there is no %s %s, or you may not see it: %s", who.Type, who.ID, forms)
	}
	return who, err
}

func byEmail(ctx context.Context, c *client.Client, address string) (api.Principal, error) {
	all, err := c.Users().All(ctx, api.ListOptions{})
	if err != nil {
		return api.Principal{}, err
	}
	return withEmail(all, address)
}

// withEmail is the one user with an address.
func withEmail(all []api.User, address string) (api.Principal, error) {
	var ids []string
	for i := range all {
		if strings.EqualFold(all[i].Email, address) {
			ids = append(ids, all[i].ID)
		}
	}
	switch len(ids) {
	case 0:
		return api.Principal{}, fmt.Errorf("there is no user with the name or e-mail %s, or you may not see them: %s", address, forms)
	case 1:
		return api.Principal{Type: api.PrincipalUser, ID: ids[0]}, nil
	}
	return api.Principal{}, iostream.Usagef("%d users have the e-mail %s: write the name of one of them, %s", len(ids), address,
		strings.Join(ids[:min(len(ids), 10)], ", "))
}
