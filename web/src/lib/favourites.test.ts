import { expect, test } from "vitest";
import { parse, toggled } from "./favourites";

test("the last favourite comes first, and a second time takes it out", () => {
  expect(toggled(["a"], "b")).toEqual(["b", "a"]);
  expect(toggled(["b", "a"], "b")).toEqual(["a"]);
});

test("of more than 50 the oldest goes", () => {
  const many = Array.from({ length: 50 }, (_, i) => `${i}`);
  expect(toggled(many, "new")).toHaveLength(50);
  expect(toggled(many, "new")).not.toContain("49");
});

test("what this browser kept and is no list of ids is no favourite", () => {
  expect([null, "", "{", '{"a":1}', '[1,null,"a"]'].map(parse)).toEqual([[], [], [], [], ["a"]]);
});
