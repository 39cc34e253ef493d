package record

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Whatever is found on the disk, what is given was written with its sum, and more can be appended behind it.
func FuzzReel(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0xe8, 0xb7, 0xbe, 0x43, 'a'}, []byte("next"))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, []byte("x"))
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 0, 'a', 0, 0, 0, 1, 0xe8, 0xb7, 0xbe, 0x43, 'a'}, []byte{0})
	f.Fuzz(func(t *testing.T, found, more []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "entries-000000000003.log"), found, 0o600); err != nil {
			t.Fatal(err)
		}
		settled := func(*os.File) error { return nil }
		var places []place
		var datas [][]byte
		r, err := openReel(dir, "entries", 1<<20, settled, func(at place, data []byte) {
			places, datas = append(places, at), append(datas, bytes.Clone(data))
		})
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		for i, at := range places {
			if data, err := r.read(at); err != nil || !bytes.Equal(data, datas[i]) {
				t.Errorf("frame %d is %q, and read as %q (%v)", i, datas[i], data, err)
			}
		}
		if len(more) == 0 {
			return
		}
		at, _, err := r.append(more)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := r.read(at); err != nil || !bytes.Equal(data, more) {
			t.Errorf("%q was appended, and read as %q (%v)", more, data, err)
		}
	})
}
