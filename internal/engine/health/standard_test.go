package health

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// standardRules are rules of ours in CEL as cel-go has it, with optional values for what an object may lack.
const standardRules = `
- kinds: [Issuer]
  rules:
  - each: status.?conditions.orValue([])
    as: c
    rules:
    - {when: 'c.?type.orValue("") == "Ready" && c.?status.orValue("") == "False"', status: Degraded, message: '${c.?message.orValue("")}'}
    - {when: 'c.?type.orValue("") == "Ready" && c.?status.orValue("") == "True"', status: Healthy, message: '${c.?message.orValue("")}'}
  - {status: Progressing, message: Initializing issuer}
- kinds: [ScaledObject]
  let:
    special: 'kind == "ScaledJob" ? ["Ready", "Unknown"] : ["Fallback", "True"]'
    told: >-
      status.?conditions.orValue([]).filter(c, c.?type.orValue("") == "Ready" && c.?status.orValue("") in ["True", "False"]
        || c.?type.orValue("") == "Paused" && c.?status.orValue("") == "True"
        || c.?type.orValue("") == special[0] && c.?status.orValue("") == special[1])
    broken: >-
      status.?conditions.orValue([]).exists(c, c.?type.orValue("") == "Ready" && c.?status.orValue("") == "False"
        || c.?type.orValue("") == special[0] && c.?status.orValue("") == special[1])
    ready: status.?conditions.orValue([]).exists(c, c.?type.orValue("") == "Ready" && c.?status.orValue("") == "True")
    paused: status.?conditions.orValue([]).exists(c, c.?type.orValue("") == "Paused" && c.?status.orValue("") == "True")
  rules:
  - {when: 'broken', status: Degraded, message: '${told[size(told) - 1].?message.orValue("")}'}
  - {when: 'ready', status: '${paused ? "Suspended" : "Healthy"}', message: '${told[size(told) - 1].?message.orValue("")}'}
  - {status: Progressing, message: '${kind == "ScaledJob" ? "Waiting for ScaledJob" : "Creating HorizontalPodAutoscaler Object"}'}
- kinds: [Rollout]
  let:
    seen: int(status.?observedGeneration.orValue(-1))
    observed: seen == -1 || seen >= int(generation)
    workloadObserved: >-
      !spec.?workloadRef.hasValue() || annotations == null
        || int(annotations[?"rollout.argoproj.io/workload-generation"].orValue(-1)) == int(status.?workloadObservedGeneration.orValue(-1))
    replicas: status.?replicas.orValue(0)
    updated: status.?updatedReplicas.orValue(0)
    stable: 'status.?stableRS.or(status.?canary.?stableRS).orValue("")'
  rules:
  - {when: 'status == null || !observed || !workloadObserved', status: Progressing, message: Waiting for rollout spec update to be observed}
  - when: status.?phase.hasValue()
    status: '${status.phase == "Paused" ? "Suspended" : status.phase}'
    message: ${status.?message.orValue("")}
  - each: status.?conditions.orValue([])
    as: c
    rules:
    - when: >-
        c.?type.orValue("") == "InvalidSpec"
          || c.?type.orValue("") == "Progressing" && c.?reason.orValue("") in ["RolloutAborted", "ProgressDeadlineExceeded"]
      status: Degraded
      message: ${c.?message.orValue("")}
  - {when: 'size(status.?pauseConditions.orValue([])) > 0 || spec.?paused.orValue(false)', status: Suspended, message: Rollout is paused}
  - {when: '!status.?currentPodHash.hasValue()', status: Progressing, message: 'Waiting for rollout to finish: status has not been reconciled.'}
  - {when: 'updated < spec.?replicas.orValue(1)', status: Progressing, message: 'Waiting for roll out to finish: More replicas need to be updated'}
  - when: status.?availableReplicas.orValue(0) < updated
    status: Progressing
    message: 'Waiting for roll out to finish: updated replicas are still becoming available'
  - when: spec.?strategy.?blueGreen.hasValue()
    rules:
    - when: status.?blueGreen.?activeSelector.orValue("") != status.?currentPodHash.orValue("")
      status: Progressing
      message: active service cutover pending
    - {when: 'stable != "" && stable != status.?currentPodHash.orValue("")', status: Progressing, message: waiting for analysis to complete}
  - when: '!spec.?strategy.?blueGreen.hasValue() && spec.?strategy.?canary.hasValue()'
    rules:
    - {when: 'replicas > updated', status: Progressing, message: 'Waiting for roll out to finish: old replicas are pending termination'}
    - {when: 'stable == "" || stable != status.?currentPodHash.orValue("")', status: Progressing, message: Waiting for rollout to finish steps}
  - status: Healthy
`

