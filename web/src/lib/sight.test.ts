import { expect, test } from "vitest";
import { inSight, stepOf } from "./sight";

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

test("while one scrolls, rows come some at a time, and those in sight are drawn always", () => {
  for (const more of [1, 3, 8]) {
    const drawn = new Set<number>();
    for (let top = 0; top < 80; top++) {
      const from = stepOf(top, more);
      const { first, last } = inSight({ top: from, rows: 20 }, 50_000, more);
      expect(first <= top && last >= top + 20, `${top} with ${more} more`).toBe(true);
      drawn.add(from);
    }
    expect(drawn.size).toBe(80 / Math.max(1, Math.floor(more / 2)));
  }
});
