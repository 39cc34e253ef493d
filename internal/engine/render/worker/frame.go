package worker

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxHeader bounds the JSON part of a frame.
const maxHeader = 32 << 20

// kind says what a frame is.
type kind byte

const (
	kindJob    kind = iota + 1 // parent: job header
	kindAsk                    // child: question header
	kindAnswer                 // parent: answer header, content of a file as body
	kindResult                 // child: outcome header, manifests one after another as body
)

// brokenError says that the other side is gone or, with protocol, that it does not keep to the protocol.
type brokenError struct {
	err      error
	protocol bool
}

func (e *brokenError) Error() string { return "talk to render worker: " + e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// conn sends and receives frames: one byte kind, four bytes length of the header, eight bytes length of the body,
// header as JSON, body.
type conn struct {
	r *bufio.Reader
	w *bufio.Writer
}

func newConn(r io.Reader, w io.Writer) *conn {
	return &conn{r: bufio.NewReaderSize(r, 32<<10), w: bufio.NewWriterSize(w, 32<<10)}
}

const frameHead = 1 + 4 + 8

func (c *conn) send(k kind, header any, body ...[]byte) error {
	raw, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	var size uint64
	for _, b := range body {
		size += uint64(len(b))
	}
	var head [frameHead]byte
	head[0] = byte(k)
	binary.BigEndian.PutUint32(head[1:], uint32(len(raw)))
	binary.BigEndian.PutUint64(head[5:], size)
	for _, b := range append([][]byte{head[:], raw}, body...) {
		if _, err := c.w.Write(b); err != nil {
			return &brokenError{err: err}
		}
	}
	if err := c.w.Flush(); err != nil {
		return &brokenError{err: err}
	}
	return nil
}

// receive reads one frame whose body has at most maxBody bytes, and decodes the header into what want returns for
// its kind.
func (c *conn) receive(maxBody int64, want func(kind) any) (kind, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return 0, nil, &brokenError{err: err}
	}
	k := kind(head[0])
	size, length := binary.BigEndian.Uint32(head[1:]), binary.BigEndian.Uint64(head[5:])
	into := want(k)
	if into == nil || size > maxHeader || length > uint64(maxBody) {
		return 0, nil, &brokenError{err: fmt.Errorf("unexpected frame of kind %d with %d and %d bytes", k, size, length), protocol: true}
	}
	raw, err := readN(c.r, int64(size))
	if err != nil {
		return 0, nil, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return 0, nil, &brokenError{err: errors.New("malformed header"), protocol: true}
	}
	body, err := readN(c.r, int64(length))
	return k, body, err
}

// readN reads n bytes. It trusts a large n only as far as data comes.
func readN(r io.Reader, n int64) ([]byte, error) {
	const step = 1 << 20
	buf := make([]byte, 0, min(n, step))
	for int64(len(buf)) < n {
		chunk := int(min(n-int64(len(buf)), step))
		at := len(buf)
		buf = append(buf, make([]byte, chunk)...)
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			return nil, &brokenError{err: err}
		}
	}
	return buf, nil
}
