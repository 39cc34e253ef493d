package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/operate"
	"github.com/slipway-gitops/slipway/internal/why"
)

type driftOptions struct {
	*connect.Common
	name string
}

func newDriftCmd(common *connect.Common) *cobra.Command {
	o := driftOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "drift NAME",
		Short: "List changes made in the cluster since the last deployment: field, manager and time",
		Long: "Compare the cluster with the last deployment, and list each field that was changed since, with the manager that\n" +
			"set it and when. Commits that are not deployed yet are no drift; `slipway app diff` shows them. Ignored\n" +
			"differences are left out. Exit code 3 when there is drift.",
		Example: "  slipway app drift web\n  slipway app drift web -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return driftRun(cmd.Context(), o)
		},
	}
	cmd.AddCommand(newDriftAllowCmd(common), newDriftRevertCmd(common))
	return cmd
}

// driftedObject is one object that was changed or deleted in the cluster. Its JSON form is that of `slipway app drift -o json`.
type driftedObject struct {
	Group     string            `json:"group,omitempty"`
	Kind      string            `json:"kind"`
	Namespace string            `json:"namespace,omitempty"`
	Name      string            `json:"name"`
	Missing   bool              `json:"missing,omitempty"` // it was deleted in the cluster
	Fields    []driftedField    `json:"fields,omitempty"`
	Error     string            `json:"error,omitempty"`   // it cannot be compared
	Allowed   *api.AllowedDrift `json:"allowed,omitempty"` // it is left like that until then
}

// driftedField is one field that was changed in the cluster.
type driftedField struct {
	Path  string          `json:"path"`
	Owner *api.FieldOwner `json:"owner,omitempty"` // the manager that set it and changed the object last
}

func driftRun(ctx context.Context, o driftOptions) error {
	answer, err := readDrift(ctx, o.Common, o.name)
	if err != nil {
		return err
	}
	sayWarnings(o.Common, answer.Warnings)
	list := drifted(answer.Items)
	if o.Output != iostream.Table {
		if err := o.Print(o.Output, map[string]any{"items": list}); err != nil {
			return err
		}
	} else if err := o.Streams.Table(driftRows(list, time.Now())); err != nil {
		return err
	}
	if len(list) == 0 {
		o.Sayf("%s: nothing was changed in the cluster", o.name)
		return nil
	}
	return iostream.Differs()
}

func driftRows(list []driftedObject, now time.Time) *iostream.Rows {
	rows := &iostream.Rows{Header: []string{"KIND", "OBJECT", "FIELD", "BY", "SINCE", "AGE", "ALLOWED UNTIL"}}
	for _, d := range list {
		until := ""
		if d.Allowed != nil {
			until = d.Allowed.Until.UTC().Format(time.RFC3339)
		}
		kind, name := kindText(d.Group, d.Kind), objectText(d.Namespace, d.Name)
		if d.Missing {
			rows.Add(kind, name, "the whole object is gone", "", "", "", until)
		}
		if d.Error != "" {
			rows.Add(kind, name, "it cannot be compared: "+d.Error, "", "", "", until)
		}
		for _, f := range d.Fields {
			by, since, age := "", "", ""
			if f.Owner != nil {
				by, since = f.Owner.Manager, f.Owner.Since
				if at, err := time.Parse(time.RFC3339, since); err == nil {
					age = why.Age(now.Sub(at))
				}
			}
			rows.Add(kind, name, f.Path, by, since, age, until)
		}
	}
	return rows
}

// readDrift compares the cluster with what was deployed last.
func readDrift(ctx context.Context, common *connect.Common, name string) (api.DiffAnswer, error) {
	return differences(ctx, diffOptions{Common: common, name: name}, api.DiffRequest{Drift: true})
}

// drifted is drift in the form of this command.
func drifted(list []api.ObjectDiff) []driftedObject {
	out := make([]driftedObject, 0, len(list))
	for _, c := range list {
		d := driftedObject{
			Group: c.Group, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name, Missing: c.Verb == string(diff.Create),
			Error: c.Error, Allowed: c.Allowed,
		}
		for _, f := range c.Fields {
			field := driftedField{Path: f.Path}
			if f.Manager != "" {
				field.Owner = &api.FieldOwner{Manager: f.Manager, Operation: f.Operation, Subresource: f.Subresource, Since: f.Since}
			}
			d.Fields = append(d.Fields, field)
		}
		out = append(out, d)
	}
	return out
}

type driftAllowOptions struct {
	*connect.Common
	name, object  string
	until, reason string
	dryRun        bool
}

func newDriftAllowCmd(common *connect.Common) *cobra.Command {
	o := driftAllowOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "allow NAME [GROUP/]KIND:[NAMESPACE/]NAME --until TIME",
		Short: "Allow drift of one object until a time",
		Long: "Exclude one object from self-heal for a limited time, without turning self-heal off for all. The object stays\n" +
			"out of sync. A new commit, or `slipway app drift revert`, reverts it earlier.",
		Example: "  slipway app drift allow web apps/Deployment:shop/web --until 2h --reason 'scaled up for the sale'\n" +
			"  slipway app drift allow web ConfigMap:shop/settings --until 2030-06-01T08:00:00Z",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name, o.object = args[0], args[1]
			return driftAllowRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.until, "until", "", "until when: a `time` (RFC 3339), or how long from now, for example 2h")
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, for later readers")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only print what would be allowed")
	return cmd
}

func driftAllowRun(ctx context.Context, o driftAllowOptions) error {
	asked, err := operate.ParseObject(o.object)
	if err != nil {
		return usage(err)
	}
	until, err := parseUntil(o.until, time.Now())
	if err != nil {
		return err
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	req := api.AllowRequest{Object: asked, Until: until, Reason: o.reason, DryRun: o.dryRun}
	by := who()
	given := v1alpha1.Allowance{Until: until, Reason: o.reason}
	answer, err := errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		c, err := operate.Allow(app, req, by, time.Now())
		if c.Allowance != nil {
			given = *c.Allowance
		}
		return c, err
	}}.ask(ctx, site, o.name)
	if err != nil {
		return err
	}
	sayWarnings(o.Common, answer.Warnings)
	o.Sayf("%s: %s", o.name, answer.Message)
	if len(answer.Objects) == 1 { // at a server it is not known here otherwise
		given.Group, given.Kind = answer.Objects[0].Group, answer.Objects[0].Kind
		given.Namespace, given.Name = answer.Objects[0].Namespace, answer.Objects[0].Name
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, given)
	}
	return nil
}

// parseUntil reads a time, or how long from now.
func parseUntil(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, iostream.Usagef("--until is missing: drift is allowed for a while only, for example --until 2h")
	}
	at, err := time.Parse(time.RFC3339, text)
	if d, wrong := time.ParseDuration(text); wrong == nil {
		at, err = now.Add(d), nil
	}
	if err != nil {
		return time.Time{}, iostream.Usagef("--until %q is neither a time such as 2030-06-01T08:00:00Z nor a duration such as 2h", text)
	}
	if !at.After(now) {
		return time.Time{}, iostream.Usagef("--until %s is in the past", text)
	}
	return at.UTC().Truncate(time.Second), nil
}