// judged are objects that both judge, by kind.
var judged = map[string]string{
	"Issuer": `{"apiVersion":"cert-manager.io/v1","kind":"Issuer","status":{"conditions":[{"type":"Ready","status":"True","message":"ok"}]}}`,
	"ScaledObject": `{"apiVersion":"keda.sh/v1alpha1","kind":"ScaledObject","status":{"conditions":[{"type":"Ready","status":"True","message":"ready"},
		{"type":"Active","status":"False"},{"type":"Fallback","status":"False"},{"type":"Paused","status":"Unknown"}]}}`,
	"Rollout": `{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"generation":1},
		"spec":{"replicas":2,"strategy":{"canary":{}}},"status":{"observedGeneration":"1","currentPodHash":"a","stableRS":"a",
		"replicas":2,"updatedReplicas":2,"availableReplicas":2,"conditions":[{"type":"Available","status":"True"}]}}`,
}

// standard makes programs of cel-go.
type standard struct {
	tb      testing.TB
	options []cel.ProgramOption
	charged bool                    // each round of a loop is charged as in our language; cel-go's own limit does that by itself
	joint   bool                    // one interpreter plans all expressions, as ours does, and not one for each
	plan    interpreter.Interpreter // where it is joint
}

// evaluated is a program of cel-go where the engine of the rules wants one of its own.
type evaluated struct{ cel.Program }

func (evaluated) ID() int64 { return 0 }

func (e evaluated) Eval(in interpreter.Activation) ref.Val {
	v, _, err := e.Program.Eval(in)
	if err != nil {
		return types.WrapErr(err)
	}
	return v
}

func (s standard) env(names ...string) *cel.Env {
	options := []cel.EnvOption{cel.OptionalTypes()}
	for _, name := range append(append(names, stepName), objectNames...) {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		s.tb.Fatal(err)
	}
	return env
}

// shared is an interpreter of the functions of an environment.
func (s standard) shared(env *cel.Env) interpreter.Interpreter {
	dispatcher := interpreter.NewDispatcher()
	// What cel-go does by a decorator that it does not export.
	err := dispatcher.Add(&functions.Overload{Operator: "orValue", Binary: func(v, otherwise ref.Val) ref.Val {
		if o := v.(*types.Optional); o.HasValue() {
			return o.GetValue()
		}
		return otherwise
	}}, &functions.Overload{Operator: "or", Binary: func(v, otherwise ref.Val) ref.Val {
		if v.(*types.Optional).HasValue() {
			return v
		}
		return otherwise
	}})
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, f := range env.Functions() {
		bindings, err := f.Bindings()
		if err != nil {
			s.tb.Fatal(err)
		}
		if err := dispatcher.Add(bindings...); err != nil {
			s.tb.Fatal(err)
		}
	}
	adapter, provider := env.CELTypeAdapter(), env.CELTypeProvider()
	return interpreter.NewInterpreter(dispatcher, containers.DefaultContainer, provider, adapter,
		interpreter.NewAttributeFactory(containers.DefaultContainer, adapter, provider))
}

func (s standard) expr(env *cel.Env, text string) *program {
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		s.tb.Fatalf("%s: %v", text, issues.Err())
	}
	if s.charged {
		charge(parsed.NativeRep())
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		s.tb.Fatalf("%s: %v", text, issues.Err())
	}
	if s.plan != nil {
		run, err := s.plan.NewInterpretable(checked.NativeRep())
		if err != nil {
			s.tb.Fatal(err)
		}
		return &program{run: run}
	}
	run, err := env.Program(checked, s.options...)
	if err != nil {
		s.tb.Fatal(err)
	}
	return &program{run: evaluated{run}}
}

// charge makes every loop ask whether it may go on.
func charge(in *ast.AST) {
	id := ast.MaxID(in)
	next := func() int64 { id++; return id }
	maker := ast.NewExprFactory()
	ast.PostOrderVisit(in.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		c := e.AsComprehension()
		cond := maker.NewCall(next(), operators.LogicalAnd, maker.NewIdent(next(), stepName), maker.CopyExpr(c.LoopCondition()))
		e.SetKindCase(maker.NewComprehension(e.ID(), c.IterRange(), c.IterVar(), c.AccuVar(), c.AccuInit(), cond, c.LoopStep(), c.Result()))
	}))
}

