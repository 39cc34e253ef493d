package sops

import "fmt"

// maxComments bounds comments one below the other: each may be asked for each value below them.
const maxComments = 1000

// level is a mapping or a list that is being walked: the keys that lead to it and the comments above its next value.
type level struct {
	path  []string
	above [][]string // the last one is that of this level
	leaf  leafFunc
}

// begin walks a document.
func begin(leaf leafFunc) level { return level{above: [][]string{nil}, leaf: leaf} }

// into goes a level deeper; key is "" for an item of a list.
func (l *level) into(key string, named bool) (level, error) {
	if len(l.above) > maxDepth {
		return level{}, fmt.Errorf("%w: mappings and lists are nested deeper than %d", ErrLimit, maxDepth)
	}
	inner := level{leaf: l.leaf, path: l.path, above: append(append([][]string{}, l.above...), nil)}
	if named {
		inner.path = append(append([]string{}, l.path...), key)
	}
	return inner, nil
}

// comment gives what stands in place of a comment.
func (l *level) comment(text string) (string, error) {
	last := len(l.above) - 1
	if len(l.above[last]) >= maxComments {
		return "", fmt.Errorf("%w: more than %d comments without a value between them", ErrLimit, maxComments)
	}
	l.above[last] = append(l.above[last], text)
	v, err := l.leaf(comment(text), l.path, l.above)
	if err != nil {
		return "", err
	}
	c, ok := v.(comment)
	if !ok {
		return "", fmt.Errorf("%w: an encrypted comment is none", ErrDamaged)
	}
	return string(c), nil
}

// value gives what stands in place of a value. SOPS stores the comments in a list as items: there it can be a comment.
func (l *level) value(v any, key string, named bool) (any, error) {
	path := l.path
	if named {
		path = append(append([]string{}, l.path...), key)
	}
	defer l.passed()
	if v == nil {
		return nil, nil
	}
	out, err := l.leaf(v, path, l.above)
	if err != nil {
		return nil, err
	}
	if _, is := out.(comment); is && named {
		return nil, fmt.Errorf("%s: %w: an encrypted value is a comment", shown(path), ErrDamaged)
	}
	return out, nil
}

// passed ends what the comments above stand for: a value came.
func (l *level) passed() { l.above[len(l.above)-1] = nil }
