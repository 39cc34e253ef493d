import { describe, expect, it } from "vitest";
import { filtered } from "./data";
import {
  applicationFilter,
  applicationOf,
  before,
  counted,
  images,
  ledgerFilter,
  type Operation,
  timings,
  touched,
} from "./entries";

const entry = (change: Partial<Operation>): Operation => ({
  id: "a",
  agent: "account.prod",
  namespace: "argocd",
  name: "shop",
  scope: "account",
  action: "sync",
  phase: "Succeeded",
  startedAt: "2030-01-01T00:00:10Z",
  finishedAt: "2030-01-01T00:00:20Z",
  counts: { created: 0, changed: 0, deleted: 0, unchanged: 0, failed: 0 },
  ...change,
});

describe("filters of the ledger", () => {
  it("take what the API knows, and no more", () => {
    const filter = ledgerFilter({ name: "shop", changed: "yes", open: "x", tab: "at", from: "2030-01-02T03:04" });
    expect(filter).toMatchObject({ name: "shop", changed: "true", to: "" });
    expect(filter.from).not.toBe("");
    expect(filter).not.toHaveProperty("open");
    expect(filtered(ledgerFilter({ tab: "at", open: "x" }))).toBe(false);
    expect(applicationFilter({ phase: "Failed", agent: "account.prod" })).not.toHaveProperty("phase");
  });
});

describe("timings", () => {
  it("come in the order of time, without what is not known, and say how long each took", () => {
    const steps = timings(
      entry({
        detectedAt: "0001-01-01T00:00:00Z",
        renderedAt: "2030-01-01T00:00:05Z",
        appliedAt: "2030-01-01T00:00:20Z",
        commit: { committedAt: "2029-12-31T23:59:05Z" },
      }),
    );
    expect(steps.map((s) => `${s.name} ${s.took}`)).toEqual([
      "Committed ",
      "Rendered 1 min",
      "Began 5 s",
      "Last object applied 10 s",
      "Ended < 1 s",
    ]);
  });
});

describe("touched", () => {
  const object = { kind: "ConfigMap", namespace: "shop", name: "a" };
  it("joins changes with what was rendered otherwise, and keeps what only one of both has", () => {
    const deleted = { ...object, name: "b", verb: "deleted", outcome: "Succeeded" };
    const list = touched(
      [{ ...object, verb: "changed", outcome: "Succeeded" }, deleted],
      [
        { ...object, change: "changed", diff: "-x\n+y" },
        { ...object, group: "x.io", change: "added", diff: "+z" },
      ],
    );
    expect(list.map((t) => [t.change?.verb, t.compared?.diff])).toEqual([
      ["changed", "-x\n+y"],
      ["deleted", undefined],
      [undefined, "+z"],
    ]);
    expect(new Set(list.map((t) => t.key)).size).toBe(3);
  });
});

describe("before", () => {
  it("is the newest one that ended before it began and rendered something to be compared", () => {
    const me = entry({});
    const old = entry({ id: "old", finishedAt: "2030-01-01T00:00:01Z" });
    const last = entry({ id: "last", finishedAt: "2030-01-01T00:00:09Z" });
    const dry = entry({ id: "dry", action: "dry-run", finishedAt: "2030-01-01T00:00:10Z" });
    expect(before(me, [me, dry, old, last])?.id).toBe("last");
    expect(before(me, [me, entry({ id: "next", finishedAt: "2030-01-01T00:00:11Z" })])).toBeUndefined();
  });
});

describe("texts", () => {
  it("of counts name what was done", () => {
    const none = entry({}).counts;
    expect(counted({ ...none, created: 3, failed: 1, unchanged: 9 })).toBe("3 created, 1 failed");
    expect(counted({ ...none, unchanged: 9 })).toBe("9 unchanged");
    expect(counted(none)).toBe("nothing to do");
  });
  it("of applications are taken apart only where they are ids", () => {
    expect(applicationOf("account.prod/argocd/shop")).toEqual({
      agent: "account.prod",
      namespace: "argocd",
      name: "shop",
    });
    expect(applicationOf("account.prod/argocd")).toBeUndefined();
    expect(applicationOf("a/b/c/d")).toBeUndefined();
  });
  it("of images come once", () => {
    expect(images([{ images: ["b", "a"] }, { images: null }, { images: ["a"] }])).toEqual(["a", "b"]);
  });
});
