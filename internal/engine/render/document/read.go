// Package document reads manifest files: it splits them into documents, decodes YAML and JSON as Kubernetes does, and
// gathers the objects in them as canonical manifests. Every input is taken as hostile: sizes, depth and expansion
// are bounded.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	yaml "go.yaml.in/yaml/v2"
	kjson "sigs.k8s.io/json"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// MaxDocument is the largest document that is parsed, in bytes. The API server takes no object above 3 MiB; a parsed
// document needs many times its size in memory.
const MaxDocument = 4 << 20

// maxDocuments bounds the documents of one file.
const maxDocuments = 50_000

// maxMessage bounds what an error says, in bytes.
const maxMessage = 1000

// Document is one YAML document, or one JSON value, of a file.
type Document struct {
	Number int // counted from 1, empty documents included
	Line   int // of its first line in the file, counted from 1
	val    value
}

// Kind returns the object's kind, or "" where the document is no object or names none.
func (d Document) Kind() string { return d.val.text("kind") }

// Error is what is wrong with one place of a file.
type Error struct {
	File string // may be empty while the file is not known
	Line int    // counted from 1; 0 where it is not known
	Err  error
}

// Error prints "apps/web/deploy.yaml:12: what is wrong".
func (e *Error) Error() string {
	s := legible.Cut(e.Err.Error(), maxMessage) // a kind or a key can be as long as the file
	if e.Line > 0 {
		s = strconv.Itoa(e.Line) + ": " + s
		if e.File == "" {
			return "line " + s
		}
		return e.File + ":" + s
	}
	if e.File != "" {
		return e.File + ": " + s
	}
	return s
}

// Unwrap returns what is wrong, without the place.
func (e *Error) Unwrap() error { return e.Err }

// In returns err with the name of the file where it is an Error without one, else an Error at file.
func In(file string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return &Error{File: file, Line: e.Line, Err: e.Err}
	}
	return &Error{File: file, Err: err}
}

// ReadYAML decodes every document of a YAML file; empty ones are left out. A last line without a line break gets one, as
// kubectl, helm and Argo CD give it: a block of text at the end of a file ends with a line break either way. What could be
// read before an error is returned with it; the error is an *Error with the line.
func ReadYAML(data []byte) ([]Document, error) {
	data, err := utf8Of(data)
	if err != nil {
		return nil, err
	}
	return readParts(ended(data))
}

// ended returns data with a line break at its end. It never writes to data.
func ended(data []byte) []byte {
	if len(data) == 0 || data[len(data)-1] == '\n' {
		return data
	}
	return append(data[:len(data):len(data)], '\n')
}

func readParts(data []byte) ([]Document, error) {
	var docs []Document
	number := 0
	for part, line := range parts(data) {
		number++
		if isNothing(part) {
			continue
		}
		if len(part) > MaxDocument {
			return docs, &Error{Line: line, Err: fmt.Errorf("document %d is larger than %d MiB; split it", number, MaxDocument>>20)}
		}
		if len(docs) >= maxDocuments {
			return docs, &Error{Line: line, Err: fmt.Errorf("the file holds more than %d documents; split it", maxDocuments)}
		}
		if bytes.HasPrefix(bytes.TrimSpace(part), []byte("{")) {
			if more, ok := jsonStream(part, line, number); ok {
				docs = append(docs, more...)
				continue
			}
		}
		v, err := decodeYAML(part)
		if err != nil {
			return docs, placed(err, part, line)
		}
		if v.kind != null {
			docs = append(docs, Document{Number: number, Line: line, val: v})
		}
	}
	return docs, nil
}

// ReadJSON decodes a file that holds one JSON object.
func ReadJSON(data []byte) ([]Document, error) {
	data, err := utf8Of(data)
	if err != nil {
		return nil, err
	}
	if isNothing(data) {
		return nil, nil
	}
	if len(data) > 4*MaxDocument {
		return nil, &Error{Line: 1, Err: fmt.Errorf("the file is larger than %d MiB; split it", 4*MaxDocument>>20)}
	}
	out, err := decodeJSON(data)
	if err != nil {
		return nil, jsonError(data, err)
	}
	v, err := fromAny(out, 0)
	if err != nil {
		return nil, &Error{Line: 1, Err: err}
	}
	if v.kind != mapping {
		return nil, &Error{Line: 1, Err: errors.New("a JSON file must hold one object; use an object of kind List for several")}
	}
	return []Document{{Number: 1, Line: 1, val: v}}, nil
}

func decodeJSON(data []byte) (any, error) {
	var out any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// jsonError finds the line of a JSON error. The text of the library is kept: it quotes one character at most.
func jsonError(data []byte, err error) error {
	if isStream(data) {
		return &Error{Line: 1, Err: errors.New("a JSON file must hold one object; use an object of kind List for several")}
	}
	var syntax *json.SyntaxError
	line := 0
	if errors.As(err, &syntax) {
		line = lineAt(data, syntax.Offset)
	} else {
		var probe any
		if errors.As(json.Unmarshal(data, &probe), &syntax) {
			line = lineAt(data, syntax.Offset)
		}
	}
	return &Error{Line: line, Err: fmt.Errorf("read JSON: %w; correct the file", err)}
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
}

func isStream(data []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(data))
	var first, second json.RawMessage
	return dec.Decode(&first) == nil && dec.Decode(&second) == nil
}

