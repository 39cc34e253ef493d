import { describe, expect, it } from "vitest";
import { readLabels, writeLabels } from "./labels";

describe("labels", () => {
  it("are read from lines and commas", () => {
    expect(readLabels(" team=shop, tier = web\n\nempty=\nurl=a=b ")).toEqual({
      team: "shop",
      tier: "web",
      empty: "",
      url: "a=b",
    });
    expect(readLabels("")).toEqual({});
  });

  it("that are none are named", () => {
    expect(readLabels("team=shop\ntier")).toContain('"tier"');
    expect(readLabels("=shop")).toContain('"=shop"');
  });

  it("are read as they were written", () => {
    const labels = { b: "2", a: "1", "example.org/x": "" };
    expect(readLabels(writeLabels(labels))).toEqual(labels);
    expect(writeLabels(undefined)).toBe("");
  });
});
