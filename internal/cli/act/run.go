package act

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/action"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

type runOptions struct {
	subject
	action string
	params []string
	dryRun bool
}

func newRunCmd(common *connect.Common) *cobra.Command {
	o := runOptions{subject: subject{Common: common}}
	cmd := &cobra.Command{
		Use:   "run ACTION -f FILE | --app NAME --resource RESOURCE",
		Short: "Run an action on objects",
		Long: "Run an action. For objects in a file, it prints the results and writes nothing. On a live object of an\n" +
			"application it writes: what it changes as a merge patch, what it creates after all of it passed a dry run. With\n" +
			"-o json, one line for each object: a list of {\"operation\", \"object\"}, where operation is patch or create.",
		Example: "  slipway action run scale -f deployment.yaml --param replicas=3\n" +
			"  slipway action run create-job --app backup --resource batch/CronJob:backup --dry-run\n" +
			"  slipway action run restart --app web --resource apps/Deployment:shop/web",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.action = args[0]
			return runRun(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringArrayVar(&o.params, "param", nil, "`NAME=VALUE` of a parameter of the action; repeat for several")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only validate at the API server, and write nothing")
	return cmd
}

func runRun(ctx context.Context, o runOptions) error {
	params, err := readParams(o.params)
	if err != nil {
		return err
	}
	r, err := findRemote(ctx, &o.subject)
	if err != nil {
		return err
	}
	if r != nil {
		impacts, err := r.run(ctx, o.action, params, o.dryRun)
		if err != nil {
			return err
		}
		return o.tell(impacts)
	}
	docs, actions, t, err := o.read(ctx)
	if err != nil {
		return err
	}
	answers := make([][]action.Impact, 0, len(docs))
	for _, doc := range docs {
		// No suffix: the name of a CronJob may be so long that one for its Job has no room for more than the time.
		impacts, err := actions.Run(doc, o.action, params, action.Env{Now: time.Now()})
		if err != nil {
			return fmt.Errorf("run %s on %s: %w", o.action, name(doc), err)
		}
		answers = append(answers, impacts)
	}
	if t == nil {
		return o.print(answers)
	}
	if err := t.write(ctx, answers[0], o.dryRun); err != nil {
		return fmt.Errorf("run %s on %s: %w", o.action, name(docs[0]), err)
	}
	for i := range answers[0] {
		if obj := answers[0][i].Object; obj["kind"] == "Secret" {
			answers[0][i].Object, _ = diff.Mask(obj, nil, nil)
		}
	}
	return o.tell(answers[0])
}

// tell prints what was written, or would be.
func (o runOptions) tell(impacts []action.Impact) error {
	if o.Output != iostream.Table {
		return o.print([][]action.Impact{impacts})
	}
	for _, i := range impacts {
		if o.dryRun {
			o.Sayf("would %s", i)
		} else {
			o.Sayf("done: %s", i)
		}
	}
	return nil
}

// print writes what actions want. For people these are YAML documents that kubectl takes as they are.
func (o runOptions) print(answers [][]action.Impact) error {
	switch o.Output {
	case iostream.JSON:
		return lines(o.Streams, answers)
	case iostream.YAML:
		return o.Print(o.Output, answers)
	}
	for _, impacts := range answers {
		for _, i := range impacts {
			text, err := iostream.Encode(iostream.YAML, i.Object)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(o.Out, "---\n# %s\n%s", i.Operation, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func readParams(given []string) (map[string]string, error) {
	params := make(map[string]string, len(given))
	for _, text := range given {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, iostream.Usagef("--param %q: want NAME=VALUE", text)
		}
		if _, twice := params[name]; twice {
			return nil, iostream.Usagef("--param %s is given twice", name)
		}
		params[name] = value
	}
	return params, nil
}
