import { describe, expect, it } from "vitest";
import { healths, percent, rowsOf, scale, seconds, segments } from "./figures";

describe("a bar", () => {
  it("leaves out what there is none of, the worst first", () => {
    expect(segments({ Healthy: 3, Degraded: 1 }, healths).map((s) => [s.status, s.share])).toEqual([
      ["Degraded", 0.25],
      ["Healthy", 0.75],
    ]);
  });

  it("keeps one in 50,000 in sight, and is full", () => {
    const parts = segments({ Healthy: 49_999, Degraded: 1 }, healths);
    expect(parts[0]?.share).toBeGreaterThan(0.014);
    expect(parts.reduce((n, s) => n + s.share, 0)).toBeCloseTo(1);
  });

  it("is empty for nothing", () => {
    expect(segments({}, healths)).toEqual([]);
  });
});

it("what has no value is the last row", () => {
  const row = (value: string) => ({ value, total: 1, held: 0, stale: 0, sync: {}, health: {} });
  expect(rowsOf([row(""), row("b"), row("a")]).map((r) => r.value)).toEqual(["b", "a", ""]);
});

it("durations are written in their unit", () => {
  expect([0.25, 3.84, 59, 240, 9_000, 200_000, undefined].map(seconds)).toEqual([
    "250 ms",
    "3.8 s",
    "59 s",
    "4 min",
    "2.5 h",
    "2.3 d",
    "–",
  ]);
});

it("shares are written in hundredths", () => {
  expect([0, 0.051, 0.5, undefined].map(percent)).toEqual(["0 %", "5.1 %", "50 %", "–"]);
});

it("a chart ends at a round number", () => {
  expect([0, 3, 7, 12, 200].map(scale)).toEqual([1, 5, 10, 20, 200]);
});
