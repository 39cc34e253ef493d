import { describe, expect, it } from "vitest";
import { grants, matrix, toggle } from "./permissions";

const all = ["agent_view", "agent_edit", "application_view", "application_edit", "application_sync", "audit_view"];

describe("matrix", () => {
  it("has a row for each type and a column for each verb", () => {
    const m = matrix(all);
    expect(m.types).toEqual(["agent", "application", "audit"]);
    expect(m.verbs).toEqual(["view", "edit", "sync"]);
    expect(m.has("application", "sync")).toBe(true);
    expect(m.has("audit", "sync")).toBe(false);
  });
});

describe("grants", () => {
  it("knows patterns as the server does", () => {
    expect(grants(["*"], "agent_edit")).toBe(true);
    expect(grants(["application_*"], "application_sync")).toBe(true);
    expect(grants(["application_*"], "applicationset_view")).toBe(false);
    expect(grants(["*_view"], "audit_view")).toBe(true);
    expect(grants(["*_view"], "agent_edit")).toBe(false);
    expect(grants([], "agent_edit")).toBe(false);
  });
});

describe("toggle", () => {
  it("adds what is missing and takes what is there", () => {
    expect(toggle(["agent_view"], "audit_view", all)).toEqual(["agent_view", "audit_view"]);
    expect(toggle(["agent_view", "audit_view"], "agent_view", all)).toEqual(["audit_view"]);
  });

  it("writes a pattern out without what is taken", () => {
    expect(toggle(["*_view", "agent_edit"], "application_view", all)).toEqual([
      "agent_view",
      "audit_view",
      "agent_edit",
    ]);
    for (const pattern of [["*"], ["application_*", "*_view"]]) {
      const left = toggle(pattern, "application_view", all);
      expect(grants(left, "application_view")).toBe(false);
      for (const p of all.filter((p) => p !== "application_view")) {
        expect(grants(left, p), p).toBe(grants(pattern, p));
      }
    }
  });
});
