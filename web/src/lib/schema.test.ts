import { describe, expect, it } from "vitest";
import { begin, read } from "./draft";
import { below, schema, typeText, violations } from "./schema";

const found = (text: string) => violations(read(text)).map((p) => `${p.line} ${p.level} ${p.field}`);

describe("the schema of an Application", () => {
  it("has a text for every field of the spec", () => {
    const silent: string[] = [];
    const walk = (of: typeof schema, at: string) => {
      for (const [name, part] of Object.entries(of.properties ?? {})) {
        if (!part.description) {
          silent.push(`${at}.${name}`);
        }
        walk(part, `${at}.${name}`);
      }
      if (of.items) {
        walk(of.items, `${at}[]`);
      }
    };
    walk(schema.properties?.spec ?? {}, "spec");
    expect(silent).toEqual([]);
  });

  it("is found by a path, through lists and maps of any names", () => {
    expect(below(schema, ["spec", "sources", 3, "helm", "valueFiles"])?.type).toBe("array");
    expect(below(schema, ["metadata", "labels", "a/b"])?.type).toBe("string");
    expect(below(schema, ["spec", "nothing", "below"])).toBeUndefined();
    expect(typeText(below(schema, ["spec", "source", "kustomize", "replicas", 0, "count"]) ?? {})).toBe(
      "an integer or a text",
    );
  });

  it("finds another type and an unknown field at its line", () => {
    expect(found(begin)).toEqual([]);
    expect(
      found("spec:\n  source:\n    targetRevision: 1.2\n    pth: a\n    helm:\n      values:\n        a: 1\n"),
    ).toEqual(["3 error spec.source.targetRevision", "4 warning spec.source.pth", "7 error spec.source.helm.values"]);
    expect(found('spec:\n  syncPolicy:\n    automated:\n      prune: "yes"\n')).toEqual([
      "4 error spec.syncPolicy.automated.prune",
    ]);
    expect(found("metadata:\n  generation: 4\nspec:\n  source: *gone\n").length).toBeLessThan(2);
  });

  it("takes what people do with free maps and numbers", () => {
    const text = `spec:
  revisionHistoryLimit: 3
  source:
    helm: {valuesObject: {any: {thing: [1]}}}
    kustomize: {replicas: [{name: a, count: 2}, {name: b, count: "3"}]}
  info:
`;
    expect(found(text)).toEqual([]);
  });
});
