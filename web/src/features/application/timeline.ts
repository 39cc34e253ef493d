import type { Schemas } from "@/api/client";
import type { Plan } from "./plan";
import { keyOf, type Named, type OperationState, type OwnObject, type Result } from "./resource";

// The timeline of an operation: what was done, is under way and is still to come, in the order of phases and waves.

export type State = "done" | "running" | "waiting" | "failed" | "skipped";

export interface Step extends Named {
  state: State;
  // what is or was done with it: create, update, apply (one of these), delete, keep, hook; "" where that is not known.
  verb: string;
  hook: string;
  message: string;
}

export interface Wave {
  wave: number;
  steps: Step[];
}

export interface Phase {
  phase: string;
  waves: Wave[];
}

export type Told = Schemas["OperationTimeline"];
type Item = NonNullable<NonNullable<Told["steps"]>[number]["items"]>[number];

export interface Timeline {
  phases: Phase[];
  done: number;
  failed: number;
  total: number;
}

const order = ["PreSync", "Sync", "PostSync", "SyncFail", "PreDelete", "PostDelete"];

// stateOf says how far one object is. Objects that were applied count as under way for as long as the operation waits for
// their health: Argo CD's word for that is a hook phase of Running.
export function stateOf(result: Result, under: boolean): State {
  if (result.status === "SyncFailed" || result.hookPhase === "Failed" || result.hookPhase === "Error") {
    return "failed";
  }
  if (result.status === "PruneSkipped") {
    return "skipped";
  }
  if (result.hookPhase === "Running" || result.hookPhase === "Terminating") {
    return under ? "running" : result.hookType ? "failed" : "done";
  }
  return "done";
}

function verbOf(result: Result): string {
  if (result.hookType) {
    return "hook";
  }
  return { Pruned: "delete", PruneSkipped: "keep" }[result.status ?? ""] ?? "";
}

const states: Record<Item["state"], State> = {
  waiting: "waiting",
  running: "running",
  succeeded: "done",
  pruned: "done",
  failed: "failed",
  skipped: "skipped",
};

const isUnder = (phase: string): boolean => phase === "Running" || phase === "Terminating";

// isOf says whether an answer about the operation is about the one in the status: either of the two may be older.
export const isOf = (answer: Told | undefined, state: OperationState): answer is Told =>
  answer !== undefined && Date.parse(answer.startedAt ?? "") === Date.parse(state.startedAt);

// timelineOfAnswer is the timeline as the agent reports it, its steps in their order. A plan that was looked at before says
// which objects are made and which are changed.
export function timelineOfAnswer(answer: Told, plan?: Plan): Timeline {
  const planned = plannedOf(plan);
  // What an operation that is over left running is not waited for any more: objects were applied, hooks had not ended.
  const left = (item: Item): State => (item.hook ? "failed" : "done");
  const list = (answer.steps ?? []).flatMap((s) =>
    (s.items ?? []).map((item): Placed => {
      const state = item.state === "running" && !isUnder(answer.phase) ? left(item) : (states[item.state] ?? "waiting");
      const known = item.verb === "apply" ? planned.get(`${s.phase} ${keyOf(item)}`)?.verb : undefined;
      return {
        phase: s.phase,
        wave: s.wave,
        step: {
          ...named(item),
          state,
          verb:
            (known !== "keep" && known) || (item.verb === "delete" && item.state === "skipped" ? "keep" : item.verb),
          hook: item.hook ?? "",
          message: item.message ?? "",
        },
      };
    }),
  );
  return group(list);
}

interface Placed {
  phase: string;
  wave: number;
  step: Step;
}

// plannedOf is in which wave a plan has each object, and what it does with it.
function plannedOf(plan: Plan | undefined): Map<string, { wave: number; verb: string }> {
  const planned = new Map<string, { wave: number; verb: string }>();
  for (const phase of plan?.phases ?? []) {
    for (const wave of phase.waves ?? []) {
      for (const item of wave.items ?? []) {
        planned.set(`${phase.phase} ${keyOf(item)}`, { wave: wave.wave, verb: item.verb });
      }
    }
  }
  return planned;
}

