package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// completeTime is how long a shell may wait for names.
const completeTime = 3 * time.Second

// completeNames gives a shell the names of applications, wherever the command line looks for them.
func completeNames(common *connect.Common) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		site, err := common.Site()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		apps, err := site.List(ctx, "")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		count := map[string]int{}
		for i := range apps {
			count[apps[i].Name]++
		}
		var out []cobra.Completion
		for i := range apps {
			name := apps[i].Name
			if count[name] > 1 || strings.Contains(prefix, "/") {
				name = api.ItemID(apps[i].Agent, apps[i].Namespace, apps[i].Name)
			}
			if strings.HasPrefix(name, prefix) {
				out = append(out, cobra.CompletionWithDesc(name, state(apps[i].Status)))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeObjects is completeNames for the first argument, and the objects of that application for those after.
func completeObjects(common *connect.Common) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return completeNames(common)(cmd, args, prefix)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		site, err := common.Site()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		app, err := site.Get(ctx, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []cobra.Completion
		for _, r := range app.Status.Resources {
			text := r.Kind + ":" + objectText(r.Namespace, r.Name)
			if r.Group != "" {
				text = r.Group + "/" + text
			}
			if strings.HasPrefix(text, prefix) {
				out = append(out, text)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

func newResourceCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resource", Short: "One object of an application, through a server: show, change or delete it",
		Example: "  slipway app resource get web apps/Deployment:web\n  slipway app resource delete web Pod:shop/web-5d9c7b6d4f-x2x9z",
	}
	cmd.AddCommand(newResourceGetCmd(common), newResourcePatchCmd(common), newResourceDeleteCmd(common))
	return cmd
}

func newResourceGetCmd(common *connect.Common) *cobra.Command {
	var desired bool
	cmd := &cobra.Command{
		Use: "get NAME OBJECT", Short: "Print an object as it is in the cluster; values of Secrets are masked", Args: cobra.ExactArgs(2),
		Example: "  slipway app resource get web apps/Deployment:web\n  slipway app resource get web " +
			"ConfigMap:shop/settings --desired -o json",
		ValidArgsFunction: completeObjects(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onObject(cmd.Context(), common, args, func(ctx context.Context, app client.Application, ref api.ResourceRef) error {
				found, err := app.Resource(ctx, ref)
				if err != nil {
					return err
				}
				raw, missing := found.Live, "is not in the cluster"
				if desired {
					raw, missing = found.Desired, "is not wanted"
				}
				if len(raw) == 0 || string(raw) == "null" {
					return fmt.Errorf("%s %s %s; `slipway app tree %s` lists what there is", ref.Kind,
						objectText(ref.Namespace, ref.Name), missing, args[0])
				}
				format := common.Output
				if format == iostream.Table {
					format = iostream.YAML
				}
				return common.Print(format, raw)
			})
		},
	}
	cmd.Flags().BoolVar(&desired, "desired", false, "as Git wants it, in place of what is in the cluster")
	return cmd
}

func newResourcePatchCmd(common *connect.Common) *cobra.Command {
	var req api.ResourcePatch
	var text, file string
	cmd := &cobra.Command{
		Use: "patch NAME OBJECT", Short: "Change an object in the cluster; self-heal, if on, reverts it", Args: cobra.ExactArgs(2),
		Example:           `  slipway app resource patch web apps/Deployment:web --patch '{"spec":{"replicas":3}}' --reason 'sale'`,
		ValidArgsFunction: completeObjects(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			patch, err := readPatch(common, text, file)
			if err != nil {
				return err
			}
			req.Patch = patch
			return onObject(cmd.Context(), common, args, func(ctx context.Context, app client.Application, ref api.ResourceRef) error {
				req.Resource = ref
				raw, err := app.Patch(ctx, req)
				if err != nil {
					return err
				}
				if common.Output != iostream.Table && len(raw) > 0 {
					return common.Print(common.Output, raw)
				}
				return noun.Done(common, ref.Kind+" "+objectText(ref.Namespace, ref.Name), "changed", req.DryRun, nil)
			})
		},
	}
	cmd.Flags().StringVar(&text, "patch", "", "the `JSON` of the patch")
	cmd.Flags().StringVar(&file, "patch-file", "", "`file` with it, - for standard input")
	cmd.Flags().StringVar(&req.Type, "type", "merge", "`merge|json|strategic`")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why, for the audit")
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "only validate at the API server, and write nothing")
	cmd.MarkFlagsMutuallyExclusive("patch", "patch-file")
	cmd.MarkFlagsOneRequired("patch", "patch-file")
	return cmd
}

// maxPatch bounds a patch: an API server takes no object of more than 1.5 MiB.
const maxPatch = 1 << 20

func readPatch(common *connect.Common, text, file string) (json.RawMessage, error) {
	raw := []byte(text)
	if file != "" {
		in := common.In
		if file != "-" {
			f, err := os.Open(file) //nolint:gosec // the user names it
			if err != nil {
				return nil, fmt.Errorf("read patch: %w", err)
			}
			defer func() { _ = f.Close() }() // it was only read
			in = f
		}
		var err error
		if raw, err = io.ReadAll(io.LimitReader(in, maxPatch+1)); err != nil {
			return nil, fmt.Errorf("read patch: %w", err)
		}
	}
	if len(raw) > maxPatch {
		return nil, errors.New("the patch has more than 1 MiB, which no object can hold: change it in Git")
	}
	if !json.Valid(raw) {
		return nil, iostream.Usagef("the patch is no JSON; write, for example, '{\"spec\":{\"replicas\":3}}'")
	}
	if err := strict.Check(raw, nil); err != nil {
		return nil, iostream.Usagef("the patch has more than one meaning: %w", err)
	}
	return raw, nil
}

func newResourceDeleteCmd(common *connect.Common) *cobra.Command {
	var req api.ResourceDelete
	cmd := &cobra.Command{
		Use: "delete NAME OBJECT", Short: "Delete an object in the cluster; the next sync creates objects of Git again", Args: cobra.ExactArgs(2),
		Example:           "  slipway app resource delete web Pod:shop/web-5d9c7b6d4f-x2x9z --reason 'it hangs'",
		ValidArgsFunction: completeObjects(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onObject(cmd.Context(), common, args, func(ctx context.Context, app client.Application, ref api.ResourceRef) error {
				req.Resource = ref
				if err := app.Remove(ctx, req); err != nil {
					return err
				}
				return noun.Done(common, ref.Kind+" "+objectText(ref.Namespace, ref.Name), "deleted", req.DryRun, nil)
			})
		},
	}
	cmd.Flags().BoolVar(&req.Force, "force", false, "do not wait for its end")
	cmd.Flags().BoolVar(&req.Orphan, "orphan", false, "keep the objects that it owns")
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why, for the audit")
	cmd.Flags().BoolVar(&req.DryRun, "dry-run", false, "only validate at the API server, and delete nothing")
	return cmd
}
