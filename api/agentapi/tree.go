package agentapi

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxTreeEvent is the largest event of a live tree, in bytes of JSON. A tree that is larger comes in several.
const MaxTreeEvent = 4 << 20

// TreeWriter writes the events of a live tree to the Data of a stream of KindTreeWatch: one after the other as a line with the
// kind of the event and its JSON, all deflated (RFC 1951) and flushed after each event.
type TreeWriter struct {
	to  *flate.Writer
	out *bufio.Writer // the compressor writes some hundred bytes at a time
}

// NewTreeWriter makes a TreeWriter.
func NewTreeWriter(w io.Writer) (*TreeWriter, error) {
	out := bufio.NewWriterSize(w, MaxChunk)
	to, err := flate.NewWriter(out, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("begin a live tree: %w", err)
	}
	return &TreeWriter{to, out}, nil
}

// Write writes an event; data is JSON.
func (t *TreeWriter) Write(event string, data []byte) error {
	if len(data) > MaxTreeEvent {
		return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("an event of the tree has %d bytes and may have %d", len(data), MaxTreeEvent)}
	}
	for _, piece := range [][]byte{[]byte(event), []byte(" "), data, []byte("\n")} {
		if _, err := t.to.Write(piece); err != nil {
			return err
		}
	}
	if err := t.to.Flush(); err != nil {
		return err
	}
	return t.out.Flush()
}

// TreeReader reads what a TreeWriter has written.
type TreeReader struct{ from *bufio.Reader }

// NewTreeReader makes a TreeReader.
func NewTreeReader(r io.Reader) *TreeReader {
	return &TreeReader{bufio.NewReaderSize(flate.NewReader(r), 32<<10)}
}

// Next returns the next event, as one line of JSON. What is no event is an error, as is one that is too large; the errors of
// what is read from pass through.
func (t *TreeReader) Next() (event string, data []byte, err error) {
	var line []byte
	for {
		piece, err := t.from.ReadSlice('\n')
		if line = append(line, piece...); len(line) > MaxTreeEvent+64 {
			return "", nil, errors.New("an event of the tree is larger than any may be")
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		break
	}
	name, data, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if !ok || !json.Valid(data) {
		return "", nil, errors.New("an event of the tree is no JSON")
	}
	// Between the words of JSON there may be what ends a line elsewhere.
	return string(name), bytes.ReplaceAll(data, []byte("\r"), []byte(" ")), nil
}
