import { describe, expect, it } from "vitest";
import { placeAt } from "./yaml-place";

// at is the place of the bar in a text.
const at = (text: string) => placeAt(text.replace("|", ""), text.indexOf("|"));

describe("the place of a cursor in YAML", () => {
  it("is the map that the line belongs to, by how far it is indented", () => {
    expect(at("spec:\n  source:\n    pa|")).toMatchObject({ parent: ["spec", "source"], typed: "pa" });
    expect(at("spec:\n  source:\n    path: a\n  |")).toMatchObject({ parent: ["spec"], siblings: ["source"] });
    expect(at("spec:\n  source:\n    path: a\n|")).toMatchObject({ parent: [], siblings: ["spec"] });
    expect(at("spec:\n  |")).toMatchObject({ parent: ["spec"], typed: "" });
  });

  it("counts the entries of lists, also of those that are not indented", () => {
    expect(at("spec:\n  sources:\n    - repoURL: a\n    - re|")).toMatchObject({
      parent: ["spec", "sources", 1],
      item: true,
    });
    expect(at("sources:\n- repoURL: a\n- repoURL: b\n  pa|")).toMatchObject({
      parent: ["sources", 1],
      siblings: ["repoURL"],
    });
    expect(at("sources:\n- helm:\n    valueFiles:\n    - a\n    - b|")).toMatchObject({
      parent: ["sources", 0, "helm", "valueFiles", 1],
      typed: "b",
    });
    expect(at("a:\n- x: 1\nb|")).toMatchObject({ parent: [], siblings: ["a"] });
  });

  it("is a value behind the name of its field", () => {
    expect(at("spec:\n  a:\n    prune: tr|")).toMatchObject({ parent: ["spec", "a"], key: "prune", typed: "tr" });
    expect(at('metadata:\n  labels:\n    "slipway.io/service": |')).toMatchObject({ key: "slipway.io/service" });
  });

  it("knows the names that come after", () => {
    expect(at("spec:\n  |\n  project: a\n  source:\n    path: b\nstatus: {}\n").siblings).toEqual([
      "project",
      "source",
    ]);
  });

  it("has no fields in comments and in texts of several lines", () => {
    expect(at("spec: # a|").words).toBe(true);
    expect(at("spec:\n  values: ~\n  other: >-\n    a: 1\n    b|").words).toBe(true);
    const text = "helm:\n  values: X\n    image: a\n  rel|".replace("X", ">");
    expect(at(text)).toMatchObject({ parent: ["helm"], typed: "rel", words: false, siblings: ["values"] });
  });
});
