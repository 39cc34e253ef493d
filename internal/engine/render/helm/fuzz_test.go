package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"path"
	"strings"
	"testing"
)

// What comes out of an archive is inside of its directory and within the budget.
func FuzzChartArchive(f *testing.F) {
	for _, names := range [][]string{{"web/Chart.yaml", "web/templates/a.yaml"}, {"../x/y"}, {"web/../../x"}, {`web\..\..\x`}, {"/web/x"}, {"web/C:/x"}, {"web/a\x00b"}} {
		var buf bytes.Buffer
		zipped := gzip.NewWriter(&buf)
		w := tar.NewWriter(zipped)
		for _, name := range names {
			if err := w.WriteHeader(&tar.Header{Name: name, Size: 3, Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
				continue
			}
			_, _ = w.Write([]byte("a: "))
		}
		_, _ = w.Close(), zipped.Close()
		f.Add(buf.Bytes(), false)
		var plain bytes.Buffer
		r, err := gzip.NewReader(&buf)
		if err != nil {
			f.Fatal(err)
		}
		_, _ = plain.ReadFrom(r)
		f.Add(plain.Bytes(), true)
	}
	const most, files = 1 << 20, 50
	f.Fuzz(func(t *testing.T, raw []byte, pack bool) {
		if pack { // a sum over all of it is not what is looked for
			var buf bytes.Buffer
			zipped := gzip.NewWriter(&buf)
			_, _ = zipped.Write(raw)
			_ = zipped.Close()
			raw = buf.Bytes()
		}
		got, err := readArchive(raw, &budget{bytes: most, files: files})
		if err != nil {
			return
		}
		size := 0
		for _, file := range got {
			size += len(file.Data)
			if path.IsAbs(file.Name) || path.Clean(file.Name) != file.Name || file.Name == ".." || strings.HasPrefix(file.Name, "../") || strings.ContainsAny(file.Name, "\x00\\") {
				t.Errorf("a file is called %q", file.Name)
			}
		}
		if size > most || len(got) > files {
			t.Errorf("%d files of %d bytes", len(got), size)
		}
	})
}
