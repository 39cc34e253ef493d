package sidecar

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/slipway-gitops/slipway/internal/engine/render/bundle"
	"github.com/slipway-gitops/slipway/internal/source"
)

// archive is the files of a source, as they are sent: a file without a name.
type archive struct {
	file     *os.File
	size     int64
	checksum string
}

// pack writes the files of a tree to a temporary file in dir, which nothing else can open. What exclude matches is left out.
func pack(ctx context.Context, tree source.Tree, dir string, exclude []string) (*archive, error) {
	file, err := os.CreateTemp(dir, "plugin-")
	if err != nil {
		return nil, fmt.Errorf("make archive for plugin: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("make archive for plugin: %w", err)
	}
	sum := sha256.New()
	zip := gzip.NewWriter(io.MultiWriter(file, sum))
	w := packer{tar.NewWriter(zip)}
	err = bundle.Read(ctx, tree, exclude, w)
	if err = errors.Join(err, w.tar.Close(), zip.Close()); err != nil {
		_ = file.Close()
		return nil, err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("make archive for plugin: %w", err)
	}
	return &archive{file: file, size: size, checksum: hex.EncodeToString(sum.Sum(nil))}, nil
}

func (a *archive) close() { _ = a.file.Close() }

// packer writes files as a tar archive.
type packer struct{ tar *tar.Writer }

// Dir implements bundle.Sink.
func (p packer) Dir(name string) error {
	if err := p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}

// File implements bundle.Sink.
func (p packer) File(name string, mode fs.FileMode, content []byte) error {
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644 | int64(mode.Perm()&0o111), Size: int64(len(content))}
	if err := p.tar.WriteHeader(&header); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	if _, err := p.tar.Write(content); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}
