package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// version is what the linker puts here (see the Makefile); empty in a plain go build.
var version string

func newVersionCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  slipway version\n  slipway version -o json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return versionRun(common) },
	}
}

func versionRun(common *connect.Common) error {
	name, commit := "devel", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			name = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	if version != "" {
		name = version
	}
	if common.Output != iostream.Table {
		return common.Print(common.Output, map[string]any{"version": name, "commit": commit, "go": runtime.Version()})
	}
	_, err := fmt.Fprintf(common.Out, "slipway %s %s\n", name, runtime.Version())
	return err
}
