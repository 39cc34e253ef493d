package sops

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// indent is that of SOPS.
const indent = 4

// blockKey is the key of the metadata.
const blockKey = "sops"

// yamlDocument is a file of one or several YAML documents.
type yamlDocument struct{ docs []*yaml.Node }

// readYAML returns nil where the first document has no metadata. What is no YAML is not encrypted either: who uses the file says
// what is wrong with it.
func readYAML(data []byte) (*File, error) {
	var doc yamlDocument
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil //nolint:nilerr // it is no YAML
		}
		if len(doc.docs) > maxValues {
			return nil, fmt.Errorf("%w: more than %d documents", ErrLimit, maxValues)
		}
		doc.docs = append(doc.docs, &node)
	}
	if len(doc.docs) == 0 {
		return nil, nil
	}
	block := takeBlock(doc.docs[0])
	if block == nil {
		return nil, nil
	}
	for _, more := range doc.docs[1:] {
		takeBlock(more)
	}
	raw, err := generic(block, 0)
	if err != nil {
		return nil, err
	}
	d, _ := raw.(dict)
	if _, has := d["mac"]; !has && d["lastmodified"] == nil {
		return nil, nil // a field of another meaning
	}
	meta, err := readMetadata(d)
	if err != nil {
		return nil, err
	}
	return &File{Format: YAML, doc: &doc, meta: meta, Kind: kindOf(doc.docs[0])}, nil
}

// root is the mapping of a document; nil where it is something else.
func root(doc *yaml.Node) *yaml.Node {
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 && doc.Content[0].Kind == yaml.MappingNode {
		return doc.Content[0]
	}
	return nil
}

// takeBlock takes the metadata out of a document.
func takeBlock(doc *yaml.Node) *yaml.Node {
	m := root(doc)
	if m == nil {
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == blockKey && m.Content[i+1].Kind == yaml.MappingNode {
			key, block := m.Content[i], m.Content[i+1]
			m.Content = append(m.Content[:i:i], m.Content[i+2:]...)
			// What stands before or after the metadata is about the document.
			about := &doc.FootComment
			if i > 0 {
				about = &m.Content[i-2].FootComment
			}
			*about = joined(*about, key.HeadComment, key.FootComment)
			return block
		}
	}
	return nil
}

// joined puts comments below each other.
func joined(texts ...string) string {
	kept := texts[:0]
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n")
}

func kindOf(doc *yaml.Node) string {
	m := root(doc)
	for i := 0; m != nil && i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == "kind" && m.Content[i+1].Kind == yaml.ScalarNode {
			return m.Content[i+1].Value
		}
	}
	return ""
}

var errAlias = fmt.Errorf("%w: it has anchors or aliases, which SOPS never writes", ErrDamaged)

// generic is metadata as values.
func generic(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: metadata is nested too deeply", ErrLimit)
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := dict{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := generic(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if _, twice := out[n.Content[i].Value]; twice {
				return nil, fmt.Errorf("%w: the sops block has a field twice", ErrDamaged)
			}
			out[n.Content[i].Value] = v
		}
		return out, nil
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			var err error
			if out[i], err = generic(c, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.AliasNode:
		return nil, errAlias
	}
	return scalar(n)
}

// scalar is the value of a scalar, with its type.
func scalar(n *yaml.Node) (any, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Errorf("%w: a value is not of the type of its tag", ErrDamaged)
	}
	return v, nil
}

func (d *yamlDocument) walk(leaf leafFunc) error {
	for _, doc := range d.docs {
		l := begin(leaf)
		if err := lines(&l, &doc.HeadComment, &doc.LineComment); err != nil {
			return err
		}
		for _, c := range doc.Content {
			switch {
			case c.Kind == yaml.MappingNode:
				if err := walkMapping(&l, c, false); err != nil {
					return err
				}
			case c.Kind == yaml.ScalarNode && c.Tag == "!!null":
			default:
				return fmt.Errorf("%w: a document of it is no mapping", ErrDamaged)
			}
		}
		if err := lines(&l, &doc.FootComment); err != nil {
			return err
		}
	}
	return nil
}

// lines replaces comments, each a text of several lines.
func lines(l *level, texts ...*string) error {
	for _, text := range texts {
		if *text == "" {
			continue
		}
		parts := strings.Split(*text, "\n")
		for i, line := range parts {
			if line == "" {
				continue
			}
			plain, err := l.comment(line[1:])
			if err != nil {
				return err
			}
			parts[i] = "#" + strings.ReplaceAll(plain, "\n", "\n#")
		}
		*text = strings.Join(parts, "\n")
	}
	return nil
}

