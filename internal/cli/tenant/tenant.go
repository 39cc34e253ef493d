// Package tenant is `slipway org` and `slipway project`, what agents and applications belong to, and `slipway settings`, those
// of the server.
package tenant

import (
	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// NewCmds returns the commands.
func NewCmds(common *connect.Common) []*cobra.Command {
	return []*cobra.Command{newOrgCmd(common), newProjectCmd(common), newSettingsCmd(common)}
}

func newOrgCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.Organization, *api.Organization]{
		Use: "org", Aliases: []string{"organization", "orgs"}, Called: "organization", Short: "Organizations, which contain projects",
		Entities: (*client.Client).Organizations, ID: noun.Named, Name: "acme",
		Header: []string{"DISPLAY NAME"}, Row: func(o *api.Organization) []string { return []string{o.DisplayName} },
		Example: "  slipway org create acme --display-name 'Acme Inc.'",
	}
	return n.Cmd(common)
}

func newProjectCmd(common *connect.Common) *cobra.Command {
	n := &noun.Noun[api.Project, *api.Project]{
		Use: "project", Aliases: []string{"projects"}, Called: "project", Short: "Projects, which contain the applications of a team",
		Entities: (*client.Client).Projects, ID: noun.Nested, Name: "acme.shop",
		Header: []string{"ORGANIZATION", "DISPLAY NAME"},
		Row:    func(p *api.Project) []string { return []string{p.Organization, p.DisplayName} },
		Named: func(p *api.Project, id string) error {
			var err error
			p.Organization, _, err = api.ParseProjectID(id)
			return err
		},
		Example: "  slipway project create acme.shop --display-name 'Web shop'\n" +
			"  slipway agent mapping set account.prod shop acme.shop    # what the AppProject shop has belongs to it",
	}
	return n.Cmd(common)
}
