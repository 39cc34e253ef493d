// Package app is `slipway app`: the commands on Application resources.
package app

import (
	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/access"
)

// NewCmd returns the command `app` with its verbs.
func NewCmd(common *access.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "app",
		Aliases: []string{"application", "apps"},
		Short:   "Create, look at and sync applications",
		Example: "  slipway app list\n  slipway app get web\n  slipway app sync web --wait",
	}
	cmd.AddCommand(
		newCreateCmd(common),
		newListCmd(common),
		newGetCmd(common),
		newSyncCmd(common),
		newRefreshCmd(common),
		newWaitCmd(common),
		newDiffCmd(common),
		newManifestsCmd(common),
		newTreeCmd(common),
		newHistoryCmd(common),
		newDeleteCmd(common),
	)
	return cmd
}