// jsonStream reads a document of a YAML file that is one or more JSON objects one after another, as kubectl does.
func jsonStream(part []byte, line, number int) ([]Document, bool) {
	dec := json.NewDecoder(bytes.NewReader(part))
	var docs []Document
	var counted int64 // up to where line has been counted
	for {
		var raw json.RawMessage
		before := dec.InputOffset()
		line += bytes.Count(part[counted:before], []byte("\n"))
		counted = before
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return docs, len(docs) > 0
		}
		if err != nil || len(docs) >= maxDocuments {
			return nil, false
		}
		out, err := decodeJSON(raw)
		if err != nil {
			return nil, false
		}
		v, err := fromAny(out, 0)
		if err != nil || v.kind != mapping {
			return nil, false
		}
		docs = append(docs, Document{Number: number, Line: line, val: v})
	}
}

func decodeYAML(part []byte) (v value, err error) {
	// The library reports by panic inside and recovers; a panic that it does not know must stay here.
	defer func() {
		if r := recover(); r != nil {
			v, err = value{}, fmt.Errorf("read YAML: the parser stopped at a construct it cannot handle")
		}
	}()
	if v, ok := quick(part); ok {
		return v, nil
	}
	var out any
	if err := yaml.Unmarshal(part, &out); err != nil {
		return value{}, err
	}
	return fromAny(out, 0)
}

// lineNumber matches the place in an error of the YAML library.
var lineNumber = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s+)?(?:line (\d+): )?`)

// placed turns an error of the YAML library, which counts lines from the start of the document, into an Error. The
// library names the line where the broken construct began; a template that was not rendered can be named exactly.
func placed(err error, part []byte, start int) error {
	if at := bytes.Index(part, []byte("{{")); at >= 0 {
		return &Error{
			Line: start + lineAt(part, int64(at)) - 1,
			Err:  errors.New("read YAML: the document holds a template, {{ }}, that was not rendered; move it to a chart"),
		}
	}
	msg := err.Error()
	line := start
	if m := lineNumber.FindStringSubmatch(msg); m != nil {
		msg = msg[len(m[0]):]
		if n, convErr := strconv.Atoi(m[1]); convErr == nil && n > 0 {
			line = start + n - 1
		}
	}
	return &Error{Line: line, Err: errors.New("read YAML: " + strings.ToValidUTF8(legible.Cut(msg, 300), "?") + "; correct the file")}
}

// parts yields the documents of a YAML file with the line each starts at. A line that begins with "---" separates;
// what follows the marker on its line (a comment, or the document itself) belongs to the document.
func parts(data []byte) func(yield func([]byte, int) bool) {
	return func(yield func([]byte, int) bool) {
		start, startLine, line := 0, 1, 1
		for pos := 0; pos < len(data); line++ {
			end := len(data)
			if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
				end = pos + i + 1
			}
			if skip, ok := separator(data[pos:end]); ok {
				if pos > start && !yield(data[start:pos], startLine) {
					return
				}
				start, startLine = pos+skip, line
				if isNothing(data[start:end]) {
					start, startLine = end, line+1
				}
			}
			pos = end
		}
		if start < len(data) {
			yield(data[start:], startLine)
		}
	}
}

// separator reports whether line ends a document, and how many bytes of it are the marker. Rulers such as "-----"
// separate too, as they do for kubectl.
func separator(line []byte) (int, bool) {
	if !bytes.HasPrefix(line, []byte("---")) {
		return 0, false
	}
	rest := bytes.TrimLeft(line, "-")
	if len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n' || rest[0] == '#' {
		return len(line) - len(rest), true
	}
	return 0, false
}

// utf8Of turns UTF-16 with a byte order mark into UTF-8, and drops the mark of UTF-8.
func utf8Of(data []byte) ([]byte, error) {
	if len(data) >= 3 && data[0] == 0xef && data[1] == 0xbb && data[2] == 0xbf {
		return data[3:], nil
	}
	if len(data) < 2 || !(data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff) {
		return data, nil
	}
	if len(data)%2 != 0 {
		return nil, &Error{Line: 1, Err: errors.New("the file begins as UTF-16 but has an odd number of bytes; save it as UTF-8")}
	}
	little := data[0] == 0xff
	units := make([]uint16, 0, len(data)/2-1)
	for i := 2; i < len(data); i += 2 {
		lo, hi := data[i], data[i+1]
		if !little {
			lo, hi = hi, lo
		}
		units = append(units, uint16(lo)|uint16(hi)<<8)
	}
	return []byte(string(utf16.Decode(units))), nil
}

// ToJSON converts a YAML file of one document to canonical JSON; an empty file is an empty object. It is for small
// configuration files and takes no more than MaxDocument. Unlike ReadYAML it adds no line break to the last line, since
// Argo CD gives such a file to the YAML library as it is.
func ToJSON(data []byte) ([]byte, error) {
	data, err := utf8Of(data)
	if err != nil {
		return nil, err
	}
	docs, err := readParts(data)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return []byte("{}"), nil
	}
	return docs[0].val.appendJSON(nil), nil
}
