import { describe, expect, test } from "vitest";
import type { OperationState, OwnObject } from "./resource";
import type { Plan } from "./plan";
import { stateOfAll, timelineOf } from "./timeline";

const config = { kind: "ConfigMap", namespace: "shop", name: "settings" };
const web = { group: "apps", kind: "Deployment", namespace: "shop", name: "web" };
const migrate = { group: "batch", kind: "Job", namespace: "shop", name: "migrate" };

function operation(phase: string, resources: object[], sync: object = {}): OperationState {
  return {
    operation: { sync },
    phase,
    startedAt: "2026-03-01T12:00:00Z",
    syncResult: { resources: resources as never },
  };
}

const plan = {
  phases: [
    { phase: "PreSync", waves: [{ wave: 0, items: [{ ...migrate, verb: "hook", hook: "PreSync" }] }] },
    {
      phase: "Sync",
      waves: [
        { wave: -1, items: [{ ...config, verb: "update" }] },
        { wave: 2, items: [{ ...web, verb: "create" }] },
      ],
    },
    { phase: "SyncFail", waves: [{ wave: 0, items: [{ ...migrate, name: "mail", verb: "hook", hook: "SyncFail" }] }] },
  ],
} as unknown as Plan;

describe("timelineOf", () => {
  test("what a plan said is to come follows what has begun, and what runs only after a failure does not", () => {
    const t = timelineOf(
      operation("Running", [{ ...migrate, hookType: "PreSync", hookPhase: "Running", syncPhase: "PreSync" }]),
      [],
      plan,
    );
    expect(t.phases.map((p) => [p.phase, p.waves.map((w) => [w.wave, w.steps.map((s) => s.state)])])).toEqual([
      ["PreSync", [[0, ["running"]]]],
      [
        "Sync",
        [
          [-1, ["waiting"]],
          [2, ["waiting"]],
        ],
      ],
    ]);
    expect([t.done, t.total]).toEqual([0, 3]);
  });

  test("without a plan, what is out of sync and asked for is to come, with its wave", () => {
    const own: OwnObject[] = [
      { ...config, status: "OutOfSync", syncWave: 1 },
      { ...web, status: "OutOfSync", requiresPruning: true },
      { ...migrate, status: "Synced" },
    ];
    expect(timelineOf(operation("Running", []), own).phases).toEqual([
      { phase: "Sync", waves: [{ wave: 1, steps: [expect.objectContaining({ name: "settings", state: "waiting" })] }] },
    ]);
    const pruning = timelineOf(operation("Running", [], { prune: true }), own);
    expect(pruning.phases[0]?.waves.flatMap((w) => w.steps.map((s) => [s.name, s.verb]))).toEqual([
      ["web", "delete"],
      ["settings", ""],
    ]);
    expect(timelineOf(operation("Running", [], { resources: [web] }), own).total).toBe(0);
  });

  test("an object that was applied is under way while the operation waits for it, and done when it is over", () => {
    const applied = { ...web, status: "Synced", hookPhase: "Running", syncPhase: "Sync" };
    expect(timelineOf(operation("Running", [applied]), []).done).toBe(0);
    const over = timelineOf(operation("Succeeded", [applied]), [{ ...config, status: "OutOfSync" }]);
    expect([over.done, over.total]).toEqual([1, 1]);
  });

  test("a hook that ran when the operation was ended has failed", () => {
    const t = timelineOf(operation("Failed", [{ ...migrate, hookType: "PreSync", hookPhase: "Running" }]), []);
    expect([t.failed, t.phases[0]?.phase]).toEqual([1, "PreSync"]);
  });

  test("what failed and what was left count as dealt with", () => {
    const t = timelineOf(
      operation("Failed", [
        { ...web, status: "SyncFailed", message: "no", syncPhase: "Sync" },
        { ...config, status: "PruneSkipped", syncPhase: "Sync" },
      ]),
      [],
    );
    expect([t.done, t.failed, t.total]).toEqual([2, 1, 2]);
    expect(t.phases[0]?.waves[0]?.steps.map((s) => [s.state, s.verb])).toEqual([
      ["failed", ""],
      ["skipped", "keep"],
    ]);
  });

  test("a phase that nobody has heard of comes last", () => {
    const t = timelineOf(
      operation("Succeeded", [
        { ...web, syncPhase: "Later" },
        { ...config, syncPhase: "PostSync" },
      ]),
      [],
    );
    expect(t.phases.map((p) => p.phase)).toEqual(["PostSync", "Later"]);
  });
});

test("stateOfAll says a failure first, then what is under way", () => {
  const all = (...states: string[]) => stateOfAll(states.map((state) => ({ state }) as never));
  expect(all("done", "failed", "running")).toBe("failed");
  expect(all("done", "waiting")).toBe("running");
  expect(all("waiting", "waiting")).toBe("waiting");
  expect(all("done", "skipped")).toBe("done");
  expect(all("skipped")).toBe("skipped");
});
