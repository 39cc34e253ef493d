import { expect, it } from "vitest";
import { everything, flip, has, nothing, range, reach, sizeOf, targetOf, wanted } from "./selection";

it("a row is selected and no longer", () => {
  const one = flip(nothing, "a", 4);
  expect([...one.ids]).toEqual(["a"]);
  expect(has(one, "a")).toBe(true);
  expect(flip(one, "a", 4).ids.size).toBe(0);
});

it("shift does as the row before did", () => {
  const one = flip(nothing, "e", 4);
  expect(range(one, 9)).toEqual([4, 9]);
  expect(range(one, 1)).toEqual([1, 4]);
  expect(range(nothing, 7)).toEqual([7, 7]);
  const three = reach(one, ["c", "d", "e"], 2);
  expect([...three.ids].sort()).toEqual(["c", "d", "e"]);
  expect(range(three, 0)).toEqual([0, 2]);
  expect([...reach(flip(three, "e", 4), ["d", "e"], 3).ids]).toEqual(["c"]);
});

it("all that match are counted by the filter", () => {
  expect(sizeOf(everything, 50_000)).toBe(50_000);
  expect(has(everything, "a")).toBe(true);
  expect(has(everything, undefined)).toBe(true);
  expect(has(nothing, undefined)).toBe(false);
});

it("single rows are left out of all, and taken in again", () => {
  const without = flip(everything, "a", 0);
  expect(sizeOf(without, 50_000)).toBe(49_999);
  expect([has(without, "a"), has(without, "b")]).toEqual([false, true]);
  const fewer = reach(without, ["a", "b", "c"], 2);
  expect(sizeOf(fewer, 50_000)).toBe(49_997);
  expect([...reach(flip(fewer, "c", 2), ["b", "c"], 1).ids]).toEqual(["a"]);
  expect(flip(without, "a", 0).ids.size).toBe(0);
  expect(sizeOf(reach(flip(everything, "a", 0), ["a", "b"], 1), 1)).toBe(0);
});

it("an id is taken apart", () => {
  expect(targetOf("account.prod/argocd/shop")).toEqual({ agent: "account.prod", namespace: "argocd", name: "shop" });
});

it("a job is told what is selected", () => {
  const filter = { search: "shop" };
  const shop = { agent: "account.prod", namespace: "argocd", name: "shop" };
  expect(wanted(flip(nothing, "account.prod/argocd/shop", 0), filter)).toEqual({ targets: [shop] });
  expect(wanted(everything, filter)).toEqual({ filter });
  expect(wanted(flip(everything, "account.prod/argocd/shop", 0), filter)).toEqual({ filter, except: [shop] });
});
