import { describe, expect, it } from "vitest";
import { auditFilter, filtered, instant, local, pretty } from "./data";

describe("times of filters", () => {
  it("are read as they were written", () => {
    expect(local(instant("2030-01-02T03:04"))).toBe("2030-01-02T03:04");
    expect(instant("")).toBe("");
    expect(instant("yesterday")).toBe("");
    expect(local("no time")).toBe("");
  });
});

describe("filters", () => {
  it("take what the API knows, and no more", () => {
    const filter = auditFilter({ q: "shop", actor: ["ada", "bob"], page: "3", outcome: "denied", from: "x" });
    expect(filter).toMatchObject({ search: "shop", actor: "ada", outcome: "denied", from: "" });
    expect(filter).not.toHaveProperty("page");
    expect(filtered(filter)).toBe(true);
    expect(filtered(auditFilter({ open: "3" }))).toBe(false);
  });
});

describe("pretty", () => {
  it("orders keys at every depth, and keeps lists", () => {
    expect(pretty({ b: [{ d: 1, c: 2 }], a: null })).toBe(
      '{\n  "a": null,\n  "b": [\n    {\n      "c": 2,\n      "d": 1\n    }\n  ]\n}',
    );
    expect(pretty(undefined)).toBe("");
  });
});
