package ledger

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

func newExportCmd(common *connect.Common) *cobra.Command {
	o := entries{choice: choice{Common: common}}
	var format, file string
	cmd := &cobra.Command{
		Use: "export", Short: "Write operations of an interval, the oldest first, as JSON lines or with their manifests as tar",
		Args: cobra.NoArgs,
		Example: "  slipway ledger export --from 720h > ledger.jsonl\n  slipway ledger export --from 2030-05-01 --to 2030-06-01 " +
			"--format tar --file may.tar",
		RunE: func(cmd *cobra.Command, _ []string) error { return exportRun(cmd.Context(), o, format, file) },
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", "jsonl", "`jsonl|tar`")
	cmd.Flags().StringVar(&file, "file", "", "`file` to write (default standard output)")
	return cmd
}

func exportRun(ctx context.Context, o entries, format, file string) error {
	if format != "jsonl" && format != "tar" {
		return iostream.Usagef("--format is jsonl or tar, not %q", format)
	}
	if err := o.parse(); err != nil {
		return err
	}
	s, err := o.server(ctx)
	if err != nil {
		return err
	}
	body, err := s.Client.ExportLedger(ctx, o.LedgerFilter, format)
	if err != nil {
		return s.Explain(err)
	}
	defer func() { _ = body.Close() }() // its end shows when it is read
	if file == "" {
		if _, err := io.Copy(o.Out, body); err != nil {
			return fmt.Errorf("export ended early, what was written is not whole: %w; try again", err)
		}
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	n, err := io.Copy(f, body)
	if err != nil {
		_ = f.Close() // it is not whole anyway
		return fmt.Errorf("export ended early, %s is not whole: %w; remove it and try again", file, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	o.Sayf("%d bytes written to %s", n, file)
	return nil
}

func newVerifyCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE", Short: "Check that the manifests of an export in tar match its entries; needs no server", Args: cobra.ExactArgs(1),
		Example: "  slipway ledger verify may.tar",
		RunE:    func(_ *cobra.Command, args []string) error { return verifyRun(common, args[0]) },
	}
}

// maxExported bounds one file of an export, in bytes.
const maxExported = 64 << 20

func verifyRun(common *connect.Common, file string) error {
	f, err := os.Open(file) //nolint:gosec // the user names it
	if err != nil {
		return fmt.Errorf("read export: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	have := map[string]bool{}
	entries, missing := 0, 0
	archive := tar.NewReader(f)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read %s: %w: it is no export in tar, or not whole", file, err)
		}
		raw, err := io.ReadAll(io.LimitReader(archive, maxExported))
		if err != nil {
			return fmt.Errorf("read %s of %s: %w", head.Name, file, err)
		}
		name := strings.TrimSuffix(path.Base(head.Name), ".json")
		if strings.HasPrefix(head.Name, "manifests/") {
			if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != name {
				return fmt.Errorf("%s was changed: its SHA-256 is %x", head.Name, sum)
			}
			have[path.Base(path.Dir(head.Name))+"/"+name] = true
			continue
		}
		var d api.LedgerDetail
		if err := json.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("read %s of %s: %w", head.Name, file, err)
		}
		entries++
		for _, o := range d.Objects {
			if !o.Lacking && !have[d.Agent+"/"+o.Hash] {
				missing++
			}
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d manifests that entries name are not in %s", missing, file)
	}
	common.Sayf("%d entries and %d manifests are whole", entries, len(have))
	return nil
}
