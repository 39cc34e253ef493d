package helmrepo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	maxVersions    = 20_000 // of one chart
	maxDescription = 300    // bytes
	maxVersion     = 256    // bytes; Helm itself takes no longer one
	maxWritten     = 4 << 20
	maxDepth       = 200
)

// versions are those of one chart, with the place of each in the index.
type versions struct {
	names []string
	spans []span
}

// entry is what an index has of one version.
type entry struct {
	version     string
	digest      string // "sha256:…", or ""
	urls        []string
	description string
	appVersion  string
	created     time.Time
	deprecated  bool
}

// list finds the versions of a chart in the part of an index that is about it.
func (t table) list(from io.Reader, base int64) (versions, error) {
	split := splitYAML
	if t.json {
		split = splitJSON
	}
	var out versions
	err := split(from, func(raw []byte, at int64) error {
		name, ok := "", false
		if !t.json {
			name, ok = quickVersion(raw)
		}
		if !ok {
			e, err := t.entry(raw)
			if err != nil {
				return nil //nolint:nilerr // Helm leaves out what it cannot read, too
			}
			name = e.version
		}
		if name == "" || len(name) > maxVersion {
			return nil
		}
		if len(out.names) >= maxVersions {
			return wrong("a chart has more than %d versions", maxVersions)
		}
		out.names, out.spans = append(out.names, name), append(out.spans, span{base + at, int64(len(raw))})
		return nil
	})
	return out, err
}

// splitYAML calls each for every version of a chart. Its text is a list of one.
func splitYAML(from io.Reader, each func(raw []byte, at int64) error) error {
	in := bufio.NewReaderSize(from, 64<<10)
	var raw []byte
	dash, begin, at := -1, int64(0), int64(0)
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		rest := bytes.TrimLeft(line, " ")
		indent := len(line) - len(rest)
		isDash := len(rest) > 0 && rest[0] == '-' && (len(rest) == 1 || bytes.ContainsAny(rest[1:2], " \r\n"))
		if isDash && dash < 0 {
			dash, begin = indent, at
		} else if isDash && indent == dash {
			if err := each(raw, begin); err != nil {
				return err
			}
			raw, begin = raw[:0], at
		}
		if dash >= 0 {
			if raw = append(raw, line...); len(raw) > maxLine {
				return wrong("a version has more than %d KiB", maxLine>>10)
			}
		}
		at += int64(len(line))
		if err != nil {
			break
		}
	}
	if dash < 0 {
		return nil
	}
	return each(raw, begin)
}

// splitJSON does the same for a list in JSON.
func splitJSON(from io.Reader, each func(raw []byte, at int64) error) error {
	in := bufio.NewReaderSize(from, 64<<10)
	var raw []byte
	depth, begin, quoted, escaped := 0, int64(0), false, false
	for at := int64(0); ; at++ {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case quoted:
			quoted, escaped = c != '"' || escaped, c == '\\' && !escaped
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if depth++; depth == 2 {
				raw, begin = raw[:0], at
			}
		case c == '}' || c == ']':
			depth--
		}
		if depth >= 2 || depth == 1 && len(raw) > 0 {
			if raw = append(raw, c); len(raw) > maxLine {
				return wrong("a version has more than %d KiB", maxLine>>10)
			}
		}
		if depth == 1 && len(raw) > 0 {
			if err := each(raw, begin); err != nil {
				return err
			}
			raw = raw[:0]
		}
	}
}

// quickVersion finds the version in what Helm itself writes, without parsing all of it. It returns false where that is not sure.
func quickVersion(raw []byte) (string, bool) {
	field := -1
	for line := range bytes.Lines(raw) {
		rest := bytes.TrimLeft(line, " ")
		if field < 0 {
			after := bytes.TrimLeft(rest[1:], " ")
			field = len(line) - len(after)
			rest = after
		} else if len(line)-len(rest) != field {
			continue
		}
		value, ok := bytes.CutPrefix(rest, []byte("version:"))
		if !ok {
			continue
		}
		text := string(bytes.TrimSpace(value))
		if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
			text = text[1 : n-1]
		}
		return text, text != "" && !strings.ContainsFunc(text, func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(".+-_", r)
		})
	}
	return "", false
}

// entry reads one version.
func (t table) entry(raw []byte) (entry, error) {
	asJSON := raw
	if !t.json {
		if bomb(raw) {
			return entry{}, wrong("a version is too large once its aliases are written out: publish it again without them")
		}
		var err error
		if asJSON, err = sigsyaml.YAMLToJSON(raw); err != nil { // its text may quote the index
			return entry{}, wrong("a version is not valid YAML, or uses anchors of another one")
		}
		asJSON = bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(asJSON), []byte("[")), []byte("]"))
	}
	var in struct {
		Version     json.RawMessage `json:"version"`
		AppVersion  json.RawMessage `json:"appVersion"`
		Description json.RawMessage `json:"description"`
		Digest      string          `json:"digest"`
		URLs        []string        `json:"urls"`
		Created     json.RawMessage `json:"created"`
		Deprecated  bool            `json:"deprecated"`
	}
	if err := strict.Decode(asJSON, &in, strict.Foreign); err != nil {
		return entry{}, wrong("a version has a field of another type than Helm gives it")
	}
	e := entry{
		version: textOf(in.Version), appVersion: legible.Line(textOf(in.AppVersion), 100), urls: in.URLs, deprecated: in.Deprecated,
		description: legible.Line(textOf(in.Description), maxDescription), digest: in.Digest,
	}
	if at, err := time.Parse(time.RFC3339Nano, textOf(in.Created)); err == nil {
		e.created = at
	}
	if e.digest != "" {
		e.digest = "sha256:" + strings.ToLower(strings.TrimPrefix(e.digest, "sha256:"))
	}
	return e, nil
}

// bomb reports whether YAML is too large once its aliases stand for what they name: readers write that out as often as it is named.
func bomb(raw []byte) bool {
	if bytes.IndexByte(raw, '&') < 0 || bytes.IndexByte(raw, '*') < 0 {
		return false
	}
	var doc yaml.Node
	left := maxWritten
	return yaml.Unmarshal(raw, &doc) == nil && !fits(&doc, &left, 0)
}

// fits takes the size of a node from left.
func fits(n *yaml.Node, left *int, depth int) bool {
	if *left -= len(n.Value) + 1; *left < 0 || depth > maxDepth {
		return false
	}
	if n.Alias != nil {
		return fits(n.Alias, left, depth+1)
	}
	return !slices.ContainsFunc(n.Content, func(inner *yaml.Node) bool { return !fits(inner, left, depth+1) })
}

// textOf is a text, or a number that was meant as one.
func textOf(raw json.RawMessage) string {
	var s string
	if strict.Decode(raw, &s, strict.Foreign) == nil {
		return s
	}
	if len(raw) > 0 && (raw[0] >= '0' && raw[0] <= '9') {
		return string(raw)
	}
	return ""
}

func (e entry) release() artifact.Release {
	return artifact.Release{
		Version: e.version, AppVersion: e.appVersion, Description: e.description, Created: e.created, Deprecated: e.deprecated,
	}
}
