package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// openStore opens the database of the flags, as it is; existing: it has to be there.
func (f *flags) openStore(ctx context.Context, say io.Writer, existing bool) (*store.Store, Config, error) {
	cfg, err := f.config(say)
	if err == nil {
		err = cfg.check()
	}
	if err != nil {
		return nil, cfg, err
	}
	if !existing {
		if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
			return nil, cfg, fmt.Errorf("make --data directory: %w", err)
		}
	}
	s, err := store.Open(ctx, db.Config{URL: cfg.Database, Program: cfg.Version, Existing: existing})
	return s, cfg, err
}

func (f *flags) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all that is kept into a file, while the server runs",
		Long: `Write all that is kept into FILE, as it is at one moment, and the server's signing key into FILE.key.
The server may run during the backup. Keep both safe: they contain hashes of passwords and tokens, and agents obey the holder of the key.`,
		Example: "  slipway-server backup --data /var/lib/slipway slipway-2030-06-01.backup",
		Args:    cobra.ExactArgs(1), SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			s, cfg, err := f.openStore(cmd.Context(), cmd.ErrOrStderr(), true)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if err := writeFile(args[0], func(w io.Writer) error { return s.Backup(cmd.Context(), w) }); err != nil {
				return fmt.Errorf("write backup: %w", err)
			}
			if err := copyKey(filepath.Join(cfg.Data, KeyFile), args[0]+".key"); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s.key\n", args[0], args[0])
			return nil
		},
	}
}

func (f *flags) restoreCommand() *cobra.Command {
	var options db.RestoreOptions
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Fill an empty database from a backup; the server must not run",
		Long: `Fill an empty database from FILE, and put the server's signing key of FILE.key into --data where none is.
The server must not run. Users sign in again, and make new API tokens: a backup does not know which sessions and tokens
ended after it. With --keep-tokens the tokens of the backup count again, deleted ones too. Users, groups, roles and bindings
are those of the time of the backup: remove again what was removed since. Agents report what changed since.`,
		Example: "  slipway-server restore --data /var/lib/slipway slipway-2030-06-01.backup",
		Args:    cobra.ExactArgs(1), SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			s, cfg, err := f.openStore(cmd.Context(), cmd.ErrOrStderr(), false)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			in, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("read backup: %w", err)
			}
			defer in.Close() //nolint:errcheck // it was only read
			if err := s.Hold(); err != nil {
				return err
			}
			done, err := s.Restore(cmd.Context(), in, options)
			if err != nil {
				return err
			}
			if err := copyKey(args[0]+".key", filepath.Join(cfg.Data, KeyFile)); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "restored")
			say := cmd.ErrOrStderr()
			switch {
			case options.KeepTokens:
				fmt.Fprintln(say, "API tokens of the backup count again, also those that were deleted after it: delete them again.")
			case done.Tokens > 0:
				fmt.Fprintf(say, "API tokens that are no longer valid: %d. Create new ones for programs, "+
					"and new registration tokens for waiting agents.\n", done.Tokens)
			}
			fmt.Fprintf(say, "Rights are those of %s: disable again the users that were disabled since, "+
				"and remove again the bindings that were removed since.\n",
				done.At.UTC().Format(time.RFC3339))
			return nil
		},
	}
	cmd.Flags().BoolVar(&options.KeepTokens, "keep-tokens", false, "let the API tokens of the backup count again, deleted ones too")
	return cmd
}

// writeFile writes a file that only its owner reads, and leaves none behind that is not whole.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// copyKey copies the signing key, where there is one to copy and none at the end.
func copyKey(from, to string) error {
	raw, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the server's signing key: %w", err)
	}
	err = writeFile(to, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

func (f *flags) migrateCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Migrate the database to this version; the server does this automatically when it starts",
		Example: "  slipway-server migrate --dry-run --data /var/lib/slipway",
		Args:    cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			s, _, err := f.openStore(cmd.Context(), cmd.ErrOrStderr(), false)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if !dry {
				if err := s.Hold(); err != nil {
					return err
				}
			}
			done, err := s.Migrate(cmd.Context(), dry)
			if err != nil {
				return err
			}
			for _, name := range done {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			if len(done) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "the database is at this version")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list the migrations")
	return cmd
}

func (f *flags) passwordCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "reset-password USER",
		Short:   "Give a user a new password, which is printed once and which they have to change",
		Example: "  slipway-server reset-password --data /var/lib/slipway admin",
		Args:    cobra.ExactArgs(1), SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			s, cfg, err := f.openStore(cmd.Context(), cmd.ErrOrStderr(), true)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if err := s.Settled(cmd.Context()); err != nil {
				return err
			}
			sign, err := authn.New(authn.Config{
				Users: s, ServiceAccounts: s, Sessions: s, Tokens: s, Attempts: s, Pendings: s, URL: "http://localhost", Log: cfg.Log,
			})
			if err != nil {
				return err
			}
			password, err := sign.ResetPassword(cmd.Context(), args[0], "")
			if err != nil {
				return err
			}
			recorder := &audit.Recorder{Storage: s, Now: cfg.Now, Log: cfg.Log}
			err = recorder.Record(cmd.Context(), api.AuditEntry{
				Actor: api.Principal{Type: api.PrincipalSystem, ID: "slipway-server"}, Action: "user.password", Outcome: api.OutcomeSucceeded,
				Object: api.Ref{Type: api.TypeUser, ID: args[0], Scope: api.ScopeAccount}, Reason: "on the machine of the server",
			})
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), password)
			return nil
		},
	}
}
