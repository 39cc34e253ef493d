import { expect, test } from "vitest";
import { between } from "./time";

test("how long something took is never less than its times can tell", () => {
  expect(between("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z")).toBe("less than 1 s");
  expect(between("2026-01-02T03:04:05Z", "2026-01-02T03:04:07Z")).toBe("2 s");
  expect(between("2026-01-02T03:04:05.100Z", "2026-01-02T03:04:05.119Z")).toBe("19 ms");
  expect(between("2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.1Z")).toBe("0 ms");
});
