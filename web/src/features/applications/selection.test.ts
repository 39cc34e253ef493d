import { expect, it } from "vitest";
import { add, everything, flip, nothing, range, sizeOf, targetOf } from "./selection";

it("a row is selected and no longer", () => {
  const one = flip(nothing, "a", 4);
  expect([...one.ids]).toEqual(["a"]);
  expect(flip(one, "a", 4).ids.size).toBe(0);
});

it("shift selects from the row before", () => {
  const one = flip(nothing, "e", 4);
  expect(range(one, 9)).toEqual([4, 9]);
  expect(range(one, 1)).toEqual([1, 4]);
  expect(range(nothing, 7)).toEqual([7, 7]);
  expect([...add(one, ["c", "d", "e"], 2).ids].sort()).toEqual(["c", "d", "e"]);
});

it("all that match are counted by the filter", () => {
  expect(sizeOf(everything, 50_000)).toBe(50_000);
  expect(sizeOf(flip(everything, "a", 0), 50_000)).toBe(1);
});

it("an id is taken apart", () => {
  expect(targetOf("account.prod/argocd/shop")).toEqual({ agent: "account.prod", namespace: "argocd", name: "shop" });
});
