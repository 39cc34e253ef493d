import { expect, test } from "vitest";
import { conditionOf, kindsText, latencyText, versionText } from "./cluster";
import type { ClusterState, Setting } from "./setting";

const setting = (status?: string, cluster?: Partial<ClusterState>): Setting => ({
  fields: {},
  ...(status && { connection: { status } }),
  ...(cluster && { cluster: { applications: 0, ...cluster } }),
});

test("what is not known of a cluster has no text", () => {
  for (const unknown of [setting(), setting("Unknown", {})]) {
    expect([latencyText(unknown), versionText(unknown), kindsText(unknown)]).toEqual(["", "", ""]);
  }
});

test("a cluster has its latency, version and kinds", () => {
  const known = setting("Successful", { latency: 0.31, kubernetes: "v1.36.1", kinds: 61 });
  expect([latencyText(known), versionText(known), kindsText(known)]).toEqual(["0.31 ms", "v1.36.1", "61"]);
  expect(latencyText(setting("Successful", { latency: 12000 }))).toBe("12000 ms");
});

test("the condition distinguishes unused, unknown, broken and switched off", () => {
  expect(conditionOf(setting())).toEqual(["Unknown", "Not used yet"]);
  expect(conditionOf(setting("Unknown", { applications: 2 }))).toEqual(["Unknown", "Unknown"]);
  expect(conditionOf(setting("Successful", {}))).toEqual(["Succeeded", "Works"]);
  expect(conditionOf(setting("Failed", {}))).toEqual(["Failed", "Does not work"]);
  expect(conditionOf(setting("Successful", { off: true }))).toEqual(["Revoked", "Switched off"]);
});
