package diff

import (
	"encoding/json"
	"slices"
)

// Match reports whether applying desired would change nothing in live, as far as that is known without the API
// server: every field of desired is in live with the same value and is ours, and every field that is ours is still
// in desired. False means "perhaps": defaults or normalisation by the API server (cpu: 1000m becomes "1") can hide
// equality, and only a dry run shows it.
func Match(desired, live map[string]any, owned Fields) bool {
	if owned.Empty() {
		return false
	}
	c := fieldCursor{code: owned.code.Value()}
	return matchMap(desired, live, &c, true)
}

// identity fields are in every manifest and never in a field set.
func identityField(name string) bool { return name == "apiVersion" || name == "kind" }

func matchValue(want, have any, c *fieldCursor) bool {
	peek := *c
	if peek.uvarint() == 0 { // leaf: owned as a whole
		c.skip()
		return sameValue(want, have)
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		return ok && matchMap(w, h, c, false)
	case []any:
		h, ok := have.([]any)
		return ok && matchList(w, h, c)
	}
	return false
}

func matchMap(want, have map[string]any, c *fieldCursor, root bool) bool {
	seen := 0
	for n := c.uvarint(); n > 0; n-- {
		kind, text := c.child()
		if kind == '.' {
			c.skip()
			continue
		}
		w, ok := want[text]
		h, live := have[text]
		if kind != 'f' || !ok || !live {
			return false
		}
		seen++
		if root && text == "metadata" {
			if !matchMeta(w, h, c) {
				return false
			}
			continue
		}
		if !matchValue(w, h, c) {
			return false
		}
	}
	return seen == countWanted(want, root)
}

// matchMeta compares metadata without name and namespace, which are never owned.
func matchMeta(want, have any, c *fieldCursor) bool {
	w, _ := want.(map[string]any)
	h, _ := have.(map[string]any)
	rest := make(map[string]any, len(w))
	for k, v := range w {
		if k != "name" && k != "namespace" && k != "creationTimestamp" {
			rest[k] = v
		}
	}
	return matchMap(rest, h, c, false)
}

// countWanted counts the fields of a manifest that a field set must have. metadata counts only when something
// besides the identity is in it.
func countWanted(want map[string]any, root bool) int {
	n := 0
	for k, v := range want {
		if root && identityField(k) {
			continue
		}
		if root && k == "metadata" {
			meta, _ := v.(map[string]any)
			owned := 0
			for name := range meta {
				if name != "name" && name != "namespace" && name != "creationTimestamp" {
					owned++
				}
			}
			if owned == 0 {
				continue
			}
		}
		n++
	}
	return n
}

// matchList compares lists whose items have a key or are members of a set. Their order counts: an apply brings the
// items that it names into the order in which it names them.
func matchList(want, have []any, c *fieldCursor) bool {
	seen := 0
	places := make([]int, len(want)) // where the items are in have, from 1; 0 for none
	for n := c.uvarint(); n > 0; n-- {
		kind, text := c.child()
		switch kind {
		case '.':
			c.skip()
			continue
		case 'k':
			w, h := indexByKey(want, text), indexByKey(have, text)
			if w < 0 || h < 0 {
				return false
			}
			seen++
			places[w] = h + 1
			if !matchItem(want[w], have[h], c) {
				return false
			}
		case 'v':
			w, h := indexByValue(want, text), indexByValue(have, text)
			if w < 0 || h < 0 {
				return false
			}
			seen++
			places[w] = h + 1
			c.skip()
		default:
			return false
		}
	}
	return seen == len(want) && slices.IsSorted(places)
}

// matchItem compares one item of an associative list. Its key fields are part of both item and set.
func matchItem(want, have any, c *fieldCursor) bool {
	w, ok1 := want.(map[string]any)
	h, ok2 := have.(map[string]any)
	return ok1 && ok2 && matchMap(w, h, c, false)
}

// sameValue compares decoded JSON values; whole numbers compare equal however they were decoded.
func sameValue(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !sameValue(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameValue(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := b.(json.Number)
		return ok && x == y
	}
	return sameScalar(a, b)
}
