package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// PatchType is how a patch is written.
type PatchType string

// The types of patches.
const (
	PatchMerge     PatchType = "merge"     // RFC 7386
	PatchJSON      PatchType = "json"      // RFC 6902
	PatchStrategic PatchType = "strategic" // of Kubernetes
)

// maxSteps bounds a JSON patch.
const maxSteps = 1000

// GuardedPatch is a patch that shows nothing of an object that its author may not see.
type GuardedPatch struct {
	// JSON is the patch in its normal form: the bytes that were judged, and that are to be sent.
	JSON []byte
	// Pinned says that it reads the object, so that it holds for the version only that it was judged by.
	Pinned bool
}

// Guard judges a patch of a live object, of which mask names the annotations that are hidden. A patch can read: it copies
// and moves values to where they are shown, and a test, or a write that changes nothing, answers whether a guess is right.
// It is refused where it would do so with a value that [Shown] hides, and so is every patch of a Secret, with a [HiddenError]
// that says what to do instead. Another error is that it cannot be read.
func Guard(live map[string]any, kind PatchType, patch []byte, mask []string) (GuardedPatch, error) {
	if object.IsSecret(live) {
		return GuardedPatch{}, hidden("a Secret cannot be patched here, since a patch can copy its values to where they are shown, " +
			"or try them out: change it in its source, or with kubectl")
	}
	g := guard{live: live, shown: Shown(live, mask), ours: ours(live)}
	g.opaque = !reflect.DeepEqual(without(live, "metadata"), without(g.shown, "metadata"))
	g.users = map[string]bool{}
	if g.opaque && g.ours {
		g.hiddenUsers(live, 0)
	}
	if kind == PatchJSON {
		return g.steps(patch)
	}
	change, err := object.DecodeJSON(patch)
	if err != nil {
		return GuardedPatch{}, fmt.Errorf("read the patch: %w: give one object as JSON", err)
	}
	if err := g.merge(change, live, g.shown, "", 0); err != nil {
		return GuardedPatch{}, err
	}
	if err := g.noGuess(change, 0); err != nil {
		return GuardedPatch{}, err
	}
	raw, err := json.Marshal(change)
	if err != nil {
		return GuardedPatch{}, fmt.Errorf("encode the patch: %w", err)
	}
	return GuardedPatch{JSON: raw}, nil
}

// GuardWrite judges an object of Slipway's own that a request puts in place of a live one: an address in it must not try
// out the password that the live one has.
func GuardWrite(live, want map[string]any) error {
	g := guard{live: live, users: map[string]bool{}}
	g.hiddenUsers(live, 0)
	return g.noGuess(want, 0)
}

type guard struct {
	live, shown map[string]any
	ours        bool            // it is a resource of Slipway or Argo CD
	opaque      bool            // something is hidden outside of the metadata
	users       map[string]bool // addresses, as shown, of which a password is hidden
}

func without(obj map[string]any, field string) map[string]any {
	out := maps.Clone(obj)
	delete(out, field)
	return out
}

// HiddenError is that a patch would show a value that its author may not see.
type HiddenError struct{ message string }

func (e *HiddenError) Error() string { return e.message }

func hidden(format string, args ...any) error {
	return &HiddenError{fmt.Sprintf(format, args...)}
}

func hiddenAt(path string) error {
	return hidden("the patch touches %s, which holds a value that is not shown here: leave it out, or change it in its source or with kubectl",
		path)
}

// hiddenUsers collects the addresses of which something is hidden.
func (g *guard) hiddenUsers(value any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			g.hiddenUsers(inner, depth+1)
		}
	case []any:
		for _, inner := range v {
			g.hiddenUsers(inner, depth+1)
		}
	case string:
		if clean := redact.Addresses(v); clean != v {
			g.users[clean] = true
		}
	}
}

// noGuess refuses an address with a password where another password of the same address is hidden: that nothing changes
// would say that it is the right one.
func (g *guard) noGuess(value any, depth int) error {
	if len(g.users) == 0 {
		return nil
	}
	if depth > maxDepth {
		return errors.New("the patch is nested too deep")
	}
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if err := g.noGuess(inner, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := g.noGuess(inner, depth+1); err != nil {
				return err
			}
		}
	case string:
		if clean := redact.Addresses(v); clean != v && g.users[clean] {
			return hidden("the address %s has a password that is not shown: leave user and password out to keep it, "+
				"or give them in a repository setting of the agent", clean)
		}
	}
	return nil
}

// directives of a strategic merge patch that name a field behind a slash.
func directive(key string) (field string, is bool) {
	for _, d := range []string{"$deleteFromPrimitiveList/", "$setElementOrder/"} {
		if rest, ok := strings.CutPrefix(key, d); ok {
			return rest, true
		}
	}
	return key, false
}

