package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

// maxArchiveDepth bounds archives inside archives.
const maxArchiveDepth = 5

// unpackArchives replaces each charts/NAME.tgz by its files. Helm would do so too, but with a limit for each archive
// alone: a chart with many small archives could then fill the memory.
func unpackArchives(files []*archive.BufferedFile, b *budget, depth int) ([]*archive.BufferedFile, error) {
	out := make([]*archive.BufferedFile, 0, len(files))
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Name, "charts/")
		if !ok || strings.Contains(name, "/") || path.Ext(name) != ".tgz" {
			out = append(out, f)
			continue
		}
		if strings.IndexAny(name, "_.") == 0 {
			continue // left out by helm
		}
		if depth >= maxArchiveDepth {
			return nil, errLimit(fmt.Sprintf("archives are nested deeper than %d at %s", maxArchiveDepth, f.Name))
		}
		inner, err := readArchive(f.Data, b)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", f.Name, err)
		}
		if inner, err = unpackArchives(inner, b, depth+1); err != nil {
			return nil, fmt.Errorf("unpack %s: %w", f.Name, err)
		}
		for _, in := range inner {
			// The suffix keeps the name apart from a directory of the same name.
			out = append(out, &archive.BufferedFile{Name: f.Name + ".unpacked/" + in.Name, Data: in.Data})
		}
	}
	return out, nil
}

// readArchive reads a chart archive into memory. Its files lie in one top directory, which is cut off. Links and
// special files are refused.
func readArchive(raw []byte, b *budget) ([]*archive.BufferedFile, error) {
	zr, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("not a gzip archive: %w", err)
	}
	// The budget is checked file by file; this bounds what headers and padding can make us inflate.
	tr := tar.NewReader(io.LimitReader(zr, 2*b.bytes+(1<<20)))
	var files []*archive.BufferedFile
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read archive: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader, tar.TypeXHeader:
			continue
		case tar.TypeReg:
		default:
			return nil, fmt.Errorf("%q is a link or a special file; package the chart again without it", h.Name)
		}
		name, err := archiveName(h.Name)
		if err != nil {
			return nil, err
		}
		if err := b.take(name, h.Size); err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(tr, h.Size))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		files = append(files, &archive.BufferedFile{Name: name, Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))})
	}
	if len(files) == 0 {
		return nil, errors.New("the archive is empty")
	}
	return files, nil
}

// archiveName checks the name of a file in an archive and cuts off the top directory.
func archiveName(name string) (string, error) {
	clean := strings.ReplaceAll(name, `\`, "/")
	_, rest, ok := strings.Cut(clean, "/")
	if !ok || strings.HasPrefix(clean, "/") || strings.HasPrefix(rest, "/") || strings.ContainsRune(rest, 0) {
		return "", fmt.Errorf("%q is not inside the directory of the chart", name)
	}
	for part := range strings.SplitSeq(clean, "/") {
		if part == ".." {
			return "", fmt.Errorf("%q leaves the directory of the chart", name)
		}
	}
	rest = path.Clean(rest)
	if rest == "." || len(rest) > 1 && rest[1] == ':' {
		return "", fmt.Errorf("%q is not inside the directory of the chart", name)
	}
	return rest, nil
}
