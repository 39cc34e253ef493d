// Package support is `slipway support-bundle`: what a helper needs to see, in one file and without
// secrets. It keeps the fields that it names and no others, and what is kept goes through package redact.
package support

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

const (
	indexFile = "index.txt"
	ending    = ".tar.gz"
)

// leftOut is part of every index.
const leftOut = `Never in it:
- data of Secrets, which are not read; passwords, tokens and keys
- manifests, specs of Applications (parameters, values, patches), annotations
- the audit, users and their tokens
- user names, passwords, queries and fragments of URLs
- logs: look through them, and send them beside this file

Messages are included unchanged, except that what looks like a secret is removed. Look through the files before you send them.
`

type options struct {
	*connect.Common
	file  string
	list  bool
	force bool
}

// NewCmd returns the command.
func NewCmd(common *connect.Common) *cobra.Command {
	o := options{Common: common}
	cmd := &cobra.Command{
		Use: "support-bundle", Short: "Collect diagnostic data in one file, without secrets", Args: cobra.NoArgs,
		Long: "Collect diagnostic data in one file, without secrets: versions, states, conditions and messages of\n" +
			"a server, or of a cluster and the agent in it. No Secret is read, and no manifest is in it. index.txt in it says what else is\n" +
			"left out, and which part could not be read and why.",
		Example: "  slipway support-bundle --list\n  slipway support-bundle --output help.tar.gz\n  slipway support-bundle --kubeconfig " +
			"~/.kube/config -n argocd",
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), &o, time.Now()) },
	}
	// In place of the one that all commands have: there is no table here.
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "`file` to write (default slipway-support-TIME.tar.gz)")
	cmd.Flags().BoolVar(&o.list, "list", false, "print what it would contain, and read nothing")
	cmd.Flags().BoolVar(&o.force, "force", false, "overwrite an existing file")
	return cmd
}

func run(ctx context.Context, o *options, now time.Time) error {
	parts, place, err := o.parts()
	if err != nil {
		return err
	}
	if o.list {
		rows := iostream.Rows{Header: []string{"FILE", "WHAT"}}
		rows.Add(indexFile, "what is in it, what was left out and why")
		for _, p := range parts {
			rows.Add(p.file, p.about)
		}
		return o.Table(&rows)
	}
	file := o.file
	if file == "" {
		file = "slipway-support-" + now.UTC().Format("20060102-150405") + ending
	}
	if _, err := os.Lstat(file); err == nil && !o.force {
		return taken(file)
	}
	b := bundle{files: map[string][]byte{}, streams: o.Streams}
	fmt.Fprintf(&b.index, "Bundle for support of %s, %s\n\n", iostream.Clean(text(place)), now.UTC().Format(time.RFC3339))
	for i := range parts {
		if err := b.add(ctx, &parts[i]); err != nil {
			return err
		}
	}
	b.index.WriteString("\n" + leftOut)
	dir := strings.TrimSuffix(filepath.Base(file), ending)
	var raw bytes.Buffer
	if err := b.write(&raw, dir, now); err != nil {
		return err
	}
	if err := save(file, raw.Bytes(), o.force); err != nil {
		return err
	}
	if b.failed > 0 {
		o.Sayf("warning: %d of %d parts could not be read; index.txt in it has the reasons", b.failed, len(parts))
	}
	o.Sayf("wrote %s: look through it before you send it", file)
	return nil
}

// parts are those of a server, or of a cluster, whichever the command line is about.
func (o *options) parts() (all []part, place string, err error) {
	all = []part{{file: "cli.json", about: "version and system of this program", read: o.program}}
	server, err := o.Server()
	if err != nil {
		return nil, "", err
	}
	if server != nil {
		return append(all, serverParts(server)...), server.Place(), nil
	}
	cluster, err := o.Connect()
	if err != nil {
		return nil, "", err
	}
	at, err := newCluster(cluster)
	if err != nil {
		return nil, "", err
	}
	return append(all, at.parts()...), "the cluster at " + cluster.Config.Host + ", " + cluster.Apps.Place(), nil
}

func (o *options) program(context.Context) (found, error) {
	version := o.Version
	if version == "" {
		version = "devel"
	}
	return found{items: []any{map[string]any{
		"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "cpus": runtime.NumCPU(),
	}}}, nil
}

func taken(file string) error {
	return iostream.Usagef("%s is there already: give another --output, or --force to write over it", file)
}

// save writes a file that only the user can read. One that is there is replaced whole, and only with force.
func save(file string, raw []byte, force bool) error {
	if !force {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user's own file
		if errors.Is(err, fs.ErrExist) {
			return taken(file)
		}
		return finish(f, err, raw, file)
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".slipway-support-*") // 0600
	return finish(f, err, raw, file)
}

// finish writes what was opened, if it was, and gives it its name; nothing is left of what could not be written.
func finish(f *os.File, err error, raw []byte, file string) error {
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil && f.Name() != file {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write bundle: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