// What an operation was asked to do with objects that it has not come to yet.
function awaited(state: OperationState, own: OwnObject[]): { object: OwnObject; verb: string }[] {
  const only = state.operation.sync?.resources;
  const asked = (o: OwnObject) =>
    !only?.length || only.some((r) => r.kind === o.kind && r.name === o.name && (r.group ?? "") === (o.group ?? ""));
  return own
    .filter((o) => o.status === "OutOfSync" && asked(o) && (!o.requiresPruning || state.operation.sync?.prune))
    .map((object) => ({ object, verb: object.requiresPruning ? "delete" : "" }));
}

// timelineOf is for as long as the agent has not reported it: it combines the status of each object, in which waves
// they are, and what a plan that was looked at before says of those that the operation has not come to.
export function timelineOf(state: OperationState, own: OwnObject[], plan?: Plan): Timeline {
  const under = isUnder(state.phase);
  const waves = new Map(own.map((o) => [keyOf(o), o.syncWave ?? 0]));
  const steps = new Map<string, Placed>();
  const put = (phase: string, wave: number, step: Step) => {
    const key = `${phase} ${keyOf(step)}`;
    if (!steps.has(key)) {
      steps.set(key, { phase, wave, step });
    }
  };
  const planned = plannedOf(plan);
  for (const result of state.syncResult?.resources ?? []) {
    const phase = result.syncPhase || result.hookType || "Sync";
    const known = planned.get(`${phase} ${keyOf(result)}`);
    put(phase, known?.wave ?? waves.get(keyOf(result)) ?? 0, {
      ...named(result),
      state: stateOf(result, under),
      verb: verbOf(result) || (known?.verb ?? ""),
      hook: result.hookType ?? "",
      message: result.message ?? "",
    });
  }
  if (under) {
    const rest = (o: Named, verb: string, hook: string): Step => ({
      ...named(o),
      state: "waiting",
      verb,
      hook,
      message: "",
    });
    for (const phase of plan?.phases ?? []) {
      for (const wave of phase.phase === "SyncFail" ? [] : (phase.waves ?? [])) {
        for (const item of wave.items ?? []) {
          if (item.verb !== "keep") {
            put(phase.phase, wave.wave, rest(item, item.verb, item.hook ?? ""));
          }
        }
      }
    }
    if (!plan) {
      for (const { object, verb } of awaited(state, own)) {
        put("Sync", object.syncWave ?? 0, rest(object, verb, ""));
      }
    }
  }
  const place = (phase: string) => (order.indexOf(phase) + order.length + 1) % (order.length + 1);
  return group([...steps.values()].sort((a, b) => place(a.phase) - place(b.phase) || a.wave - b.wave));
}

const named = (o: Named): Named => ({
  kind: o.kind,
  name: o.name,
  group: o.group ?? "",
  namespace: o.namespace ?? "",
});

// group puts what is in order into its phases and waves, and counts it.
function group(list: Placed[]): Timeline {
  const phases: Phase[] = [];
  for (const one of list) {
    let phase = phases.at(-1);
    if (phase?.phase !== one.phase) {
      phase = { phase: one.phase, waves: [] };
      phases.push(phase);
    }
    let wave = phase.waves.at(-1);
    if (wave?.wave !== one.wave) {
      wave = { wave: one.wave, steps: [] };
      phase.waves.push(wave);
    }
    wave.steps.push(one.step);
  }
  const states = list.map((l) => l.step.state);
  const failed = states.filter((s) => s === "failed").length;
  return {
    phases,
    failed,
    done: states.filter((s) => s === "done" || s === "skipped").length + failed,
    total: states.length,
  };
}

// stateOfAll is how far a wave or phase is: a failure first, then what is under way.
export function stateOfAll(steps: { state: State }[]): State {
  for (const state of ["failed", "running"] as const) {
    if (steps.some((s) => s.state === state)) {
      return state;
    }
  }
  const some = steps.some((s) => s.state === "done");
  if (steps.some((s) => s.state === "waiting")) {
    return some ? "running" : "waiting";
  }
  return some || steps.length === 0 ? "done" : "skipped";
}
