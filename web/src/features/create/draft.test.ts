import { describe, expect, it } from "vitest";
import { begin, change, get, lineOf, listOf, option, read, resource, setOption, sourcePath } from "./draft";

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

  it("says in which line the YAML is wrong", () => {
    expect(read("a: b\nc: [").problem?.line).toBeGreaterThan(1);
    expect(read("- a").problem?.message).toMatch(/no Application/);
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
