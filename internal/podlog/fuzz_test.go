package podlog

import (
	"bytes"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func FuzzLogLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\nthree"), "pod/web ", "o", true, false)
	f.Add(bytes.Repeat([]byte("x"), 3*MaxLine), "", "", false, true)
	f.Add([]byte("\xff\x00\n\n\n"), "p ", "\xff", false, true)
	f.Fuzz(func(t *testing.T, log []byte, prefix, search string, ignoreCase, invert bool) {
		if bytes.ContainsRune([]byte(prefix), '\n') {
			return // it is made of names
		}
		var to bytes.Buffer
		if err := copyLines(bytes.NewReader(log), prefix, api.Logs{Search: search, IgnoreCase: ignoreCase, Invert: invert}, &lines{to: &to}); err != nil {
			t.Fatal(err)
		}
		if to.Len() > 0 && to.Bytes()[to.Len()-1] != '\n' {
			t.Error("a line does not end")
		}
		count := 0
		for line := range bytes.Lines(to.Bytes()) {
			count++
			if !bytes.HasPrefix(line, []byte(prefix)) || len(line) > len(prefix)+MaxLine+1 {
				t.Errorf("a line of %d bytes: %.100q", len(line), line)
			}
		}
		if in := bytes.Count(log, []byte("\n")) + 1; count > in {
			t.Errorf("%d lines became %d", in, count)
		}
	})
}
