package sops

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// flatPrefix begins the names of metadata in a dotenv file.
const flatPrefix = "sops_"

// entry is a line of a format without nesting: a value with its key, or a comment.
type entry struct {
	key   string
	value any
	note  bool // the value is a comment
}

// section is a part of such a file.
type section struct {
	name    string
	entries []entry
}

// plainText is a value as formats without types write it.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return v.Format(time.RFC3339)
	case comment:
		return string(v)
	}
	return fmt.Sprint(v)
}

// walkEntries walks entries whose level is l.
func walkEntries(l *level, entries []entry) error {
	for i := range entries {
		e := &entries[i]
		if e.note {
			text, err := l.comment(plainText(e.value))
			if err != nil {
				return err
			}
			e.value = text
			continue
		}
		v, err := l.value(e.value, e.key, true)
		if err != nil {
			return err
		}
		e.value = v
	}
	return nil
}

// dotenvDocument is a file of lines KEY=value.
type dotenvDocument struct{ entries []entry }

func readDotenv(data []byte) (*File, error) {
	var doc dotenvDocument
	flat := map[string]string{}
	seen := map[string]bool{}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		switch key, value, is := strings.Cut(string(line), "="); {
		case len(line) == 0:
		case line[0] == '#':
			doc.entries = append(doc.entries, entry{value: string(line[1:]), note: true})
		case !is:
			return nil, nil // it is of another format
		case seen[key]:
			return nil, fmt.Errorf("%w: the key %q is there twice", ErrDamaged, key)
		default:
			seen[key] = true
			value = strings.ReplaceAll(value, `\n`, "\n")
			if name, meta := strings.CutPrefix(key, flatPrefix); meta {
				flat[name] = value
				continue
			}
			doc.entries = append(doc.entries, entry{key: key, value: value})
		}
		if len(doc.entries) > maxValues {
			return nil, fmt.Errorf("%w: more than %d lines", ErrLimit, maxValues)
		}
	}
	return flatFile(Dotenv, &doc, flat)
}

func flatFile(format Format, doc document, flat map[string]string) (*File, error) {
	d, err := unflatten(flat)
	if err != nil {
		return nil, err
	}
	meta, err := readMetadata(d)
	if err != nil {
		return nil, err
	}
	return &File{Format: format, doc: doc, meta: meta}, nil
}

func (d *dotenvDocument) walk(leaf leafFunc) error {
	l := begin(leaf)
	return walkEntries(&l, d.entries)
}

func (d *dotenvDocument) encode() ([]byte, error) {
	var out bytes.Buffer
	for _, e := range d.entries {
		text := strings.ReplaceAll(plainText(e.value), "\n", `\n`)
		if e.note {
			out.WriteString("#" + text + "\n")
			continue
		}
		out.WriteString(e.key + "=" + text + "\n")
	}
	return out.Bytes(), nil
}

// iniDocument is a file of sections with lines key = value.
type iniDocument struct{ sections []section }

// firstSection is the name of what stands before the first section.
const firstSection = "DEFAULT"

func readINI(data []byte) (*File, error) {
	r := iniReader{rest: string(data), seen: map[string]bool{}}
	doc, err := r.read()
	if doc == nil || err != nil {
		return nil, err
	}
	flat := map[string]string{}
	kept := doc.sections[:0]
	for _, s := range doc.sections {
		if s.name != blockKey {
			kept = append(kept, s)
			continue
		}
		for _, e := range s.entries {
			if !e.note {
				flat[e.key] = strings.ReplaceAll(plainText(e.value), `\n`, "\n")
			}
		}
	}
	doc.sections = kept
	return flatFile(INI, doc, flat)
}

// iniReader reads what SOPS writes: names and values may be in quotes.
type iniReader struct {
	rest  string
	notes []string        // comments above the next section or key
	seen  map[string]bool // keys of the present section
	count int
}

