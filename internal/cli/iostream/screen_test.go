package iostream_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

const hostile = "a\x1b]0;title\a\x1b[2Jb\u009b31m\u202ec\rd\x00\xff\u2066\x7f\n"

func TestATerminalObeysNothingThatOthersWrote(t *testing.T) {
	t.Parallel()
	for size := 1; size <= len(hostile); size++ { // however the bytes arrive
		var terminal bytes.Buffer
		out := iostream.Screen(&terminal)
		for rest := []byte(hostile); len(rest) > 0; {
			n, err := out.Write(rest[:min(size, len(rest))])
			if err != nil || n != min(size, len(rest)) {
				t.Fatalf("wrote %d, %v", n, err)
			}
			rest = rest[n:]
		}
		if got, want := terminal.String(), "a␛]0;title␇␛[2Jb\ufffd31m\ufffdc␍d␀\ufffd\ufffd␡\n"; got != want {
			t.Fatalf("%d bytes at a time: got %q, want %q", size, got, want)
		}
	}
}

func TestATerminalShowsWhatIsLegibleAsItIs(t *testing.T) {
	t.Parallel()
	const text = "├─ Pod\tütf 🙂 family\u200dof\n└─ 名前\n"
	for size := 1; size < len(text); size++ {
		var terminal bytes.Buffer
		out := iostream.Screen(&terminal)
		for i := 0; i < len(text); i += size {
			if _, err := out.Write([]byte(text[i:min(i+size, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		if terminal.String() != text {
			t.Fatalf("%d bytes at a time: got %q", size, terminal.String())
		}
	}
}

func TestLineBreaksOfWindowsAreLineBreaks(t *testing.T) {
	t.Parallel()
	var terminal bytes.Buffer
	out := iostream.Screen(&terminal)
	for _, part := range []string{"one\r", "\ntwo\r\nthree\r", "over\n"} {
		if _, err := out.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := terminal.String(); got != "one\ntwo\nthree␍over\n" {
		t.Errorf("got %q", got)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestATerminalThatIsGoneIsAnError(t *testing.T) {
	t.Parallel()
	if n, err := iostream.Screen(closed{}).Write([]byte("a")); n != 0 || err == nil {
		t.Errorf("wrote %d, %v", n, err)
	}
}

func TestOnlyATerminalHasWhatIsBehindIt(t *testing.T) {
	t.Parallel()
	var plain bytes.Buffer
	if iostream.Bare(iostream.Screen(&plain)) != &plain || iostream.Bare(&plain) != &plain {
		t.Error("another writer is behind it")
	}
}

func TestDataAndTalkAreBothLegibleOnATerminal(t *testing.T) {
	t.Parallel()
	var out, said bytes.Buffer
	s := iostream.Streams{Out: iostream.Screen(&out), Err: iostream.Screen(&said), TTY: true}
	s.Sayf("%s", hostile)
	rows := iostream.Rows{Header: []string{"NAME"}}
	rows.Add(hostile)
	document := map[string]string{"\u202e": hostile}
	err := errors.Join(s.Table(&rows), s.Print(iostream.YAML, document), s.Print(iostream.JSON, document))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"data": out.String(), "talk": said.String()} {
		if strings.ContainsAny(text, "\x00\x1b\a\r\x7f\u009b\u202e\u2066\ufffe") {
			t.Errorf("%s is %q", name, text)
		}
	}
}
