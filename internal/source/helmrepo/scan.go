package helmrepo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Bounds of an index.
const (
	maxIndex  = 512 << 20 // bytes
	maxLine   = 1 << 20   // bytes of a line, and of what an index has of one version
	maxCharts = 100_000
	maxName   = 250 // bytes
)

// ErrIndex says that what a repository answers is not the index of a Helm repository, or has more than is read of one.
var ErrIndex = errors.New("not a usable index of a Helm repository")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrIndex, fmt.Errorf(format, args...))
}

// span is where a part of an index is, in bytes.
type span struct{ at, size int64 }

// table says where the versions of each chart are in an index, which itself stays on disk.
type table struct {
	charts map[string]span
	json   bool
}

// scan finds the charts of an index while it is read, in YAML as Helm writes it or in JSON. It keeps names and places only.
func scan(from io.Reader) (table, error) {
	in := bufio.NewReaderSize(from, 256<<10)
	first, err := firstByte(in)
	if err != nil {
		return table{}, err
	}
	t := table{charts: map[string]span{}, json: first == '{'}
	if t.json {
		err = (&jsonScan{in: in, charts: t.charts}).run()
	} else {
		err = (&yamlScan{in: in, charts: t.charts}).run()
	}
	return t, err
}

// firstByte looks at the first byte that is neither blank nor a byte order mark.
func firstByte(in *bufio.Reader) (byte, error) {
	for n := 1; n < 1024; n++ {
		b, err := in.Peek(n)
		if len(b) < n {
			if errors.Is(err, io.EOF) {
				return 0, wrong("it is empty")
			}
			return 0, err
		}
		if c := b[n-1]; !bytes.ContainsRune([]byte(" \t\r\n\xef\xbb\xbf"), rune(c)) && c < 0x80 {
			return c, nil
		}
	}
	return '\n', nil
}

func add(charts map[string]span, name string, at, end int64) error {
	if name == "" || len(name) > maxName {
		return wrong("the name of a chart is empty or has more than %d bytes", maxName)
	}
	if _, twice := charts[name]; twice {
		return wrong("it has the chart %q twice", legible.Line(name, 80))
	}
	if len(charts) >= maxCharts {
		return wrong("it has more than %d charts", maxCharts)
	}
	charts[name] = span{at, end - at}
	return nil
}

// yamlScan reads an index line by line. The keys below "entries" that stand least far to the right are the charts.
type yamlScan struct {
	in     *bufio.Reader
	charts map[string]span
	at     int64  // where the present line begins
	indent int    // of the charts; 0 where none was met
	chart  string // that the present line belongs to; "" for none
	begin  int64  // of its versions
	inside bool   // below entries
	seen   bool
}

func (s *yamlScan) run() error {
	for {
		line, err := readLine(s.in)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 {
			if err := s.line(bytes.TrimRight(line, "\r\n")); err != nil {
				return err
			}
			s.at += int64(len(line))
		}
		if err != nil {
			break
		}
	}
	if err := s.end(); err != nil {
		return err
	}
	if !s.seen {
		return wrong("it has no entries: check the address")
	}
	return nil
}

// readLine reads a line of bounded length, with its end. The bytes are good until the next one is read.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long) > maxLine {
			return nil, wrong("it has a line of more than %d KiB", maxLine>>10)
		}
		line, err = in.ReadSlice('\n')
		long = append(long, line...)
	}
	return long, err
}

func (s *yamlScan) line(line []byte) error {
	rest := bytes.TrimLeft(line, " ")
	indent := len(line) - len(rest)
	switch {
	case len(rest) == 0 || rest[0] == '#':
		return nil
	case indent == 0:
		return s.top(rest)
	case !s.inside || s.indent > 0 && indent > s.indent:
		return nil
	case rest[0] == '-' && (len(rest) == 1 || rest[1] == ' '):
		return nil // a version whose dash is below the name of the chart
	case rest[0] == '\t':
		return wrong("it is indented by tabs")
	case s.indent > 0 && indent < s.indent:
		return wrong("its charts are not indented alike")
	}
	name, value, ok := keyOf(rest)
	if !ok {
		return wrong("the line %q is not the name of a chart", legible.Line(string(rest), 80))
	}
	if err := s.end(); err != nil {
		return err
	}
	switch value {
	case "", "[]", "null", "~":
	default:
		return wrong("the chart %q has its versions on one line, or uses an anchor: write the index with helm repo index", legible.Line(name, 80))
	}
	s.indent, s.chart, s.begin = indent, name, s.at+int64(len(line))+1
	return nil
}