func (s standard) template(env *cel.Env, text string) *template {
	if len(text) > 3 && text[:2] == "${" {
		return &template{parts: []part{{expr: s.expr(env, text[2:len(text)-1])}}}
	}
	return &template{parts: []part{{constant: types.String(text)}}}
}

func (s standard) block(env *cel.Env, texts []ruleText, let map[string]string) *block {
	b := &block{let: map[string]*program{}, rules: make([]rule, len(texts))}
	for name, text := range let {
		b.let[name] = s.expr(env, text)
	}
	for i, text := range texts {
		r := rule{verdict: text.Status != "", as: text.As, status: s.template(env, text.Status), message: s.template(env, text.Message)}
		if text.When != "" {
			r.when = s.expr(env, text.When)
		}
		if text.Each != "" {
			r.each = s.expr(env, text.Each)
		}
		if !r.verdict {
			r.body = s.block(env, text.Rules, nil)
		}
		b.rules[i] = r
	}
	return b
}

// blocks compiles all of standardRules; one environment for all serves best.
func (s standard) blocks() map[string]*block {
	var kinds []kindRules
	if err := yaml.UnmarshalStrict([]byte(standardRules), &kinds); err != nil {
		s.tb.Fatal(err)
	}
	env := s.env("c", "special", "told", "broken", "ready", "paused", "seen", "observed", "workloadObserved", "replicas", "updated", "stable")
	if s.joint {
		s.plan = s.shared(env)
	}
	out := map[string]*block{}
	for _, k := range kinds {
		out[k.Kinds[0]] = s.block(env, k.Rules, k.Let)
	}
	return out
}

// ours compiles the rules of the same kinds as they are.
func ours(tb testing.TB, c *compiler, files map[string]*ruleFile) map[string]*block {
	tb.Helper()
	out := map[string]*block{}
	for kind, f := range files {
		i := slices.IndexFunc(f.Health, func(k kindRules) bool { return slices.Contains(k.Kinds, kind) })
		b, err := c.compileKind(f, f.Health[i])
		if err != nil {
			tb.Fatal(err)
		}
		out[kind] = b
	}
	return out
}

// BenchmarkDialects compares the language of our rules with cel-go's own, see docs/adr/0052-language-of-health-rules.md.
func BenchmarkDialects(b *testing.B) {
	c, err := newCompiler()
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]*ruleFile{}
	for kind, group := range map[string]string{"Issuer": "cert-manager.io", "ScaledObject": "keda.sh", "Rollout": "argoproj.io"} {
		if files[kind], err = readRuleFile(group); err != nil {
			b.Fatal(err)
		}
	}
	for _, d := range []struct {
		name    string
		compile func() map[string]*block
	}{
		{"ours", func() map[string]*block { return ours(b, c, files) }},
		{"cel-go, its limit", func() map[string]*block {
			return standard{tb: b, options: []cel.ProgramOption{cel.CostLimit(maxCost)}}.blocks()
		}},
		{"cel-go, our budget", func() map[string]*block { return standard{tb: b, charged: true}.blocks() }},
		{"cel-go, our budget and interpreter", func() map[string]*block { return standard{tb: b, charged: true, joint: true}.blocks() }},
	} {
		blocks := d.compile()
		for kind, text := range judged {
			obj, err := object.DecodeJSON([]byte(text))
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("judge/%s/%s", kind, d.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r, ok, err := blocks[kind].judge(&scope{subject: &subject{obj: obj}, block: blocks[kind]})
					if err != nil || !ok || r.Status != Healthy {
						b.Fatal(r, ok, err)
					}
				}
			})
		}
		b.Run("compile/"+d.name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				kept := d.compile()
				b.ReportMetric(float64(heap()-before)/1024, "KiB")
				runtime.KeepAlive(kept)
			}
		})
	}
	for name, start := range map[string]func() any{
		"ours":   func() any { c, err := newCompiler(); return []any{c, err} },
		"cel-go": func() any { return standard{tb: b}.env() },
	} {
		b.Run("start/"+name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				kept := start()
				b.ReportMetric(float64(heap()-before)/1024, "KiB")
				runtime.KeepAlive(kept)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
