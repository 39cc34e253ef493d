package parity

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

func itoa(n int) string { return strconv.Itoa(n) }

// syncTask is a task as the scenarios about order write it.
type syncTask struct {
	ID, APIVersion, Kind, Name, Namespace string
	Phase                                 v1alpha1.SyncPhase
	Wave                                  int
	DefinesGroup, DefinesKind             string
}

// syncTasks makes tasks whose Why is their id.
func syncTasks(tasks []syncTask) []plan.Task {
	var out []plan.Task
	for _, s := range tasks {
		o := syncObject{APIVersion: s.APIVersion, Kind: s.Kind, Name: s.Name, Namespace: s.Namespace}
		out = append(out, plan.Task{
			Change:  diff.Change{Key: o.key(), Verb: diff.Create, Why: s.ID, Phase: s.Phase, Wave: s.Wave},
			Defines: object.Kind{Group: s.DefinesGroup, Kind: s.DefinesKind},
		})
	}
	return out
}

// syncCases are the checks of scenarios that are tables.
func syncCases() map[string]func(*testing.T, json.RawMessage) {
	return map[string]func(*testing.T, json.RawMessage){
		"order-steps":      checkSteps,
		"running-messages": checkRunning,
		"failure-messages": checkFailures,
		"replace-option":   checkHow,
		"force-option":     checkHow,
		"validate-option":  checkValidate,
	}
}

func decodeCases[T any](t *testing.T, raw json.RawMessage) []T {
	t.Helper()
	var out []T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func checkSteps(t *testing.T, raw json.RawMessage) {
	for _, c := range decodeCases[struct {
		Tasks                 []syncTask
		FirstPhase, LastPhase v1alpha1.SyncPhase
		FirstWave, LastWave   int
		MultiStep             bool
	}](t, raw) {
		p := plan.Build(syncTasks(c.Tasks), plan.Options{})
		first, last := p.Tasks[0], p.Tasks[len(p.Tasks)-1]
		if first.Phase != c.FirstPhase || first.Wave != c.FirstWave || last.Phase != c.LastPhase || last.Wave != c.LastWave || p.Staged() != c.MultiStep {
			t.Errorf("staged %t, want %+v:\n%s", p.Staged(), c, p)
		}
	}
}

// running is an operation with tasks that have been done, and something to do after them.
func running(tasks []plan.Task, do func(plan.Task) plan.State) *plan.Operation {
	after := plan.Task{Change: diff.Change{Key: object.Key{Kind: "Pod", Name: "after"}, Verb: diff.Create, Phase: v1alpha1.PhasePostSync}}
	op := plan.NewOperation(plan.Build(append(slices.Clone(tasks), after), plan.Options{}), plan.Settings{}, nil)
	for _, task := range op.Next(func(plan.Task) plan.Fact { return plan.Fact{} }).Tasks {
		op.Record(task, do(task))
	}
	return op
}

func checkRunning(t *testing.T, raw json.RawMessage) {
	for _, c := range decodeCases[struct {
		WaitingFor []syncObject
		Deleting   bool
		Message    string
	}](t, raw) {
		var tasks []plan.Task
		hooks := 0
		for _, o := range c.WaitingFor {
			task := plan.Task{Change: diff.Change{Key: o.key(), Verb: diff.Create, Phase: v1alpha1.PhaseSync}}
			if hook := plan.ReadHook(o.manifest()); hook.Is {
				task.Hook, task.Policies = true, hook.Delete
				hooks++
			} else if c.Deleting {
				task.Verb = diff.Delete
			}
			tasks = append(tasks, task)
		}
		if len(tasks) == 0 || c.Deleting && hooks > 0 && hooks < len(tasks) {
			continue // an operation waits for something; and never for deletions of both at once
		}
		got := ""
		switch {
		case c.Deleting && hooks > 0: // what earlier operations left
			op := plan.NewOperation(plan.Build(tasks, plan.Options{}), plan.Settings{}, nil)
			old := func(plan.Task) plan.Fact { return plan.Fact{Exists: true, Deleting: true} }
			for _, task := range op.Next(old).Tasks {
				op.Removed(task, false, "")
			}
			got = op.Next(old).Message
		case c.Deleting:
			op := running(tasks, func(plan.Task) plan.State {
				return plan.State{Code: v1alpha1.ResultPruned, Phase: v1alpha1.OperationSucceeded}
			})
			goes := func(task plan.Task) plan.Fact { return plan.Fact{Exists: true, Deleting: task.Deletes()} }
			op.Next(goes)
			got = op.Next(goes).Message
		default:
			op := running(tasks, func(plan.Task) plan.State {
				return plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning}
			})
			got = op.Next(func(plan.Task) plan.Fact { return plan.Fact{Exists: true} }).Message
		}
		if got != c.Message {
			t.Errorf("message %q, want %q", got, c.Message)
		}
	}
}

