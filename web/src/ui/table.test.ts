import { expect, test } from "vitest";
import { least, stacked } from "./table";

const columns = (...widths: string[]) => widths.map((width) => ({ width }));

test("on a narrow screen short columns are two to a line, and the first and all that grow have one of their own", () => {
  const { whole, line, height } = stacked(columns("9.5rem", "minmax(12rem,2fr)", "8rem", "7.5rem", "6rem"), 40);
  expect(whole).toEqual([true, true, false, false, false]);
  expect(line).toBe(24);
  expect(height).toBe(4 * 24 + 3 * 4 + 16);
});

test("a column that grows does not fill the half that is left on a line", () => {
  expect(stacked(columns("8rem", "6rem", "1fr", "6rem"), 40).height).toBe(4 * 24 + 3 * 4 + 16);
  expect(stacked(columns("1fr"), 56)).toEqual({ whole: [true], line: 40, height: 56 });
});

test("a table is as wide as its columns have to be, and no wider", () => {
  expect(least(columns("9.5rem", "minmax(12rem,2fr)", "1fr", "minmax(8.5rem, 1fr)"))).toBe("30rem");
});
