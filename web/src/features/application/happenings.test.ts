import { expect, test } from "vitest";
import { happenings } from "./happenings";
import type { Past } from "./past";

const past = (of: Partial<Past>): Past =>
  ({
    key: "e",
    action: "sync",
    phase: "Succeeded",
    at: "2026-03-01T12:00:00Z",
    subject: "",
    reason: "",
    message: "ok",
    who: "",
    ...of,
  }) as Past;

test("all that is told is one line of time, the newest first, and what has no time is last", () => {
  const list = happenings(
    [past({})],
    [
      {
        id: 7,
        at: "2026-03-01T12:00:05Z",
        action: "application.sync",
        outcome: "denied",
        message: "no right",
        actor: { id: "bob" },
      } as never,
    ],
    [{ type: "SyncError", message: "no" }],
  );
  expect(list.map((h) => [h.from, h.what, h.bad])).toEqual([
    ["audit", "application.sync: denied", true],
    ["ledger", "Synced", false],
    ["condition", "SyncError", true],
  ]);
  expect(list[0]?.detail).toBe("no right");
});

test("an operation that failed says why, and one that did not says only what it was", () => {
  const told = (p: Partial<Past>) => happenings([past(p)], [], undefined)[0];
  expect(told({ phase: "Failed", message: "refused", subject: "Add" })).toMatchObject({
    what: "Synced: failed",
    detail: "Add · refused",
  });
  expect(told({ who: "ann", reason: "hotfix" })).toMatchObject({ who: "ann", detail: "hotfix", what: "Synced" });
  expect(told({})?.who).toBe("automated sync");
});

test("an Event of Kubernetes says how often it came, and one that warns is bad", () => {
  const event = {
    type: "Warning",
    reason: "Refused",
    message: "no",
    count: 3,
    first: "",
    last: "2026-03-01T12:00:00Z",
  };
  const list = happenings([], [], undefined, [
    { ...event, source: "argocd" },
    { ...event, type: "Normal", count: 1, last: "2026-03-01T12:00:09Z" },
  ]);
  expect(list.map((h) => [h.from, h.what, h.bad, h.who])).toEqual([
    ["kubernetes", "Refused", false, ""],
    ["kubernetes", "Refused, 3 times", true, "argocd"],
  ]);
});