// walkMapping walks a mapping whose level is l. handled says that the comments beside it were walked before.
func walkMapping(l *level, n *yaml.Node, handled bool) error {
	n.Style = 0
	if !handled {
		if err := lines(l, &n.HeadComment, &n.LineComment); err != nil {
			return err
		}
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag != "!!str" && key.Tag != "!!merge" {
			return fmt.Errorf("%s: %w: a key is no text", shown(l.path), ErrDamaged)
		}
		if seen[key.Value] {
			return fmt.Errorf("%s: %w: the key %q is there twice", shown(l.path), ErrDamaged, key.Value)
		}
		seen[key.Value] = true
		if err := lines(l, &key.HeadComment, &key.LineComment); err != nil {
			return err
		}
		plain := value.Kind == yaml.ScalarNode
		if plain {
			if err := lines(l, &value.HeadComment); err != nil {
				return err
			}
			if err := beside(l, &value.LineComment, &key.HeadComment); err != nil {
				return err
			}
		}
		if err := walkNode(l, value, key.Value, true, plain); err != nil {
			return err
		}
		if plain {
			if err := lines(l, &value.FootComment); err != nil {
				return err
			}
		}
		if err := lines(l, &key.FootComment); err != nil {
			return err
		}
	}
	if handled {
		return nil
	}
	return lines(l, &n.FootComment)
}

// walkNode walks a value below a key, or an item of a list.
func walkNode(l *level, n *yaml.Node, key string, named, handled bool) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return fmt.Errorf("%s: %w", shown(l.path), errAlias)
	}
	if n.Kind == yaml.ScalarNode {
		v, err := scalar(n)
		if err != nil {
			return fmt.Errorf("%s: %w", shown(l.path), err)
		}
		if v, err = l.value(v, key, named); err != nil {
			return err
		}
		return replace(n, v)
	}
	inner, err := l.into(key, named)
	if err != nil {
		return err
	}
	defer l.passed()
	if n.Kind == yaml.MappingNode {
		return walkMapping(&inner, n, handled)
	}
	n.Style = 0
	if !handled {
		if err := lines(&inner, &n.HeadComment, &n.LineComment); err != nil {
			return err
		}
	}
	if err := walkItems(&inner, n); err != nil || handled {
		return err
	}
	return lines(&inner, &n.FootComment)
}

// walkItems walks the items of a list. Those that are comments become ones.
func walkItems(l *level, n *yaml.Node) error {
	kept := n.Content[:0]
	above := ""
	for _, item := range n.Content {
		if err := lines(l, &item.HeadComment); err != nil {
			return err
		}
		if err := beside(l, &item.LineComment, &item.HeadComment); err != nil {
			return err
		}
		note, err := walkItem(l, item)
		if err != nil {
			return err
		}
		if err := lines(l, &item.FootComment); err != nil {
			return err
		}
		if note != "" {
			above = joined(above, item.HeadComment, note, item.FootComment)
			continue
		}
		item.HeadComment = joined(above, item.HeadComment)
		above = ""
		kept = append(kept, item)
	}
	n.Content = kept
	switch {
	case above == "":
	case len(kept) == 0:
		n.HeadComment = joined(n.HeadComment, above)
	default:
		last := kept[len(kept)-1]
		last.FootComment = joined(last.FootComment, above)
	}
	return nil
}

// walkItem walks an item of a list, and returns it where it is a comment.
func walkItem(l *level, item *yaml.Node) (string, error) {
	if item.Kind != yaml.ScalarNode || item.Anchor != "" {
		return "", walkNode(l, item, "", false, true)
	}
	v, err := scalar(item)
	if err != nil {
		return "", fmt.Errorf("%s: %w", shown(l.path), err)
	}
	if v, err = l.value(v, "", false); err != nil {
		return "", err
	}
	if note, is := v.(comment); is {
		return "#" + strings.ReplaceAll(string(note), "\n", "\n#"), nil
	}
	return "", replace(item, v)
}

// beside replaces the comment beside a value. Like SOPS, it puts what was encrypted above the value.
func beside(l *level, text, above *string) error {
	was := *text
	if err := lines(l, text); err != nil {
		return err
	}
	if *text != was {
		*above, *text = joined(*above, *text), ""
	}
	return nil
}

// replace makes a scalar of another value. Its comments stay.
func replace(n *yaml.Node, v any) error {
	var fresh yaml.Node
	if err := fresh.Encode(v); err != nil {
		return fmt.Errorf("%w: a value cannot be written", ErrDamaged)
	}
	n.Kind, n.Tag, n.Value, n.Style = fresh.Kind, fresh.Tag, fresh.Value, fresh.Style
	return nil
}

func (d *yamlDocument) encode() ([]byte, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(indent)
	for _, doc := range d.docs {
		if err := e.Encode(doc); err != nil {
			return nil, fmt.Errorf("%w: it cannot be written", ErrDamaged)
		}
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("%w: it cannot be written", ErrDamaged)
	}
	return out.Bytes(), nil
}
