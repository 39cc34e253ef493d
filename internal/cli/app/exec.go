package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type execOptions struct {
	*connect.Common
	client.Shell
	name, object string
	tty          bool
	ttySaid      bool // the flag was given
}

func newExecCmd(common *connect.Common) *cobra.Command {
	o := execOptions{Common: common}
	cmd := &cobra.Command{
		Use:     "exec NAME POD [-- COMMAND ARG...]",
		Aliases: []string{"terminal"},
		Short:   "Open a terminal in a container of a pod, through a server",
		Long: "Run a shell, or a command, in a container of a pod, named as Pod:[NAMESPACE/]NAME or just its name. It requires the permission\n" +
			"application_exec and an agent that allows it (its default policy does not). The audit log records it.\n" +
			"With a terminal here it has one there. In a pipe, input and output are bytes as they are, and the end of the input is\n" +
			"that of the command's. The exit code is that of the command.",
		Example: "  slipway app exec web Pod:shop/web-5d9c7b6d4f-x2x9z\n  slipway app exec web web-5d9c7b6d4f-x2x9z " +
			"-c proxy -- cat /etc/hosts\n" +
			"  slipway app exec web web-5d9c7b6d4f-x2x9z -- sh -c 'cat > /tmp/in' < in",
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name, o.object, o.Command = args[0], args[1], args[2:]
			o.ttySaid = cmd.Flags().Changed("tty")
			return execRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.Container, "container", "c", "", "`name` of the container (default the first)")
	cmd.Flags().BoolVar(&o.tty, "tty", false, "allocate a terminal or not (default: if the input is one)")
	return cmd
}

func execRun(ctx context.Context, o execOptions) error {
	ref := api.ResourceRef{Kind: "Pod", Name: o.object}
	if noun, err := operate.ParseObject(o.object); err == nil {
		ref = api.ResourceRef{Group: noun.Group, Kind: noun.Kind, Namespace: noun.Namespace, Name: noun.Name}
	}
	if ref.Kind != "Pod" || ref.Group != "" {
		return iostream.Usagef("%s is no pod: `slipway app tree %s` lists those of the application", o.object, o.name)
	}
	server, app, err := served(ctx, o.Common, o.name)
	if err != nil {
		return err
	}
	if err := place(ctx, server, o.name, &ref); err != nil {
		return err
	}
	o.Namespace, o.Pod = ref.Namespace, ref.Name
	in, isFile := o.In.(*os.File)
	keys := isFile && term.IsTerminal(int(in.Fd()))
	if !o.ttySaid {
		o.tty = keys
	}
	o.Pipe = !o.tty
	if o.tty && keys {
		if o.Columns, o.Rows, err = term.GetSize(int(in.Fd())); err != nil {
			o.Columns, o.Rows = 0, 0
		}
	}
	terminal, err := app.Terminal(ctx, o.Shell)
	if err != nil {
		return server.Explain(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = terminal.Close() })
	defer stop()
	defer func() { _ = terminal.Close() }() // it has ended
	if o.tty && keys {
		restore, err := raw(ctx, in, terminal)
		if err != nil {
			return err
		}
		defer restore()
	}
	go typeInto(ctx, terminal, o.In, o.tty) // ends with the process: a read of a terminal cannot be ended
	out := o.Out
	if o.tty { // the programs there draw on it
		out = iostream.Bare(out)
	}
	return show(ctx, out, terminal)
}

// show copies what the terminal shows until it ends. An exit code of the command other than 0 is one of ours.
func show(ctx context.Context, out io.Writer, terminal *client.Terminal) error {
	for {
		data, err := terminal.Recv(ctx)
		var exited *client.Exited
		switch {
		case errors.As(err, &exited) && exited.Code == 0:
			return nil
		case errors.As(err, &exited):
			return &iostream.ExitError{Code: exited.Code}
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return errors.New("the connection ended before the command: whether it goes on is not known; look at the pod, " +
				"and at `slipway agent list`")
		case err != nil:
			return err
		}
		if _, err := out.Write(data); err != nil {
			return err
		}
	}
}

// endOfInput is what a terminal types for the end of the input.
const endOfInput = 0x04

func typeInto(ctx context.Context, terminal *client.Terminal, in io.Reader, tty bool) {
	buffer := make([]byte, 4096)
	for {
		n, err := in.Read(buffer)
		if n > 0 && terminal.Send(ctx, buffer[:n]) != nil {
			return
		}
		if err == nil {
			continue
		}
		if tty {
			_ = terminal.Send(ctx, []byte{endOfInput}) // it may have ended
		} else {
			_ = terminal.EndInput(ctx) // the same
		}
		return
	}
}

// raw sends every key to the other end, and reports the size of this terminal.
func raw(ctx context.Context, in *os.File, terminal *client.Terminal) (restore func(), err error) {
	fd := int(in.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("prepare this terminal: %w", err)
	}
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-sizes:
				if columns, rows, err := term.GetSize(fd); err == nil {
					_ = terminal.Resize(ctx, columns, rows) // the next one will do
				}
			}
		}
	}()
	return func() {
		signal.Stop(sizes)
		close(done)
		_ = term.Restore(fd, state) // no reader is left
	}, nil
}
