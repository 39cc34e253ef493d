import { describe, expect, it } from "vitest";
import {
  begin,
  change,
  get,
  lacking,
  lineOf,
  listOf,
  option,
  read,
  resource,
  setOption,
  sourcePath,
  standing,
} from "./draft";

describe("a draft", () => {
  it("keeps comments and fields that nobody here knows", () => {
    const draft = read(`${begin}  # ask the shop team\n  future: { field: 1 }\n`);
    const next = change(draft, ["metadata", "name"], "shop");
    expect(get(next, ["metadata", "name"])).toBe("shop");
    expect(next.text).toContain("# ask the shop team");
    expect(resource(next)).toMatchObject({ spec: { future: { field: 1 } } });
  });

  it("removes what is left empty around a value", () => {
    const on = change(read(begin), ["spec", "syncPolicy", "automated", "prune"], true);
    expect(resource(on)).toMatchObject({ spec: { syncPolicy: { automated: { prune: true } } } });
    const off = change(on, ["spec", "syncPolicy", "automated", "prune"], undefined);
    expect(resource(off).spec).not.toHaveProperty("syncPolicy");
  });

  it("sets one sync option and keeps the others", () => {
    const draft = setOption(setOption(read(begin), "PruneLast", true), "CreateNamespace", true);
    expect(listOf(draft, ["spec", "syncPolicy", "syncOptions"])).toEqual(["PruneLast=true", "CreateNamespace=true"]);
    const less = setOption(draft, "PruneLast", false);
    expect(option(less, "PruneLast")).toBe(false);
    expect(option(less, "CreateNamespace")).toBe(true);
  });

  it("holds no problem against a field that was changed since", () => {
    const checked = read(begin);
    const found = ["spec.source.repoURL", "spec.source.path", "spec.destination"].map((field) => ({ field }));
    const next = change(checked, ["spec", "source", "repoURL"], "https://git.example.org/shop");
    expect(standing(found, resource(checked), checked)).toEqual(found);
    expect(standing(found, resource(checked), next).map((p) => p.field)).toEqual([
      "spec.source.path",
      "spec.destination",
    ]);
  });

  it("says in which line the YAML is wrong", () => {
    expect(read("a: b\nc: [").problem?.line).toBeGreaterThan(1);
    expect(read("- a").problem?.message).toMatch(/[Nn]ot an Application/);
    expect(read("").problem).toBeDefined();
  });

  it("reads the first of several sources", () => {
    const draft = read("spec:\n  sources:\n    - repoURL: a\n    - repoURL: b\n");
    expect(get(draft, [...sourcePath(draft), "repoURL"])).toBe("a");
  });

  it("finds the line of a field, or of what is around it", () => {
    const draft = read(begin);
    expect(draft.text.split("\n")[lineOf(draft, "spec.source.path") - 1]).toContain("path:");
    expect(lineOf(draft, "spec.source.helm.values")).toBe(lineOf(draft, "spec.source"));
    expect(lineOf(draft, "nowhere")).toBe(1);
  });

  it("does not let a small text become a large one", () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`;
    expect(() => resource(read(bomb))).toThrow();
  });
});

describe("what is lacking before a draft is sent", () => {
  const fields = (text: string) => lacking(read(text)).map((p) => p.field);
  it("is asked for in the order of the form", () => {
    expect(fields(begin)).toEqual(["metadata.name", "spec.source.repoURL", "spec.source.path"]);
    const filled = begin
      .replace('name: ""', "name: shop")
      .replace('repoURL: ""', "repoURL: https://git.example.org/shop.git")
      .replace('path: ""', "path: .");
    expect(fields(filled)).toEqual([]);
  });
  it("is what its kind of source needs", () => {
    const app = (spec: string) => `metadata: {name: shop}\nspec: ${spec}\n`;
    expect(fields(app('{source: {repoURL: https://h/c, chart: ""}}'))).toEqual(["spec.source.chart"]);
    expect(fields(app("{sources: [{repoURL: https://h/r, ref: values}, {}]}"))).toEqual([]);
    expect(fields(app("{sources: [{path: a}]}"))).toEqual(["spec.sources.0.repoURL"]);
    expect(fields(app("{sourceHydrator: {drySource: {}}}"))).toEqual([]);
  });
});