func checkFailures(t *testing.T, raw json.RawMessage) {
	for _, c := range decodeCases[struct {
		Failed, FailedSyncFailHooks []string
		Message                     string
	}](t, raw) {
		var tasks []plan.Task
		add := func(texts []string, phase v1alpha1.SyncPhase) {
			for i, text := range texts {
				tasks = append(tasks, plan.Task{
					Change: diff.Change{Key: object.Key{Kind: "Pod", Name: string(phase) + itoa(i)}, Verb: diff.Create, Phase: phase, Why: text},
					Hook:   phase == v1alpha1.PhaseSyncFail,
				})
			}
		}
		add(c.Failed, v1alpha1.PhaseSync)
		add(c.FailedSyncFailHooks, v1alpha1.PhaseSyncFail)
		if len(c.Failed) == 0 {
			add([]string{""}, v1alpha1.PhaseSync) // one without a reason
		}
		// The first failure names the step, the last message what came of the operation in the end.
		op := plan.NewOperation(plan.Build(tasks, plan.Options{}), plan.Settings{}, nil)
		message := ""
		for range 20 {
			m := op.Next(func(plan.Task) plan.Fact { return plan.Fact{} })
			message = m.Message
			if m.Verb == plan.End {
				if m.Phase != v1alpha1.OperationFailed {
					t.Errorf("%+v ended as %s", c, m.Phase)
				}
				break
			}
			for _, task := range m.Tasks {
				if m.Verb != plan.Do {
					break
				}
				s := plan.State{Phase: v1alpha1.OperationFailed, Message: task.Why}
				if task.Why != "" {
					s.Code = v1alpha1.ResultSyncFailed
				}
				op.Record(task, s)
			}
		}
		// With hooks for failures the operation comes back to say how it ended, in words for any step.
		want := c.Message
		if len(c.FailedSyncFailHooks) > 0 {
			want = strings.Replace(want, "one or more objects failed to apply", "one or more synchronization tasks completed unsuccessfully", 1)
		}
		if message != want {
			t.Errorf("message %q, want %q", message, want)
		}
	}
}

// checkHow reads the options of an object as they count when it is written.
func checkHow(t *testing.T, raw json.RawMessage) {
	for _, c := range decodeCases[struct {
		Target  syncObject
		Live    *syncObject
		Command string
		Force   *bool
	}](t, raw) {
		o := object.OptionsOf(c.Target.manifest())
		if c.Live != nil {
			o = o.WithLive(object.OptionsOf(c.Live.manifest()))
		}
		if replace := c.Command == "replace"; c.Live != nil && o.Replace.Is() != replace {
			t.Errorf("%+v: replace is %t", c, o.Replace.Is())
		}
		if c.Force != nil && c.Live != nil && o.Force.Is() != *c.Force {
			t.Errorf("%+v: force is %t", c, o.Force.Is())
		}
	}
}

func checkValidate(t *testing.T, raw json.RawMessage) {
	for _, c := range decodeCases[struct {
		Options  []string
		Settings syncSettings
		Validate bool
	}](t, raw) {
		o := object.OptionsOf(syncObject{Options: c.Options}.manifest()).Over(c.Settings.options())
		if got := o.Validate != object.No; got != c.Validate {
			t.Errorf("%+v: validates %t", c, got)
		}
	}
}

func checkPropagation(t *testing.T, policy, want string) {
	t.Helper()
	options := object.AppOptions([]string{"PrunePropagationPolicy=" + policy})
	if got := string(apply.PropagationOf(options.Propagation)); got != want {
		t.Errorf("deletes with %s, want %s", got, want)
	}
}
