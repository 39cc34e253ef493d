import { expect, test } from "vitest";
import { noChoice, type Plan, requestOf, summary } from "./plan";

test("what is not chosen is not sent: the application's own options count", () => {
  expect(requestOf(noChoice, ["main"])).toEqual({});
  expect(requestOf({ ...noChoice, prune: true, reason: "  hotfix " }, ["main"])).toEqual({
    prune: true,
    reason: "hotfix",
  });
});

test("a revision for one source needs one for each, in their order", () => {
  expect(requestOf({ ...noChoice, revisions: ["", " v2 "] }, ["main", "1.x"]).revisions).toEqual(["main", "v2"]);
  expect(requestOf({ ...noChoice, revisions: ["v1"] }, ["main", ""]).revisions).toEqual(["v1", "HEAD"]);
  expect(requestOf({ ...noChoice, revisions: ["", ""] }, ["main", ""]).revisions).toBeUndefined();
});

test("options of its own may be none, and that is said", () => {
  expect(requestOf({ ...noChoice, options: "" }, []).options).toEqual([]);
  expect(requestOf({ ...noChoice, options: "A=true\n\n B=false" }, []).options).toEqual(["A=true", "B=false"]);
});

test("a retry without end is below 0", () => {
  const retry = { limit: "-1", duration: "5s", factor: "", maxDuration: "" };
  expect(requestOf({ ...noChoice, retry }, []).retry).toEqual({ limit: -1, duration: "5s" });
});

test("summary counts what it does", () => {
  const plan = (counts: Partial<Plan["counts"]>) =>
    ({ counts: { create: 0, update: 0, delete: 0, unchanged: 0, hooks: 0, ...counts } }) as Plan;
  expect(summary(plan({ update: 1, delete: 2, unchanged: 3 }))).toBe(
    "It changes 1 object, deletes 2 objects; 3 objects are unchanged.",
  );
  expect(summary(plan({ update: 1, unchanged: 1 }))).toBe("It changes 1 object; 1 object is unchanged.");
  expect(summary(plan({}))).toBe("It changes nothing.");
});
