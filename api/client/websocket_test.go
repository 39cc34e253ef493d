package client

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

// pipe is a connection whose other end was written already.
type pipe struct {
	io.Reader
	bytes.Buffer
}

func (p *pipe) Read(b []byte) (int, error) { return p.Reader.Read(b) }
func (*pipe) Close() error                 { return nil }

func socket(in []byte) (*webSocket, *pipe) {
	p := &pipe{Reader: bytes.NewReader(in)}
	return &webSocket{conn: p, in: bufio.NewReader(p)}, p
}

// frame is one of a server.
func frame(head byte, data string) []byte {
	out := []byte{head}
	switch n := len(data); {
	case n < length16:
		out = append(out, byte(n))
	case n <= 0xffff:
		out = binary.BigEndian.AppendUint16(append(out, length16), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, length64), uint64(n))
	}
	return append(out, data...)
}

func TestMessagesOfAWebSocketArePutTogether(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70000)
	in := bytes.Join([][]byte{
		frame(final1|frameBinary, "hello"), frame(frameText, "one, "), frame(final1|framePing, "are you there"), frame(final1|frameMore, "two"),
		frame(final1|frameBinary, long), frame(final1|frameClose, "\x03\xe8the pod is gone"),
	}, nil)
	s, p := socket(in)
	for _, want := range []string{"hello", "one, two", long} {
		text, got, err := s.receive()
		if err != nil || string(got) != want || text != (want == "one, two") {
			t.Fatalf("got %.40q, %v, want %.40q", got, err, want)
		}
	}
	_, _, err := s.receive()
	var end *errClosed
	if !errors.As(err, &end) || end.reason != "the pod is gone" {
		t.Errorf("got %v, want the reason of the end", err)
	}
	if sent := p.Bytes(); len(sent) < 2 || sent[0] != final1|framePong || sent[1]&masked == 0 {
		t.Errorf("a ping was answered with % x, want a masked pong", sent)
	}
}

func TestWhatIsTypedIsMasked(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 125, 126, 65535, 65536} {
		s, p := socket(nil)
		data := bytes.Repeat([]byte("k"), size)
		if err := s.send(frameBinary, data); err != nil {
			t.Fatal(err)
		}
		sent := p.Bytes()
		mask, body := sent[len(sent)-size-4:len(sent)-size], sent[len(sent)-size:]
		for i := range body {
			body[i] ^= mask[i%4]
		}
		if !bytes.Equal(body, data) || sent[1]&masked == 0 {
			t.Errorf("%d bytes do not arrive", size)
		}
	}
}

func FuzzWebSocket(f *testing.F) {
	f.Add(frame(final1|frameBinary, "hello"))
	f.Add(frame(final1|frameClose, "\x03\xe8"))
	f.Add([]byte{final1 | frameBinary, length64, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		s, _ := socket(in)
		for range len(in) + 1 {
			_, data, err := s.receive()
			if len(data) > maxFrame {
				t.Fatalf("a message of %d bytes", len(data))
			}
			if err != nil {
				return
			}
		}
		t.Fatal("a stream that ends goes on")
	})
}
