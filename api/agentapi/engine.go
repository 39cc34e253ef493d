package agentapi

// Engine is what works on the Applications that an agent reports.
type Engine string

// The engines.
const (
	// EngineSlipway is the agent's own. An agent that names none has it.
	EngineSlipway Engine = "slipway"
	// EngineArgoCD is an Argo CD beside the agent, which drives it through Argo CD's own resources.
	EngineArgoCD Engine = "argocd"
)

// Known returns the engine that a word of an agent stands for; EngineSlipway for none that is known.
func (e Engine) Known() Engine {
	if e == EngineArgoCD {
		return e
	}
	return EngineSlipway
}

// Lack is a kind of commands that an engine cannot carry out.
type Lack struct {
	Kind Kind
	// Why says so to people, and what to do instead.
	Why string
}

// Lacks returns the commands that cannot be carried out with an engine. A server refuses them before it sends them, an
// agent when they come.
func (e Engine) Lacks() []Lack {
	if e != EngineArgoCD {
		return nil
	}
	const only = "the agent changes nothing but Argo CD's own resources: "
	return []Lack{
		{KindUnpin, "Argo CD has no pin, so there is none to end: sync the application to go forward again (`slipway app sync`)"},
		{KindConfirm, "deletions that wait are confirmed at Argo CD: `argocd app confirm-deletion APP`"},
		{KindRestore, "Argo CD cannot bring single objects back from its history: sync them at a revision that has them " +
			"(`slipway app sync APP --revision REVISION --resource GROUP/KIND:NAME`)"},
		{KindRevert, "Argo CD puts an object back by syncing it: `slipway app sync APP --resource GROUP/KIND:NAME`"},
		{KindAllow, "Argo CD cannot leave drift alone until a time: turn off selfHeal, or name the field in spec.ignoreDifferences"},
		{KindPlan, "Argo CD plans its own syncs: see what differs instead (`slipway app diff APP`), " +
			"or ask for a dry run (`slipway app sync APP --dry-run`)"},
		{KindResourcePatch, only + "patch the object with kubectl or `argocd app patch-resource`"},
		{KindResourceDelete, only + "delete the object with kubectl or `argocd app delete-resource`"},
		{KindResourceActions, only + "its actions are those of Argo CD, `argocd app actions list APP`"},
		{KindResourceAction, only + "run the action with `argocd app actions run APP ACTION`"},
		{KindResourceTerminal, only + "open the terminal with kubectl exec"},
	}
}

// Lacking says why commands of a kind cannot be carried out with an engine; "" where they can.
func (e Engine) Lacking(kind Kind) string {
	for _, l := range e.Lacks() {
		if l.Kind == kind {
			return l.Why
		}
	}
	return ""
}
