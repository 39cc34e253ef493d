import type { Plan } from "./plan";
import { keyOf, type Named, type OperationState, type OwnObject, type Result } from "./resource";

// The timeline of an operation: what was done, is under way and is still to come, in the order of phases and waves.

export type State = "done" | "running" | "waiting" | "failed" | "skipped";

export interface Step extends Named {
  state: State;
  // what is or was done with it: create, update, delete, keep, hook; "" where that is not known.
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

// What an operation was asked to do with objects that it has not come to yet.
function awaited(state: OperationState, own: OwnObject[]): { object: OwnObject; verb: string }[] {
  const only = state.operation.sync?.resources;
  const asked = (o: OwnObject) =>
    !only?.length || only.some((r) => r.kind === o.kind && r.name === o.name && (r.group ?? "") === (o.group ?? ""));
  return own
    .filter((o) => o.status === "OutOfSync" && asked(o) && (!o.requiresPruning || state.operation.sync?.prune))
    .map((object) => ({ object, verb: object.requiresPruning ? "delete" : "" }));
}

// timelineOf puts together what the operation says of each object, in which waves they are, and what a plan that was looked
// at before says of those that it has not come to.
export function timelineOf(state: OperationState, own: OwnObject[], plan?: Plan): Timeline {
  const under = state.phase === "Running" || state.phase === "Terminating";
  const waves = new Map(own.map((o) => [keyOf(o), o.syncWave ?? 0]));
  const steps = new Map<string, { phase: string; wave: number; step: Step }>();
  const put = (phase: string, wave: number, step: Step) => {
    const key = `${phase} ${keyOf(step)}`;
    if (!steps.has(key)) {
      steps.set(key, { phase, wave, step });
    }
  };
  const planned = new Map<string, { wave: number; verb: string }>();
  for (const phase of plan?.phases ?? []) {
    for (const wave of phase.waves ?? []) {
      for (const item of wave.items ?? []) {
        planned.set(`${phase.phase} ${keyOf(item)}`, { wave: wave.wave, verb: item.verb });
      }
    }
  }
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
  return arrange([...steps.values()]);
}

const named = (o: Named): Named => ({
  kind: o.kind,
  name: o.name,
  group: o.group ?? "",
  namespace: o.namespace ?? "",
});

function arrange(list: { phase: string; wave: number; step: Step }[]): Timeline {
  const phases: Phase[] = [];
  const place = (phase: string) => (order.indexOf(phase) + order.length + 1) % (order.length + 1);
  for (const one of [...list].sort((a, b) => place(a.phase) - place(b.phase) || a.wave - b.wave)) {
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
