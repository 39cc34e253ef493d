import { expect, test } from "vitest";
import { linesOf, mapFrom, numberOf, pairsFrom, pairsOf } from "./form-text";

test("maps are read as they are written", () => {
  const labels = { a: "b", "example.com/url": "x=y", empty: "" };
  expect(pairsFrom(pairsOf(labels), false)).toEqual(labels);
  expect(pairsFrom("\n  a = b \n", false)).toEqual({ a: "b" });
  expect(pairsFrom("a=true\nb=no", true)).toEqual({ a: true, b: false });
});

test("a text that says no number or map is none", () => {
  expect([numberOf(""), numberOf("-1"), numberOf("2"), numberOf("$N"), numberOf("9".repeat(20))]).toEqual([
    undefined,
    -1,
    2,
    "$N",
    "9".repeat(20),
  ]);
  expect([mapFrom("a: 1"), mapFrom("- a"), mapFrom("a: ["), mapFrom("")]).toEqual([
    { a: 1 },
    undefined,
    undefined,
    undefined,
  ]);
  expect(linesOf(" a \n\nb")).toEqual(["a", "b"]);
});
