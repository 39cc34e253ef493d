package security

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// turns is who asks with what where not everybody asks with everything: each variant of each field is asked by somebody, in
// turn by those who may do what the route does, and everybody asks with each variant.
type turns struct {
	hostile []hostile
	able    map[*route][]*actor
	// number is where somebody is in the row, rows how many they are, and fields how many fields were asked for so far, of total.
	number              map[*actor]int
	fields, total, rows int
	byField             map[string][]bool
	byActor             map[*actor][]bool
}

func (k *walk) newTurns(all []*actor) *turns {
	k.t.Helper()
	out := &turns{hostile: ofFields(), able: map[*route][]*actor{}, number: map[*actor]int{}, rows: len(all), byField: map[string][]bool{}, byActor: map[*actor][]bool{}}
	for i, a := range all {
		out.number[a] = i
		out.byActor[a] = make([]bool, len(out.hostile))
	}
	for _, r := range k.routes {
		if !own(r) {
			out.total += len(r.fields)
		}
		here := slices.DeleteFunc(slices.Clone(all), func(a *actor) bool { return k.spares(r, a) })
		out.able[r] = slices.DeleteFunc(slices.Clone(here), func(a *actor) bool { return k.base(r, a).refused })
		if len(out.able[r]) == 0 {
			out.able[r] = here
		}
	}
	return out
}

// turn says whether it is somebody's turn to ask with the nth variant.
func (k *walk) turn(r *route, a *actor, n int) bool {
	row := k.turns.able[r]
	return len(row) > 0 && row[(n+int(k.seed%1000))%len(row)] == a
}

// first says whether somebody has not asked with a variant yet, and could have some fields ago: not all begin with the same.
func (u *turns) first(a *actor, variant int) bool {
	due := (u.number[a]*len(u.hostile) + variant) * u.total / (2 * u.rows * len(u.hostile))
	return !u.byActor[a][variant] && u.fields >= due
}

// met notes that a field was asked with a variant.
func (u *turns) met(r *route, a *actor, name string, variant int) {
	field := r.String() + " " + name
	if u.byField[field] == nil {
		u.byField[field] = make([]bool, len(u.hostile))
		u.fields++
	}
	u.byField[field][variant], u.byActor[a][variant] = true, true
}

// judge looks whether everything was asked.
func (u *turns) judge(t *testing.T) {
	t.Helper()
	for field, variants := range u.byField {
		for i, met := range variants {
			if !met {
				t.Errorf("nobody asked with %s %s", field, u.hostile[i].name)
			}
		}
	}
	for a, variants := range u.byActor {
		for i, met := range variants {
			if !met {
				t.Errorf("%s asked with no field %s", a.name, u.hostile[i].name)
			}
		}
	}
	if u.fields < u.total {
		t.Errorf("only %d of at least %d fields were asked for", u.fields, u.total)
	}
}

// picked says whether a variant is asked: the same ones for the same seed.
func (k *walk) picked(parts ...string) bool {
	if k.share <= 1 {
		return true
	}
	h := fnv.New64a()
	fmt.Fprint(h, k.seed, parts)
	return h.Sum64()%uint64(k.share) == 0
}

// variants asks a route in every hostile way.
func (k *walk) variants(r *route, a *actor) {
	k.t.Helper()
	if own(r) {
		return
	}
	for i, path := range ofPaths(k.base(r, a).path) {
		if !k.turn(r, a, i) && !k.picked(r.String(), a.name, "path", strconv.Itoa(i)) {
			continue
		}
		q := k.base(r, a)
		q.what, q.path = "path", path
		q.refused = q.refused || !a.everywhere() && path == theirs(path) && strings.Contains(path, theirProject) && r.access == "addressed"
		k.ask(q)
	}
	for i, query := range ofQueries(r, k.base(r, a).query) {
		if k.turn(r, a, i) || k.picked(r.String(), a.name, "query", strconv.Itoa(i)) {
			q := k.base(r, a)
			q.what, q.query = "query", query
			k.ask(q)
		}
	}
	bodies, whole := ofRequests()
	if r.example != nil {
		whole = append(whole, bodies...)
		k.fields(r, a)
	}
	for i, e := range whole {
		if k.turn(r, a, i) || k.picked(r.String(), a.name, e.name) {
			q := k.base(r, a)
			q.what, q.prepare = e.name, e.change
			q.refused = q.refused || e.refused
			k.ask(q)
		}
	}
	k.wires(r, a)
}

// wires asks a route over a connection, in every way to write it.
func (k *walk) wires(r *route, a *actor) {
	k.t.Helper()
	for i, how := range ofWires() {
		if how.body && r.example == nil || !k.turn(r, a, i) && !k.picked(r.String(), a.name, how.name) {
			continue
		}
		q := k.base(r, a)
		q.what, q.wire = how.name, &how
		q.refused = q.refused || how.refused
		k.ask(q)
	}
}

// fields asks a route with every variant of every field of its body.
func (k *walk) fields(r *route, a *actor) {
	k.t.Helper()
	body := k.body(r, "x")
	known := map[string]bool{}
	for _, at := range r.fields {
		known[strings.Join(at, ".")] = true
	}
	judged := func(at []string) bool {
		return a.thorough && slices.Contains([]string{"project", "argoProject", "organization", "scope", "namespace", "name", "role", "metadata", "spec"}, at[len(at)-1])
	}
	all := slices.Clone(r.fields)
	for _, at := range leaves(body, nil) {
		if !known[strings.Join(at, ".")] {
			all = append(all, at)
		}
	}
	for i, at := range all {
		name := strings.Join(at, ".")
		for j, h := range k.turns.hostile {
			if !judged(at) && !k.turn(r, a, i+j) && !k.turns.first(a, j) && !k.picked(r.String(), a.name, name, h.name) {
				continue
			}
			k.turns.met(r, a, name, j)
			q := k.base(r, a)
			q.what = name + " " + h.name
			q.body = written(k.body(r, "new-"+strconv.Itoa(k.asked)), at, h.member)
			// In a table of texts, such as labels, names in another case are other names.
			exact := known[name] || strings.HasPrefix(h.name, "twice") || h.name == "no UTF-8" || h.name == "deep"
			q.refused = q.refused || h.refused && exact && folded(at[len(at)-1]) != at[len(at)-1] || h.refused && exact && h.name != "folded"
			k.ask(q)
		}
	}
}
