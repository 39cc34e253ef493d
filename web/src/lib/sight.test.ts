import { expect, test } from "vitest";
import { inSight } from "./sight";

test("rows in sight are drawn, and some more at both ends", () => {
  expect(inSight({ top: 100, rows: 20 }, 50_000, 8)).toEqual({ first: 92, last: 128 });
  expect(inSight({ top: 0, rows: 20 }, 50_000, 8)).toEqual({ first: 0, last: 28 });
  expect(inSight({ top: 49_980, rows: 20 }, 50_000, 8)).toEqual({ first: 49_972, last: 49_999 });
});

test("a list that is shorter than its box, or empty, is drawn whole", () => {
  expect(inSight({ top: 0, rows: 20 }, 5, 8)).toEqual({ first: 0, last: 4 });
  expect(inSight({ top: 0, rows: 20 }, 0, 8)).toEqual({ first: 0, last: -1 });
});

test("a list that became shorter than where one was is drawn from its end", () => {
  expect(inSight({ top: 4_000, rows: 20 }, 30, 8)).toEqual({ first: 2, last: 29 });
});
