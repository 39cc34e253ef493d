import { describe, expect, it } from "vitest";
import {
  add,
  addSource,
  begin,
  change,
  drop,
  dropSource,
  get,
  lacking,
  lineOf,
  listOf,
  option,
  plain,
  read,
  resource,
  setList,
  setMap,
  setOption,
  setTool,
  sourcePaths,
  standing,
  toolOf,
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
    const draft = setOption(setOption(read(begin), "PruneLast", "true"), "CreateNamespace", "true");
    expect(listOf(draft, ["spec", "syncPolicy", "syncOptions"])).toEqual(["PruneLast=true", "CreateNamespace=true"]);
    const less = setOption(draft, "PruneLast", "");
    expect(option(less, "PruneLast")).toBe("");
    expect(option(less, "CreateNamespace")).toBe("true");
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

  it("turns one source into several and back, with what is written beside it", () => {
    const one = read("spec:\n  # from here\n  source:\n    repoURL: a # ours\n    future: 1\n  project: default\n");
    const two = addSource(one);
    expect(sourcePaths(two)).toEqual([
      ["spec", "sources", 0],
      ["spec", "sources", 1],
    ]);
    expect(two.text).toContain("# from here");
    expect(two.text).toContain("repoURL: a # ours");
    expect(resource(two)).toMatchObject({ spec: { sources: [{ repoURL: "a", future: 1 }, { repoURL: "" }] } });
    const back = dropSource(two, 1);
    expect(back.text).toContain("repoURL: a # ours");
    expect(resource(back)).toEqual(resource(one));
    expect(get(dropSource(two, 0), ["spec", "source", "repoURL"])).toBe("");
  });

  it("has the block of one tool at most", () => {
    const at = ["spec", "source"];
    const helm = change(read(begin), [...at, "helm", "releaseName"], "a");
    const plugin = setTool(helm, at, "plugin");
    expect(toolOf(plugin, at)).toBe("plugin");
    expect(resource(plugin)).not.toHaveProperty("spec.source.helm");
    expect(toolOf(setTool(plugin, at, undefined), at)).toBeUndefined();
  });

  it("adds entries to lists, and removes them with the comments of the others", () => {
    const at = ["spec", "info"];
    const draft = add(add(read(begin), at, { name: "a", value: "1" }), at, { name: "b", value: "2" });
    const said = read(draft.text.replace("name: b", "name: b # keep"));
    expect(drop(said, at, 0).text).toContain("name: b # keep");
    expect(resource(drop(drop(said, at, 0), at, 0))).toEqual(resource(read(begin)));
    // An entry that was emptied stays: it is being written.
    const emptied = change(change(said, [...at, 0, "name"], undefined), [...at, 0, "value"], undefined);
    expect(resource(emptied)).toMatchObject({ spec: { info: [{}, { name: "b" }] } });
  });

  it("keeps what is written beside the entries of a list and a map that stay", () => {
    const at = ["spec", "source", "helm"];
    const text = begin.replace(
      '    path: ""\n',
      `    path: charts/web
    helm:
      valueFiles:
        - a.yaml # first
        - b.yaml # second
      valuesObject:
        # how many
        replicas: 1
        image: { tag: "1.20" } # pinned
`,
    );
    const list = setList(read(text), [...at, "valueFiles"], ["b.yaml", "c.yaml"]);
    expect(listOf(list, [...at, "valueFiles"])).toEqual(["b.yaml", "c.yaml"]);
    expect(list.text).toContain("b.yaml # second");
    const map = setMap(list, [...at, "valuesObject"], { replicas: 2, image: { tag: "1.20" }, more: [1] });
    expect(map.text).toContain("# how many");
    expect(map.text).toContain('image: { tag: "1.20" } # pinned');
    expect(plain(map, [...at, "valuesObject"])).toEqual({ replicas: 2, image: { tag: "1.20" }, more: [1] });
    expect(resource(setList(setMap(map, [...at, "valuesObject"], {}), [...at, "valueFiles"], []))).not.toHaveProperty(
      "spec.source.helm",
    );
  });

  it("writes what was empty as people would", () => {
    const at = ["spec", "source"];
    const chart = change(read(begin), [...at, "repoURL"], "https://h/shop.git");
    expect(chart.text).toContain("repoURL: https://h/shop.git\n");
    const row = [...at, "helm", "parameters"];
    const value = change(change(add(chart, row, {}), [...row, 0, "name"], "a"), [...row, 0, "value"], "1.20");
    expect(value.text).toContain('parameters:\n        - name: a\n          value: "1.20"\n');
    expect(get(change(read(begin), ["metadata", "name"], "7"), ["metadata", "name"])).toBe("7");
    expect(resource(change(read(begin), ["metadata", "name"], "7"))).toMatchObject({ metadata: { name: "7" } });
  });

  it("writes several lines as a block", () => {
    const at = ["spec", "source", "helm", "values"];
    const one = change(read(begin), at, "a: 1");
    expect(change(one, at, "a: 1\nb: 2\n").text).toContain("values: |\n        a: 1\n        b: 2\n");
    expect(get(change(one, at, "a: 1\nb: 2\n"), at)).toBe("a: 1\nb: 2\n");
  });

  it("writes where a text, nothing or an alias stands", () => {
    const draft = read("spec:\n  syncPolicy: null\n  source: &s {repoURL: a}\n  sources: [*s]\n  destination: text\n");
    expect(resource(change(draft, ["spec", "syncPolicy", "retry", "limit"], 3))).toMatchObject({
      spec: { syncPolicy: { retry: { limit: 3 } } },
    });
    expect(resource(change(draft, ["spec", "destination", "name"], "c"))).toMatchObject({
      spec: { destination: { name: "c" } },
    });
    expect(resource(change(draft, ["spec", "sources", 0, "path"], "p"))).toMatchObject({
      spec: { source: { repoURL: "a" }, sources: [{ repoURL: "a", path: "p" }] },
    });
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
    expect(fields(app("{sources: [{repoURL: https://h/r, ref: values}, {}]}"))).toEqual([
      "spec.sources.1.repoURL",
      "spec.sources.1.path",
    ]);
    expect(fields(app("{sources: [{path: a}]}"))).toEqual(["spec.sources.0.repoURL"]);
    expect(fields(app("{sourceHydrator: {drySource: {}}}"))).toEqual([]);
  });
});