// merge walks a merge patch beside the object and what is shown of it.
func (g *guard) merge(patch, live, shown map[string]any, path string, depth int) error {
	if depth > maxDepth {
		return errors.New("the patch is nested too deep")
	}
	for key, value := range patch {
		field, ordered := directive(key)
		at := path + "/" + escape(field)
		was, there := live[field]
		if !there || value == nil {
			continue // nothing is learned from what is new, nor from taking something away
		}
		sees, visible := shown[field]
		if visible && reflect.DeepEqual(was, sees) {
			continue
		}
		inner, isMap := value.(map[string]any)
		below, isObject := was.(map[string]any)
		seesBelow, _ := sees.(map[string]any)
		switch {
		case at == "/metadata/managedFields":
			return hiddenAt(at)
		case isMap && isObject && !ordered && inner["$patch"] == nil:
			if err := g.merge(inner, below, seesBelow, at, depth+1); err != nil {
				return err
			}
		case g.ours && path != "/metadata/annotations" && !strings.HasPrefix(at, "/metadata"):
			// Addresses with passwords: noGuess looks at what is written.
		case isString(value) && visible && value == sees:
			return fmt.Errorf("the patch writes what stands for a hidden value to %s: leave it out", at)
		default:
			return hiddenAt(at)
		}
	}
	return nil
}

func isString(v any) bool {
	_, ok := v.(string)
	return ok
}

func escape(field string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(field)
}

// step is one of a JSON patch.
type step struct{ op, path, from string }

// steps judges a JSON patch and writes it in the one way in which every reader understands the same.
func (g *guard) steps(patch []byte) (GuardedPatch, error) {
	var in []map[string]json.RawMessage
	if err := json.Unmarshal(patch, &in); err != nil {
		return GuardedPatch{}, errors.New("a JSON patch is a list of steps, each an object with op and path")
	}
	if len(in) > maxSteps {
		return GuardedPatch{}, fmt.Errorf("the patch has %d steps, and at most %d are allowed: split it", len(in), maxSteps)
	}
	out := GuardedPatch{}
	for i, raw := range in {
		s, err := readStep(raw)
		if err == nil {
			err = g.step(s, raw["value"])
		}
		if err != nil {
			return out, fmt.Errorf("step %d: %w", i+1, err)
		}
		out.Pinned = out.Pinned || s.reads() != ""
	}
	var err error
	if out.JSON, err = json.Marshal(in); err != nil {
		return out, fmt.Errorf("encode the patch: %w", err)
	}
	return out, nil
}

// reads is where a step reads; "" for nowhere.
func (s step) reads() string {
	switch s.op {
	case "test":
		return s.path
	case "copy", "move":
		return s.from
	}
	return ""
}

func readStep(raw map[string]json.RawMessage) (step, error) {
	var s step
	for name, into := range map[string]*string{"op": &s.op, "path": &s.path, "from": &s.from} {
		if v, there := raw[name]; there {
			if err := json.Unmarshal(v, into); err != nil {
				return s, fmt.Errorf("%s is no text", name)
			}
		}
	}
	for name := range raw {
		if !slices.Contains([]string{"op", "path", "from", "value"}, name) {
			return s, fmt.Errorf("the field %.40q is not known: a step has op, path, from and value, in small letters", name)
		}
	}
	if !slices.Contains([]string{"add", "remove", "replace", "move", "copy", "test"}, s.op) {
		return s, fmt.Errorf("%.40q is no operation of a JSON patch", s.op)
	}
	paths := []string{s.path}
	if s.op == "copy" || s.op == "move" {
		paths = append(paths, s.from)
	} else if s.from != "" {
		return s, fmt.Errorf("%s takes no from", s.op)
	}
	for _, p := range paths {
		if !strings.HasPrefix(p, "/") || p == "/" {
			return s, fmt.Errorf("%.80q is no path to a field: write it like /metadata/labels/team", p)
		}
	}
	return s, nil
}

// step judges one step. The object is looked at as it was before the patch: what a step before put somewhere was shown, or
// its author's own.
func (g *guard) step(s step, value json.RawMessage) error {
	if from := s.reads(); from != "" {
		was, there := at(g.live, from)
		sees, visible := at(g.shown, from)
		if g.opaque && !within(from, "/metadata") || there != visible || !reflect.DeepEqual(was, sees) {
			return hiddenAt(from)
		}
	}
	if s.op == "remove" || s.op == "test" {
		return nil
	}
	var written any
	if len(value) > 0 {
		if err := json.Unmarshal(value, &written); err != nil {
			return fmt.Errorf("read the value: %w", err)
		}
	}
	if g.ours && !within(s.path, "/metadata") {
		return g.noGuess(written, 0)
	}
	was, there := at(g.live, s.path)
	sees, visible := at(g.shown, s.path)
	if g.opaque && !within(s.path, "/metadata") || there && (!visible || !reflect.DeepEqual(was, sees)) {
		return hiddenAt(s.path)
	}
	return nil
}

// within reports whether a path is below a field.
func within(path, field string) bool { return strings.HasPrefix(path, field+"/") }

// at resolves a JSON pointer as API servers do.
func at(doc any, path string) (any, bool) {
	for part := range strings.SplitSeq(path[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				return nil, false
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(part)
			if err == nil && i < 0 {
				i += len(v)
			}
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}
