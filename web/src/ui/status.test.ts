import { expect, test } from "vitest";
import { labelOf, toneOf } from "./status";

test("what is broken is louder than what is missing or unknown", () => {
  expect(["Degraded", "Missing", "Unknown"].map(toneOf)).toEqual(["bad", "idle", "idle"]);
});

test("a status of any word is shown as it is", () => {
  expect(["constructor", "Odd"].map((s) => [toneOf(s), labelOf(s)])).toEqual([
    ["idle", "constructor"],
    ["idle", "Odd"],
  ]);
});
