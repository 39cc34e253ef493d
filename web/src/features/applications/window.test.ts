import { describe, expect, it } from "vitest";
import { type Application, moves, pageSize, pagesFor, patched, place } from "./window";

const app = (name: string, over: Partial<Application> = {}): Application => ({
  id: `account.a/argocd/${name}`,
  agent: "account.a",
  namespace: "argocd",
  name,
  scope: "account",
  argoProject: "default",
  sync: "Synced",
  health: "Healthy",
  ...over,
});

describe("the pages that are read", () => {
  it("hold what is in sight and some around it", () => {
    expect(pagesFor(0, 30, 50_000)).toEqual([1]);
    expect(pagesFor(190, 220, 50_000)).toEqual([2, 3]);
    expect(pagesFor(25_040, 25_060, 50_000)).toEqual([251]);
  });

  it("are bounded by the end of the list, also when it has become shorter", () => {
    expect(pagesFor(49_980, 50_010, 50_000)).toEqual([500]);
    expect(pagesFor(900, 930, 10)).toEqual([1]);
    expect(pagesFor(0, -1, 0)).toEqual([1]);
  });

  it("are where rows are found", () => {
    expect(place(0)).toEqual({ page: 1, at: 0 });
    expect(place(pageSize)).toEqual({ page: 2, at: 0 });
    expect(place(pageSize - 1)).toEqual({ page: 1, at: pageSize - 1 });
  });
});

describe("a change of a row", () => {
  it("replaces that row alone", () => {
    const items = [app("a"), app("b")];
    const changed = app("b", { health: "Degraded" });
    const out = patched(items, new Map([[changed.id, changed]]));
    expect(out[0]).toBe(items[0]);
    expect(out[1]).toBe(changed);
  });

  it("leaves a page alone that does not have it", () => {
    const items = [app("a")];
    expect(patched(items, new Map([["x", app("x")]]))).toBe(items);
  });

  it("moves it where it is filtered or sorted by what changed", () => {
    const bad = app("a", { health: "Degraded" });
    expect(moves(app("a"), bad, {}, "name")).toBe(false);
    expect(moves(app("a"), bad, { health: ["Healthy"] }, "name")).toBe(true);
    expect(moves(app("a"), bad, {}, "-health")).toBe(true);
    expect(moves(app("a"), app("a", { revision: "2" }), { search: "a" }, "health")).toBe(false);
  });
});
