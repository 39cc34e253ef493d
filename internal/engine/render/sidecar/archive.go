package sidecar

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of what is sent.
const (
	maxFiles = 50_000
	maxBytes = 256 << 20 // of all files together
	maxDepth = 100
)

// archive is the files of a source, as they are sent: a file without a name.
type archive struct {
	file     *os.File
	size     int64
	checksum string
}

// pack writes the files of a tree to a temporary file in dir, which nothing else can open. What exclude matches is left out.
func pack(tree source.Tree, dir string, exclude []string) (*archive, error) {
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
	w := packer{tree: tree, tar: tar.NewWriter(zip), exclude: exclude}
	err = w.dir(".", 0)
	if err == nil && w.files == 0 {
		err = errors.New("the repository has no file that the plugin may get")
	}
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

// packer writes a tree as a tar archive.
type packer struct {
	tree    source.Tree
	tar     *tar.Writer
	exclude []string
	files   int
	bytes   int64
}

func (p *packer) dir(name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("directories are nested deeper than %d at %s: %w", maxDepth, name, document.ErrLimit)
	}
	entries, err := p.tree.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		full := path.Join(name, e.Name)
		switch {
		case p.excluded(full), e.Mode&fs.ModeSymlink != 0: // a link that leads nowhere
		case e.IsDir():
			header := tar.Header{Typeflag: tar.TypeDir, Name: full + "/", Mode: 0o755}
			if err := p.tar.WriteHeader(&header); err != nil {
				return fmt.Errorf("pack %s: %w", full, err)
			}
			if err := p.dir(full, depth+1); err != nil {
				return err
			}
		default:
			if err := p.one(full, e.Mode); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *packer) excluded(name string) bool {
	for _, pattern := range p.exclude {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

func (p *packer) one(name string, mode fs.FileMode) error {
	raw, err := p.tree.ReadFile(name)
	if errors.Is(err, source.ErrTooLarge) {
		return fmt.Errorf("%w: exclude it from what plugins get by reposerver.plugin.tar.exclusions in argocd-cmd-params-cm", err)
	}
	if err != nil {
		return err
	}
	p.files++
	p.bytes += int64(len(raw))
	if p.files > maxFiles || p.bytes > maxBytes {
		return fmt.Errorf("the repository has more than %d files or %d MiB for a plugin: %w; exclude some by "+
			"reposerver.plugin.tar.exclusions in argocd-cmd-params-cm", maxFiles, maxBytes>>20, document.ErrLimit)
	}
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644 | int64(mode.Perm()&0o111), Size: int64(len(raw))}
	if err := p.tar.WriteHeader(&header); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	if _, err := p.tar.Write(raw); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}
