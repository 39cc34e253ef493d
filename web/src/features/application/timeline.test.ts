import { describe, expect, test } from "vitest";
import type { OperationState, OwnObject } from "./resource";
import type { Plan } from "./plan";
import { isOf, stateOfAll, type Told, timelineOf, timelineOfAnswer } from "./timeline";

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

describe("timelineOfAnswer", () => {
  const answer = (phase: string, steps: Told["steps"], of: Partial<Told> = {}): Told => ({
    phase,
    automatic: false,
    retryCount: 0,
    revisions: [],
    progress: { done: 0, total: 0 },
    warnings: [],
    startedAt: "2026-03-01T12:00:00Z",
    steps,
    ...of,
  });

  test("steps keep the order in which they are done, and are counted as the agent counts them", () => {
    const t = timelineOfAnswer(
      answer("Running", [
        { phase: "PreDelete", wave: 0, items: [{ ...migrate, hook: "PreDelete", verb: "hook", state: "succeeded" }] },
        {
          phase: "Sync",
          wave: -1,
          items: [
            { ...config, verb: "delete", state: "pruned" },
            { ...config, name: "kept", verb: "delete", state: "skipped" },
          ],
        },
        {
          phase: "Sync",
          wave: 2,
          items: [
            { ...web, verb: "apply", state: "failed", message: "no" },
            { ...web, name: "api", verb: "apply", state: "running" },
            { ...web, name: "late", verb: "apply", state: "waiting" },
          ],
        },
      ]),
    );
    expect(t.phases.map((p) => [p.phase, p.waves.map((w) => [w.wave, w.steps.map((s) => [s.verb, s.state])])])).toEqual(
      [
        ["PreDelete", [[0, [["hook", "done"]]]]],
        [
          "Sync",
          [
            [
              -1,
              [
                ["delete", "done"],
                ["keep", "skipped"],
              ],
            ],
            [
              2,
              [
                ["apply", "failed"],
                ["apply", "running"],
                ["apply", "waiting"],
              ],
            ],
          ],
        ],
      ],
    );
    expect([t.done, t.failed, t.total]).toEqual([4, 1, 6]);
  });

  test("a plan that was looked at says what is made and what is changed", () => {
    const steps: Told["steps"] = [
      { phase: "Sync", wave: 0, items: [config, web].map((o) => ({ ...o, verb: "apply", state: "waiting" })) },
    ];
    const verbs = (p?: Plan) =>
      timelineOfAnswer(answer("Running", steps), p).phases[0]?.waves[0]?.steps.map((s) => s.verb);
    expect(verbs(plan)).toEqual(["update", "create"]);
    expect(verbs()).toEqual(["apply", "apply"]);
  });

  test("nothing is under way when the operation is over: what was applied is done, a hook that had not ended has failed", () => {
    const steps: Told["steps"] = [
      { phase: "PreSync", wave: 0, items: [{ ...migrate, hook: "PreSync", verb: "hook", state: "running" }] },
      { phase: "Sync", wave: 0, items: [{ ...web, verb: "apply", state: "running" }] },
    ];
    const ofAll = (phase: string) =>
      timelineOfAnswer(answer(phase, steps)).phases.flatMap((p) => p.waves.flatMap((w) => w.steps.map((s) => s.state)));
    expect(ofAll("Terminating")).toEqual(["running", "running"]);
    expect(ofAll("Failed")).toEqual(["failed", "done"]);
  });

  test("an answer about another operation does not count", () => {
    const state = operation("Running", []);
    expect(isOf(answer("Running", []), state)).toBe(true);
    expect(isOf(answer("Running", [], { startedAt: "2026-03-01T12:00:00.000Z" }), state)).toBe(true);
    expect(isOf(answer("Succeeded", [], { startedAt: "2026-03-01T11:00:00Z" }), state)).toBe(false);
    expect(isOf({ ...answer("Pending", []), startedAt: "0001-01-01T00:00:00Z" }, state)).toBe(false);
    expect(isOf(undefined, state)).toBe(false);
  });
});
