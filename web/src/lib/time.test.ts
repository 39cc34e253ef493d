import { expect, test } from "vitest";
import { ago, between, coarse, span, stepped } from "./time";

test("how long something took is never less than its times can tell", () => {
  expect(between("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z")).toBe("< 1 s");
  expect(between("2026-01-02T03:04:05Z", "2026-01-02T03:04:07Z")).toBe("2 s");
  expect(between("2026-01-02T03:04:05.100Z", "2026-01-02T03:04:05.119Z")).toBe("19 ms");
  expect(between("2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.1Z")).toBe("0 ms");
});

const now = Date.parse("2026-01-02T03:04:05Z");
const before = (seconds: number): string => new Date(now - seconds * 1_000).toISOString();

test("what has happened is never to come, whatever the clocks say", () => {
  expect(ago(before(5), now)).toBe("5 s ago");
  expect(ago(before(-3), now)).toBe("just now");
  expect(ago(before(-3_600), now)).toBe("just now");
  expect(ago(before(-180), now, true)).toBe("in 3 min");
});

test("no unit counts as many as make up the next one", () => {
  expect(span(999.9)).toBe("999 ms");
  expect(span(59_900)).toBe("59 s");
  expect(span(61_000)).toBe("1 min 1 s");
});

test("where there is little room an age has one unit", () => {
  expect(coarse(before(5), now)).toBe("5 s ago");
  expect(coarse(before(9 * 60 + 45), now)).toBe("9 min ago");
  expect(coarse(before(3 * 3600 + 120), now)).toBe("3 h ago");
  expect(coarse(before(0), now)).toBe("just now");
});

test("a young age ticks each second, an older one each fifth, and none goes back", () => {
  expect([3, 4, 5, 59].map((age) => now - stepped(now, now - age * 1_000))).toEqual([0, 0, 0, 0]);
  const at = now;
  let last = -1;
  const seen = new Set<number>();
  for (let t = 0; t < 90; t++) {
    const age = stepped(at + t * 1_000, at) - at;
    expect(age).toBeGreaterThanOrEqual(last);
    expect(t * 1_000 - age).toBeLessThan(5_000);
    last = age;
    seen.add(age);
  }
  expect(seen.size).toBe(60 + 6);
});
