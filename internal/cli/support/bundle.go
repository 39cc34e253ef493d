package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// Bounds of a bundle, in bytes before it is compressed, and of the time that one part may take.
const (
	maxFile  = 2 << 20
	maxTotal = 16 << 20
	minFile  = 1 << 10 // with less room left nothing more is taken
	maxTime  = 30 * time.Second
)

// part is one file of a bundle.
type part struct {
	file, about string
	read        func(context.Context) (found, error)
}

// found is what a part has read: items of which fields are kept, or a text.
type found struct {
	items []any
	keep  fields
	text  string
	// note says what is missing, or nothing.
	note string
}

// bundle collects files, and says in its index what they are.
type bundle struct {
	names   []string
	files   map[string][]byte
	index   strings.Builder
	total   int
	failed  int
	streams iostream.Streams
}

// add reads a part into the bundle. One that cannot be read is an entry of the index; only an interrupt ends
// it.
func (b *bundle) add(ctx context.Context, p *part) error {
	within, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	got, err := p.read(within)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var raw []byte
	if err == nil {
		raw, err = b.fit(&got)
	}
	state := ""
	switch {
	case err != nil:
		b.failed++
		state = "FAILED: " + iostream.Clean(text(err.Error()))
	case len(raw) == 0:
		state = "left out: " + iostream.Clean(text(got.note))
	default:
		b.names, b.files[p.file] = append(b.names, p.file), raw
		b.total += len(raw)
		state = fmt.Sprintf("%d bytes", len(raw))
		if got.text == "" {
			state = fmt.Sprintf("%d items, %s", len(got.items), state)
		}
		if got.note != "" {
			state += "; " + iostream.Clean(text(got.note))
		}
	}
	fmt.Fprintf(&b.index, "%-20s %s\n%-20s %s\n", p.file, p.about, "", state)
	b.streams.Sayf("%s: %s", p.file, state)
	return nil
}

// fit makes a file of what was found: as long as it may be, and without secrets.
func (b *bundle) fit(got *found) ([]byte, error) {
	limit := min(maxFile, maxTotal-b.total)
	if limit < minFile {
		got.note = "the bundle is as long as it may be"
		return nil, nil
	}
	if got.text != "" {
		raw := text(cut(got.text, limit))
		if raw = cut(raw, limit); len(got.text) > limit {
			got.note = strings.TrimPrefix(fmt.Sprintf("%s; cut: the rest of %d bytes is left out", got.note, len(got.text)), "; ")
		}
		return []byte(raw), nil
	}
	if len(got.items) == 0 && got.note != "" {
		return nil, nil
	}
	var out bytes.Buffer
	out.WriteString("[")
	for i, v := range got.items {
		raw, err := got.keep.item(v)
		if err != nil {
			return nil, err
		}
		if out.Len()+len(raw) > limit-len(",\n  \n]\n") {
			got.note = strings.TrimPrefix(got.note+fmt.Sprintf("; cut: %d of %d items are left out", len(got.items)-i, len(got.items)), "; ")
			got.items = got.items[:i]
			break
		}
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n  ")
		out.Write(raw)
	}
	out.WriteString("\n]\n")
	return out.Bytes(), nil
}

// cut gives the whole lines of a text that are not longer together than limit.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:strings.LastIndexByte(s[:limit], '\n')+1]
}

// write writes the archive, with everything in one directory.
func (b *bundle) write(w io.Writer, dir string, now time.Time) error {
	packed := gzip.NewWriter(w)
	archive := tar.NewWriter(packed)
	b.files[indexFile] = []byte(b.index.String())
	for _, name := range append([]string{indexFile}, b.names...) {
		head := tar.Header{Name: dir + "/" + name, Mode: 0o600, Size: int64(len(b.files[name])), ModTime: now, Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(&head); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if _, err := archive.Write(b.files[name]); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("end archive: %w", err)
	}
	if err := packed.Close(); err != nil {
		return fmt.Errorf("end archive: %w", err)
	}
	return nil
}
