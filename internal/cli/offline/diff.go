package offline

import (
	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/delta"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

type diffOptions struct {
	*connect.Common
	desired string
	live    string
	ignore  []string
	manager string
}

func newDiffCmd(common *connect.Common) *cobra.Command {
	o := diffOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "diff --desired FILE --live FILE",
		Short: "Compare desired with live objects, from files alone",
		Long: "Predict what applying the objects of one file to those of another would change, and print it as unified diffs.\n" +
			"Objects are matched by kind, namespace and name; live ones that are not desired are ignored. Values of Secrets\n" +
			"are masked. Exit code 3 when something would change.",
		Example: "  slipway diff --desired rendered.yaml --live live.yaml\n" +
			"  slipway render --app app.yaml --repo . | slipway diff --desired - --live live.yaml   # manifests that name their namespace",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return diffRun(o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.desired, "desired", "", "`file` with the desired objects, - for standard input")
	flags.StringVar(&o.live, "live", "", "`file` with the live objects, - for standard input")
	flags.StringArrayVar(&o.ignore, "ignore", nil, "JSON `pointer` to an ignored field; repeat for several")
	flags.StringVar(&o.manager, "field-manager", "", "field manager that applies the objects (default: use kubectl's annotation)")
	return cmd
}

func diffRun(o diffOptions) error {
	switch {
	case o.desired == "" || o.live == "":
		return iostream.Usagef("give both files, with --desired and --live")
	case o.desired == "-" && o.live == "-":
		return iostream.Usagef("only one of the files can be standard input")
	}
	desired, err := manifest.Read(o.desired, o.In)
	if err != nil {
		return err
	}
	live, err := manifest.Read(o.live, o.In)
	if err != nil {
		return err
	}
	at := make(map[object.Key]map[string]any, len(live))
	for _, obj := range live {
		m, err := object.NewManifest(obj)
		if err != nil {
			return err
		}
		at[m.Key] = obj
	}
	var changes []inspect.Change
	for _, obj := range desired {
		m, err := object.NewManifest(obj)
		if err != nil {
			return err
		}
		result := diff.Compare(obj, at[m.Key], diff.CompareOptions{IgnorePaths: o.ignore, Manager: o.manager})
		if result.Modified {
			changes = append(changes, inspect.Change{Key: m.Key, Before: result.Normalized, After: result.Predicted})
		}
	}
	list, err := inspect.Describe(changes, inspect.Options{})
	if err != nil {
		return err
	}
	return delta.Print(o.Common, list, false)
}
