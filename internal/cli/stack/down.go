package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
)

type downOptions struct {
	*connect.Common
	data    string
	purge   bool
	timeout time.Duration
}

func newDownCmd(common *connect.Common) *cobra.Command {
	o := downOptions{Common: common}
	cmd := &cobra.Command{
		Use:     "down",
		Short:   "Stop what `slipway up` started",
		Example: "  slipway down\n  slipway down --data .run --purge",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return downRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.data, "data", defaultDir(), "`directory` that was given to `slipway up`")
	cmd.Flags().BoolVar(&o.purge, "purge", false, "also delete the directory: the cluster and the demo repository are lost")
	cmd.Flags().DurationVar(&o.timeout, "timeout", time.Minute, "how long stopping may take before it is forced")
	return cmd
}

func downRun(ctx context.Context, o downOptions) error {
	d, err := absolute(o.data)
	if err != nil {
		return err
	}
	pid, lock, err := d.owner()
	if err != nil {
		return err
	}
	if lock == nil {
		// Without a lock this was never ours, and is not ours to delete.
		o.Sayf("nothing runs in %s", d)
		return nil
	}
	defer func() { _ = lock.Close() }()
	if pid == 0 {
		o.Sayf("nothing runs in %s", d)
	} else if err := stop(ctx, lock, pid, o); err != nil {
		return err
	}
	if !o.purge {
		return nil
	}
	if err := forget(d); err != nil {
		o.Sayf("warning: %v", err)
	}
	if err := os.RemoveAll(string(d)); err != nil {
		return fmt.Errorf("delete data directory: %w", err)
	}
	o.Sayf("deleted %s", d)
	return nil
}

// forget takes out the context that is signed in to a server which is deleted.
func forget(d dir) error {
	f, err := readFacts(d)
	if err != nil || f.Server == "" {
		return nil //nolint:nilerr // it never came so far
	}
	return remote.Update(func(contexts *remote.Contexts) error {
		if have, ok := contexts.Get(f.Context); ok && (have.Data == string(d) || have.Data == "" && have.Server == f.Server) {
			contexts.Delete(f.Context)
		}
		return nil
	})
}

// stop asks the process to stop everything and waits until it has given its lock up.
func stop(ctx context.Context, lock *os.File, pid int, o downOptions) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	done := make(chan error, 1)
	go func() { done <- released(lock) }()
	timer := time.NewTimer(o.timeout)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("wait for process %d: %w", pid, err)
		}
		o.Sayf("stopped")
		return nil
	case <-ctx.Done():
	case <-timer.C:
	}
	// A killed process gives its lock up immediately, so the wait below ends.
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if err := <-done; err != nil {
		return fmt.Errorf("wait for process %d: %w", pid, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	o.Sayf("stopped by force after %s", o.timeout)
	return nil
}
