// Package app is `slipway app`: the commands on Application resources.
package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

// NewCmd returns the command `app` with its verbs.
func NewCmd(common *connect.Common) *cobra.Command {
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
		newWhyCmd(common),
		newSyncCmd(common),
		newRefreshCmd(common),
		newWaitCmd(common),
		newDiffCmd(common),
		newDriftCmd(common),
		newManifestsCmd(common),
		newTreeCmd(common),
		newLogsCmd(common),
		newEventsCmd(common),
		newExecCmd(common),
		newResourceCmd(common),
		newHistoryCmd(common),
		newRollbackCmd(common),
		newUnpinCmd(common),
		newLinkCmd(common),
		newRestoreCmd(common),
		newConfirmCmd(common),
		newTerminateCmd(common),
		newDeleteCmd(common),
	)
	for _, sub := range cmd.Commands() {
		if sub.ValidArgsFunction == nil && strings.Contains(sub.Use, "NAME") && sub.Name() != "create" {
			sub.ValidArgsFunction = completeNames(common)
		}
	}
	return cmd
}
