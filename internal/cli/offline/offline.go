// Package offline is the commands that need no cluster and no agent: `slipway render`, `slipway diff` and
// `slipway health`, for people and for CI.
package offline

import (
	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

// NewCmds returns the commands.
func NewCmds(common *connect.Common) []*cobra.Command {
	return []*cobra.Command{newRenderCmd(common), newDiffCmd(common), newHealthCmd(common)}
}
