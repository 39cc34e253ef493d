// Package plan turns the differences of an application into an ordered plan, and says step by step what an operation
// does with it: phases, waves within a phase, hooks, what to wait for. Both are values that print as text. The package
// is pure.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Plan is what an operation will do, in order: by phase, wave, kind and name.
type Plan struct {
	Tasks  []Task
	Counts Counts
}

// Counts says how many objects a plan touches. The deletion guard reads them.
type Counts struct {
	Create, Update, Delete, Keep, Hooks int
}

// String prints "2 to create, 1 to update, 0 to delete, 7 unchanged".
func (c Counts) String() string {
	text := fmt.Sprintf("%d to create, %d to update, %d to delete, %d unchanged", c.Create, c.Update, c.Delete, c.Keep)
	if c.Hooks > 0 {
		text += fmt.Sprintf(", %d hooks", c.Hooks)
	}
	return text
}

// Options of a plan.
type Options struct {
	PruneLast bool // all deletions come last
}

// Build puts tasks in order. Deletions go through their waves backwards: what was made last is removed first.
// Namespaces and definitions are pulled before what needs them, whatever their own phase and wave. A task without a
// phase is of the phase Sync.
func Build(tasks []Task, o Options) Plan {
	p := Plan{Tasks: slices.Clone(tasks)}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Phase, t.rank = cmp.Or(t.Phase, v1alpha1.PhaseSync), Rank(t.Key.GroupKind())
		p.Counts.add(t)
	}
	reverseDeletions(p.Tasks)
	deleteLast(p.Tasks, o.PruneLast)
	slices.SortStableFunc(p.Tasks, compare)
	p.Tasks = pullForward(p.Tasks)
	return p
}

func (c *Counts) add(t *Task) {
	switch {
	case t.Hook:
		c.Hooks++
	case t.Deletes() && t.Prune == v1alpha1.OptionFalse:
		c.Keep++
	case t.Verb == diff.Create:
		c.Create++
	case t.Verb == diff.Update:
		c.Update++
	case t.Verb == diff.Delete:
		c.Delete++
	default:
		c.Keep++
	}
}

// Empty reports whether the plan changes nothing.
func (p Plan) Empty() bool {
	return p.Counts.Create+p.Counts.Update+p.Counts.Delete+p.Counts.Hooks == 0
}

// Staged reports whether the plan has more than one step, or hooks: something then waits for something else.
func (p Plan) Staged() bool { return p.Counts.Hooks > 0 || p.steps() }

// steps reports whether there is more than one pair of phase and wave.
func (p Plan) steps() bool {
	if len(p.Tasks) == 0 {
		return false
	}
	first, last := p.Tasks[0], p.Tasks[len(p.Tasks)-1]
	return first.Phase != last.Phase || first.Wave != last.Wave
}

func compare(a, b Task) int {
	if by := cmp.Or(
		cmp.Compare(phaseRank(a.Phase), phaseRank(b.Phase)), cmp.Compare(a.Wave, b.Wave), cmp.Compare(a.rank, b.rank),
	); by != 0 {
		return by
	}
	return cmp.Or(cmp.Compare(a.Key.Name, b.Key.Name), a.Key.Compare(b.Key))
}

func phaseRank(p v1alpha1.SyncPhase) int {
	switch p {
	case v1alpha1.PhasePreSync:
		return 0
	case v1alpha1.PhaseSync:
		return 1
	case v1alpha1.PhasePostSync:
		return 2
	}
	return 3 // SyncFail, and the phases of a deletion, which are never in one plan with others
}

// reverseDeletions swaps the waves of deletions symmetrically among themselves.
func reverseDeletions(tasks []Task) {
	var waves []int
	for _, t := range tasks {
		if t.Deletes() && !slices.Contains(waves, t.Wave) {
			waves = append(waves, t.Wave)
		}
	}
	slices.Sort(waves)
	mirror := make(map[int]int, len(waves))
	for i, w := range waves {
		mirror[w] = waves[len(waves)-1-i]
	}
	for i := range tasks {
		if tasks[i].Deletes() {
			tasks[i].Wave = mirror[tasks[i].Wave]
		}
	}
}

// deleteLast puts deletions that are to come last into a wave behind all others of the phase Sync.
func deleteLast(tasks []Task, all bool) {
	last := 0
	for _, t := range tasks {
		if t.Phase == v1alpha1.PhaseSync {
			last = max(last, t.Wave)
		}
	}
	for i := range tasks {
		if tasks[i].Deletes() && (all || tasks[i].Last) {
			tasks[i].Wave = last + 1
		}
	}
}

// pullForward moves namespaces and definitions before the first task that needs them, into its phase and wave. Tasks
// are sorted and stay so otherwise. A hook stays in its phase: it may have others too.
func pullForward(tasks []Task) []Task {
	needed := map[object.Key]int{} // what is needed -> the place of the first task that needs it
	note := func(k object.Key, at int) {
		if _, known := needed[k]; !known {
			needed[k] = at
		}
	}
	for i := 0; i < len(tasks); i++ {
		t := tasks[i]
		if t.Deletes() {
			continue
		}
		gives, gave := provides(t)
		if at, waiting := needed[gives]; gave && waiting && (!t.Hook || t.Phase == tasks[at].Phase) {
			t.Phase, t.Wave = tasks[at].Phase, tasks[at].Wave
			copy(tasks[at+1:i+1], tasks[at:i])
			tasks[at] = t
			for k, place := range needed {
				if place >= at {
					needed[k] = place + 1
				}
			}
		}
		if !gave && t.Key.Namespace != "" {
			note(namespaceKey(t.Key.Namespace), i)
		}
		if !gave {
			note(kindKey(t.Key.GroupKind()), i)
		}
	}
	return tasks
}

// provides says what others can need of a task: a namespace, or a kind.
func provides(t Task) (object.Key, bool) {
	switch {
	case t.Key.Group == "" && t.Key.Kind == "Namespace":
		return namespaceKey(t.Key.Name), true
	case t.Defines.Kind != "":
		return kindKey(t.Defines), true
	}
	return object.Key{}, false
}

func namespaceKey(name string) object.Key { return object.Key{Namespace: name} }

func kindKey(k object.Kind) object.Key { return object.Key{Group: k.Group, Kind: k.Kind} }

// String prints the plan for people and tests: a line per phase, wave and task. What stays as it is is left out.
func (p Plan) String() string {
	var b strings.Builder
	b.WriteString(p.Counts.String() + "\n")
	var phase v1alpha1.SyncPhase
	wave := 0
	for _, t := range p.Tasks {
		if t.Verb == diff.Keep && !t.Hook {
			continue
		}
		if t.Phase != phase || t.Wave != wave {
			fmt.Fprintf(&b, "%s wave %d\n", t.Phase, t.Wave)
			phase, wave = t.Phase, t.Wave
		}
		if t.Hook {
			fmt.Fprintf(&b, "  hook %s\n", t.Key)
		} else {
			fmt.Fprintf(&b, "  %s\n", t.Change)
		}
	}
	return b.String()
}