// top reads a line that is not indented.
func (s *yamlScan) top(rest []byte) error {
	if s.inside && rest[0] == '-' && s.indent == 0 && len(s.charts) == 0 {
		return wrong("its entries are a list")
	}
	if err := s.end(); err != nil {
		return err
	}
	name, value, ok := keyOf(rest)
	s.inside = ok && name == "entries"
	if !s.inside {
		return nil
	}
	if s.seen {
		return wrong("it has entries twice")
	}
	s.seen = true
	if value != "" && value != "{}" && value != "null" && value != "~" {
		return wrong("its entries are on one line, or use an anchor: write the index with helm repo index")
	}
	return nil
}

// end ends the present chart before the present line.
func (s *yamlScan) end() error {
	if s.chart == "" {
		return nil
	}
	name := s.chart
	s.chart = ""
	return add(s.charts, name, min(s.begin, s.at), s.at)
}

// keyOf splits a line into a key and the value on the same line, without comments.
func keyOf(line []byte) (key, value string, ok bool) {
	text := string(line)
	if quote := text[0]; quote == '"' || quote == '\'' {
		end := strings.IndexByte(text[1:], quote)
		if end < 0 || strings.ContainsRune(text[1:end+1], '\\') {
			return "", "", false
		}
		key, text = text[1:end+1], text[end+2:]
		if !strings.HasPrefix(text, ":") {
			return "", "", false
		}
		value = text[1:]
	} else {
		key, value, ok = strings.Cut(text, ":")
		if !ok || value != "" && value[0] != ' ' || strings.ContainsAny(key[:1], "&*!?|>%@`[]{},") {
			return "", "", false
		}
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(key), strings.TrimSpace(value), true
}

// jsonScan reads an index in JSON byte by byte.
type jsonScan struct {
	in     *bufio.Reader
	charts map[string]span
	at     int64
	depth  int
	top    string // the key of the first level that is read
	chart  string // the key below entries
	begin  int64
	seen   bool
}

func (s *jsonScan) run() error {
	for {
		c, err := s.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return wrong("it ends too early")
			}
			return err
		}
		switch c {
		case '"':
			if err := s.text(); err != nil {
				return err
			}
		case '{', '[':
			s.depth++
			s.seen = s.seen || s.depth == 2 && s.top == "entries" && c == '{'
			if s.depth == 3 && s.top == "entries" {
				s.begin = s.at - 1
			}
		case '}', ']':
			s.depth--
			if s.depth == 2 && s.top == "entries" {
				if err := add(s.charts, s.chart, s.begin, s.at); err != nil {
					return err
				}
			}
			if s.depth == 0 {
				return s.rest()
			}
		}
	}
}

// rest reads on behind the document, so that all of it is stored.
func (s *jsonScan) rest() error {
	if _, err := io.Copy(io.Discard, s.in); err != nil {
		return err
	}
	if !s.seen {
		return wrong("it has no entries: check the address")
	}
	return nil
}

func (s *jsonScan) next() (byte, error) {
	c, err := s.in.ReadByte()
	s.at++
	return c, err
}

// text reads a string. On the levels of names it is remembered as the last key: a value there does no harm.
func (s *jsonScan) text() error {
	keep := s.depth == 1 || s.depth == 2 && s.top == "entries"
	raw := []byte{'"'}
	for n, escaped := 0, false; ; n++ {
		c, err := s.next()
		if err != nil {
			return wrong("it ends too early")
		}
		if n > maxLine {
			return wrong("it has a text of more than %d KiB", maxLine>>10)
		}
		if keep && n <= 4*maxName {
			raw = append(raw, c)
		}
		if c == '"' && !escaped {
			break
		}
		escaped = c == '\\' && !escaped
	}
	if !keep {
		return nil
	}
	name, err := strconv.Unquote(string(raw))
	if err != nil {
		return wrong("it has a name that cannot be read")
	}
	if s.depth == 1 {
		s.top = name
	} else {
		s.chart = name
	}
	return nil
}
