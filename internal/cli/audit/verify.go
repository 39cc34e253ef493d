package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// maxLine bounds an entry of an export, in bytes: the server keeps 64 KiB of what was before and after, and JSON may
// write a byte as six.
const maxLine = 2 << 20

type verifyOptions struct {
	*connect.Common
	head, file string
}

func newVerifyCmd(common *connect.Common) *cobra.Command {
	o := verifyOptions{Common: common}
	cmd := &cobra.Command{
		Use: "verify", Short: "Check that no entry was changed, removed or put in; exit code 3 if one was", Args: cobra.NoArgs,
		Long: "Check that no entry of the audit log was changed, removed or inserted: the server's, or with --file those of an export,\n" +
			"without a server. The export must have all entries from one on, so --from is the only filter it may be made with: an entry\n" +
			"that a filter left out looks like one that was removed. Only --head finds that the newest entries are missing.\n" +
			"Exit code 3 if the audit log is not intact.",
		Example: "  slipway audit verify\n  slipway audit verify -o json    # keep the head elsewhere: then removed newest entries show too\n" +
			"  slipway audit export --file audit.jsonl && slipway audit verify --file audit.jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error { return verifyRun(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.head, "head", "", "`hash` of an entry that was the newest at an earlier time: it must still exist")
	cmd.Flags().StringVar(&o.file, "file", "", "`export` in JSON lines to check instead, without a server; - for standard input")
	return cmd
}

func verifyRun(ctx context.Context, o verifyOptions) error {
	found, err := o.verify(ctx)
	if err != nil {
		return err
	}
	if o.Output != iostream.Table {
		err = o.Print(o.Output, found)
	} else {
		_, err = fmt.Fprintln(o.Out, iostream.Clean(found.Message))
	}
	if err != nil {
		return err
	}
	if !found.OK {
		return iostream.Differs()
	}
	return nil
}

func (o *verifyOptions) verify(ctx context.Context) (api.AuditVerification, error) {
	if o.file != "" {
		return o.verifyFile()
	}
	s, err := o.MustServer()
	if err != nil {
		return api.AuditVerification{}, err
	}
	found, err := s.Client.VerifyAudit(ctx)
	if err == nil && o.head != "" && found.OK {
		err = findHead(ctx, s, o.head, &found)
	}
	return found, s.Explain(err)
}

// findHead looks for an entry by its hash.
func findHead(ctx context.Context, s *connect.Server, head string, found *api.AuditVerification) error {
	body, err := s.Client.ExportAudit(ctx, api.AuditFilter{}, "jsonl")
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was read as far as it matters
	for dec := json.NewDecoder(body); ; {
		var e api.AuditEntry
		err := dec.Decode(&e)
		switch {
		case err == io.EOF:
			found.OK, found.Message = false, noHead(head)
			return nil
		case err != nil:
			return fmt.Errorf("read audit: %w", err)
		case e.Hash == head:
			return nil
		}
	}
}

func noHead(head string) string {
	return "there is no entry with the hash " + head + " any more: entries were removed, or it is that of another server"
}

func (o *verifyOptions) verifyFile() (api.AuditVerification, error) {
	in := o.In
	if o.file != "-" {
		f, err := os.Open(o.file)
		if err != nil {
			return api.AuditVerification{}, fmt.Errorf("read export: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	found, err := check(in, o.head)
	if err != nil {
		return found, fmt.Errorf("read export %s: %w", o.file, err)
	}
	return found, nil
}

// check goes over the entries of an export, one in each line. The first of them may be any: the chain is followed from
// what it says to be behind. A head is the hash of an entry that has to be there; "" for none.
func check(in io.Reader, head string) (api.AuditVerification, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var v *chain.Verifier
	var before int64 // entries before the first one
	reached := head == ""
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		e, err := readEntry(lines.Bytes())
		if err != nil {
			return api.AuditVerification{}, fmt.Errorf("line %d: %w", n, err)
		}
		if v == nil {
			before = max(e.ID-1, 0)
			v = chain.NewVerifier(chain.Head{ID: before, Hash: anchorOf(e)})
		}
		var fault *chain.Fault
		if err := v.Next(e); errors.As(err, &fault) {
			return broken(v, fault), nil
		}
		reached = reached || e.Hash == head
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return api.AuditVerification{}, fmt.Errorf("a line has more than %d bytes, which no entry has: write the export again", maxLine)
	case err != nil:
		return api.AuditVerification{}, err
	case v == nil:
		return api.AuditVerification{}, errors.New("it has no entries: write one with `slipway audit export`")
	}
	out := api.AuditVerification{OK: reached, Checked: v.Checked(), Head: v.Head().Hash}
	out.Message = fmt.Sprintf("the chain of %d entries is whole, up to %d of %s", out.Checked, v.Head().ID,
		v.Head().At.UTC().Format("2006-01-02T15:04:05Z"))
	if before > 0 {
		out.Message += fmt.Sprintf("; the %d entries before them are not in it", before)
	}
	if !reached {
		out.Message = noHead(head)
	}
	return out, nil
}

// anchorOf is what the first entry of an export has to follow from: nothing, where it is the first of all.
func anchorOf(e api.AuditEntry) string {
	if e.ID <= 1 {
		return ""
	}
	return e.PrevHash
}

func broken(v *chain.Verifier, fault *chain.Fault) api.AuditVerification {
	return api.AuditVerification{
		Checked: v.Checked(), First: fault.ID, Head: v.Head().Hash,
		Message: fault.Why + ": compare with an export or a backup from before; " +
			"an export with filters other than --from and --to lacks entries as well",
	}
}

// readEntry reads a line. What no entry has, or has twice, is in no hash, and so must not look checked.
func readEntry(line []byte) (api.AuditEntry, error) {
	var e api.AuditEntry
	if err := strict.Decode(line, &e, strict.Envelope); err != nil {
		return e, fmt.Errorf("it is no entry of the audit: %w; an export is checked in JSON lines (--format jsonl), "+
			"by a command line as new as the server", err)
	}
	return e, nil
}
