// Package plan turns the differences of an application into an ordered plan: phases, waves within a phase, steps of
// one kind within a wave. A plan is a value that prints as text. The package is pure.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

// Sync is the phase of everything that is not a hook.
const Sync = "Sync"

// Plan is what an operation will do, in order.
type Plan struct {
	Phases []Phase
	Counts Counts
}

// Phase is a stage of an operation: PreSync, Sync, PostSync.
type Phase struct {
	Name  string
	Waves []Wave
}

// Wave is a set of steps that must go well before the next wave begins. A gate on health between waves is not built yet.
type Wave struct {
	Number int
	Steps  []Step
}

// Step is a set of changes that may run at the same time. Steps of a wave run one after the other.
type Step []diff.Change

// Counts says how many objects a plan touches. A guard against mass deletion reads them.
type Counts struct {
	Create, Update, Delete, Keep int
}

// String prints "2 to create, 1 to update, 0 to delete, 7 unchanged".
func (c Counts) String() string {
	return fmt.Sprintf("%d to create, %d to update, %d to delete, %d unchanged", c.Create, c.Update, c.Delete, c.Keep)
}

// Empty reports whether the plan changes nothing.
func (p Plan) Empty() bool { return p.Counts.Create+p.Counts.Update+p.Counts.Delete == 0 }

// Build orders changes. Creations and updates come first, in the order of kinds that lets each find what it needs;
// deletions come last, in the reverse order. Deletions are left out unless prune is set.
func Build(changes []diff.Change, prune bool) Plan {
	var p Plan
	phases := map[string]map[int][]diff.Change{}
	var deletions []diff.Change
	for _, c := range changes {
		switch c.Verb {
		case diff.Keep:
			p.Counts.Keep++
			continue
		case diff.Delete:
			if prune {
				p.Counts.Delete++
				deletions = append(deletions, c)
			}
			continue
		case diff.Create:
			p.Counts.Create++
		case diff.Update:
			p.Counts.Update++
		}
		phase := cmp.Or(c.Phase, Sync)
		if phases[phase] == nil {
			phases[phase] = map[int][]diff.Change{}
		}
		phases[phase][c.Wave] = append(phases[phase][c.Wave], c)
	}
	for _, name := range []string{"PreSync", Sync, "PostSync"} {
		var ph Phase
		for _, n := range sortedWaves(phases[name]) {
			ph.Waves = append(ph.Waves, Wave{Number: n, Steps: byKind(phases[name][n], 1)})
		}
		if name == Sync {
			ph.Waves = append(ph.Waves, pruneWaves(deletions)...)
		}
		if len(ph.Waves) > 0 {
			ph.Name = name
			p.Phases = append(p.Phases, ph)
		}
	}
	return p
}

func pruneWaves(deletions []diff.Change) []Wave {
	byWave := map[int][]diff.Change{}
	for _, c := range deletions {
		byWave[c.Wave] = append(byWave[c.Wave], c)
	}
	numbers := sortedWaves(byWave)
	slices.Reverse(numbers)
	waves := make([]Wave, 0, len(numbers))
	for _, n := range numbers {
		waves = append(waves, Wave{Number: n, Steps: byKind(byWave[n], -1)})
	}
	return waves
}

func sortedWaves(m map[int][]diff.Change) []int {
	numbers := make([]int, 0, len(m))
	for n := range m {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

// byKind splits the changes of a wave into steps of one rank each; direction -1 reverses their order.
func byKind(changes []diff.Change, direction int) []Step {
	slices.SortStableFunc(changes, func(a, b diff.Change) int {
		return cmp.Or(direction*cmp.Compare(Rank(a.Key.GroupKind()), Rank(b.Key.GroupKind())), a.Key.Compare(b.Key))
	})
	var steps []Step
	for i, c := range changes {
		if i == 0 || Rank(c.Key.GroupKind()) != Rank(changes[i-1].Key.GroupKind()) {
			steps = append(steps, nil)
		}
		last := len(steps) - 1
		steps[last] = append(steps[last], c)
	}
	return steps
}

// String prints the plan for people and tests: a line per phase, wave and change.
func (p Plan) String() string {
	var b strings.Builder
	b.WriteString(p.Counts.String() + "\n")
	for _, ph := range p.Phases {
		for _, w := range ph.Waves {
			fmt.Fprintf(&b, "%s wave %d\n", ph.Name, w.Number)
			for i, step := range w.Steps {
				for _, c := range step {
					fmt.Fprintf(&b, "  %d %s\n", i+1, c)
				}
			}
		}
	}
	return b.String()
}