func (r *iniReader) read() (*iniDocument, error) {
	doc := &iniDocument{sections: []section{{name: firstSection}}}
	for r.rest != "" {
		if r.count++; r.count > maxValues {
			return nil, fmt.Errorf("%w: more than %d lines", ErrLimit, maxValues)
		}
		now := &doc.sections[len(doc.sections)-1]
		trimmed := strings.TrimLeft(r.rest, " \t\r")
		line, _, _ := strings.Cut(trimmed, "\n")
		line = strings.TrimRight(line, " \t\r")
		switch {
		case line == "":
			r.next(trimmed)
		case line[0] == ';' || line[0] == '#':
			r.notes = append(r.notes, strings.TrimLeft(line, line[:1]+" "))
			r.next(trimmed)
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			doc.sections = append(doc.sections, section{name: strings.TrimSpace(line[1 : len(line)-1])})
			r.noted(&doc.sections[len(doc.sections)-1])
			clear(r.seen)
			r.next(trimmed)
		default:
			key, value, ok := r.pair(trimmed)
			if !ok {
				return nil, nil // it is of another format
			}
			if r.seen[key] {
				return nil, fmt.Errorf("%w: the key %q is there twice", ErrDamaged, key)
			}
			r.seen[key] = true
			now.entries = append(now.entries, entry{key: key, value: value})
			r.noted(now)
		}
	}
	return doc, nil
}

// next goes to the next line.
func (r *iniReader) next(from string) {
	_, r.rest, _ = strings.Cut(from, "\n")
}

// noted adds the comments above to a section. SOPS authenticates the comment of a key after it.
func (r *iniReader) noted(s *section) {
	if len(r.notes) > 0 {
		s.entries = append(s.entries, entry{value: strings.Join(r.notes, "\n"), note: true})
	}
	r.notes = nil
}

// pair reads a key with its value, and goes behind it.
func (r *iniReader) pair(from string) (key, value string, ok bool) {
	if from[0] == '`' {
		if key, from, ok = strings.Cut(from[1:], "`"); !ok {
			return "", "", false
		}
		if from, ok = strings.CutPrefix(strings.TrimLeft(from, " \t"), "="); !ok {
			return "", "", false
		}
	} else {
		i := strings.IndexAny(from, "=:\n")
		if i <= 0 || from[i] == '\n' {
			return "", "", false
		}
		key, from = strings.TrimSpace(from[:i]), from[i+1:]
	}
	from = strings.TrimLeft(from, " \t")
	for _, quote := range []string{`"""`, "`"} {
		if inner, quoted := strings.CutPrefix(from, quote); quoted {
			if value, from, ok = strings.Cut(inner, quote); !ok {
				return "", "", false
			}
			r.next(from)
			return key, value, true
		}
	}
	line, _, _ := strings.Cut(from, "\n")
	value = strings.TrimRight(line, " \t\r")
	if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		value = value[1 : len(value)-1]
	}
	r.next(from)
	return key, value, true
}

func (d *iniDocument) walk(leaf leafFunc) error {
	l := begin(leaf)
	for _, s := range d.sections {
		inner, err := l.into(s.name, true)
		if err != nil {
			return err
		}
		if err := walkEntries(&inner, s.entries); err != nil {
			return err
		}
	}
	return nil
}

func (d *iniDocument) encode() ([]byte, error) {
	var out bytes.Buffer
	for i, s := range d.sections {
		width := 0
		for _, e := range s.entries {
			if !e.note {
				width = max(width, len(iniKey(e.key)))
			}
		}
		if i == 0 && s.name == firstSection {
			if len(s.entries) == 0 {
				continue
			}
		} else {
			if len(s.entries) > 0 && s.entries[0].note {
				out.WriteString(iniNote(s.entries[0]))
				s.entries = s.entries[1:]
			}
			out.WriteString("[" + s.name + "]\n")
		}
		for j, e := range s.entries {
			if e.note {
				continue
			}
			if j+1 < len(s.entries) && s.entries[j+1].note {
				out.WriteString(iniNote(s.entries[j+1]))
			}
			key := iniKey(e.key)
			out.WriteString(key + strings.Repeat(" ", width-len(key)) + " = " + iniValue(plainText(e.value)) + "\n")
		}
		out.WriteString("\n")
	}
	return append(bytes.TrimRight(out.Bytes(), "\n"), '\n'), nil
}

func iniNote(e entry) string {
	return "; " + strings.ReplaceAll(plainText(e.value), "\n", "\n; ") + "\n"
}

func iniKey(key string) string {
	if strings.ContainsAny(key, `"=:`) {
		return "`" + key + "`"
	}
	return key
}

func iniValue(text string) string {
	switch {
	case strings.ContainsAny(text, "\n`"):
		return `"""` + text + `"""`
	case strings.ContainsAny(text, "#;"):
		return "`" + text + "`"
	case strings.TrimSpace(text) != text:
		return `"` + text + `"`
	}
	return text
}
