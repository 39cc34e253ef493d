package declare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

type editOptions struct {
	*connect.Common
	name, file, reason string
	dryRun             bool
}

func (k *kind) edit(common *connect.Common) *cobra.Command {
	o := editOptions{Common: common}
	cmd := &cobra.Command{
		Use: "edit NAME", Short: "Change one in an editor, or from a file", Args: cobra.ExactArgs(1), ValidArgsFunction: k.complete(common),
		Long: "Open the resource in $VISUAL, $EDITOR or vi, and write your changes. With -f, a file replaces the editor: it has\n" +
			"to be what `slipway " + k.use + " get " + k.example +
			" -o yaml` printed, changed. Removed fields are deleted; a change by another user in the meantime\n" +
			"is an error, and nothing is lost.",
		Example: fmt.Sprintf("  slipway %s edit %s\n  EDITOR=nano slipway %s edit %s --reason 'a new team'\n  slipway %s edit "+
			"%s -f %s.yaml --dry-run",
			k.use, k.example, k.use, k.example, k.use, k.example, k.example),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return k.editRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "manifest `file` to change it to, - for standard input")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only validate at the API server, and write nothing")
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, for the audit log of a server")
	return cmd
}

func (k *kind) editRun(ctx context.Context, o editOptions) error {
	var given *unstructured.Unstructured
	if o.file != "" { // what is wrong with it needs no server
		var err error
		if given, err = k.readOne(o, o.file); err != nil {
			return err
		}
	}
	place, err := k.place(o.Common)
	if err != nil {
		return err
	}
	base, err := place.get(ctx, o.name)
	if err != nil {
		return err
	}
	if given != nil {
		return k.write(ctx, o, place, base, o.file, given)
	}
	dir, err := os.MkdirTemp("", "slipway-edit-") // readable only for the user
	if err != nil {
		return fmt.Errorf("make a file to edit: %w", err)
	}
	file := filepath.Join(dir, base.obj.GetName()+".yaml")
	if err := o.open(ctx, file, base.obj); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	obj, err := k.readOne(o, file)
	if err == nil {
		err = k.write(ctx, o, place, base, file, obj)
	}
	if err != nil {
		return fmt.Errorf("%w; what you wrote is kept in %s", err, file)
	}
	return os.RemoveAll(dir)
}

// readOne reads the one resource of a file.
func (k *kind) readOne(o editOptions, file string) (*unstructured.Unstructured, error) {
	docs, err := manifest.Read(file, o.In)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, iostream.Usagef("%s has %d resources: one is changed at a time", file, len(docs))
	}
	obj := withoutStatus(&unstructured.Unstructured{Object: docs[0]})
	if err := k.check(obj); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return obj, nil
}

// withoutStatus is what people write of a resource.
func withoutStatus(obj *unstructured.Unstructured) *unstructured.Unstructured {
	out := obj.DeepCopy()
	delete(out.Object, "status")
	return out
}

// open starts an editor on a file with the resource.
func (o *editOptions) open(ctx context.Context, file string, obj *unstructured.Unstructured) error {
	raw, err := iostream.Encode(iostream.YAML, withoutStatus(obj).Object)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return fmt.Errorf("write a file to edit: %w", err)
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if text := os.Getenv(name); text != "" {
			editor = text
		}
	}
	// The setting of the editor can contain arguments, so a shell reads it, as for other programs.
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file) //nolint:gosec // the user's own editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.In, iostream.Bare(o.Out), iostream.Bare(o.Err)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("edit with %s: %w; set EDITOR to a program that there is, or give a file with -f", editor, err)
	}
	return nil
}

// write sends what the file says, where it is something else than there is.
func (k *kind) write(ctx context.Context, o editOptions, place place, base found, file string, obj *unstructured.Unstructured) error {
	if err := manifest.Place([]*unstructured.Unstructured{obj}, base.obj.GetNamespace()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if obj.GetName() != base.obj.GetName() {
		return iostream.Usagef("%s is about %s, and this about %s: a name never changes; make another one with `slipway %s create`", file,
			obj.GetName(), base.obj.GetName(), k.use)
	}
	if v := obj.GetResourceVersion(); v != "" && v != base.obj.GetResourceVersion() {
		return fmt.Errorf("%s %s was changed by another user since %s was made: read it again and repeat the change", k.called, o.name, file)
	}
	same, err := alike(withoutStatus(base.obj), obj)
	if err != nil {
		return err
	}
	if same {
		o.Sayf("%s %s: nothing was changed", k.called, o.name)
		return nil
	}
	made, err := place.change(ctx, base, obj, o.dryRun, o.reason)
	if err != nil {
		return err
	}
	return noun.Done(o.Common, k.called+" "+o.name, "changed", o.dryRun, made.Object)
}

// alike compares what two resources say, however their numbers are kept.
func alike(x, y *unstructured.Unstructured) (bool, error) {
	y = y.DeepCopy()
	y.SetResourceVersion(x.GetResourceVersion())
	a, err := x.MarshalJSON()
	if err != nil {
		return false, fmt.Errorf("encode %s: %w", x.GetName(), err)
	}
	b, err := y.MarshalJSON()
	if err != nil {
		return false, fmt.Errorf("encode %s: %w", y.GetName(), err)
	}
	return bytes.Equal(a, b) || equality.Semantic.DeepEqual(x.Object, y.Object), nil
}
