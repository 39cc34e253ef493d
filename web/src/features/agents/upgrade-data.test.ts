import { expect, test } from "vitest";
import type { Schemas } from "@/api/client";
import { stepOf, wantedBy } from "./upgrade-data";

const versions: Schemas["AgentVersions"] = {
  rules: [
    { selector: { ring: "early" }, release: "1.5.0" },
    { scope: "org.acme", release: "1.4.0" },
    { selector: { gpu: "" }, release: "1.3.0" },
  ],
};

test.each([
  ["by a label", { name: "a", scope: "account", labels: { ring: "early" } }, "1.5.0"],
  ["by its organization", { name: "a", scope: "org.acme", labels: {} }, "1.4.0"],
  ["by a project of the organization", { name: "a", scope: "project.acme.shop", labels: { ring: "late" } }, "1.4.0"],
  ["by a label with any value", { name: "a", scope: "account", labels: { gpu: "a100" } }, "1.3.0"],
  ["by nothing", { name: "a", scope: "org.acmeco", labels: {} }, ""],
])("an agent should run what the first rule says: %s", (_, agent, want) => {
  expect(wantedBy(versions, agent)).toBe(want);
});

test("without rules no version is wanted", () => {
  expect(wantedBy(undefined, { name: "a" })).toBe("");
});

test("the canaries are before the first step", () => {
  expect(stepOf({ step: 0, steps: 3 })).toBe("canaries");
  expect(stepOf({ step: 2, steps: 3 })).toBe("step 2 of 3");
});
