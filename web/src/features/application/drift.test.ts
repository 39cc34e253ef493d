import { expect, test } from "vitest";
import { type FieldDiff, found, type ObjectDiff, owner, text } from "./drift";

test("the owner of a field says through what and how many others", () => {
  const field = { path: ".spec.replicas", live: 3, wanted: 1 } as FieldDiff;
  expect(owner(field)).toBe("");
  expect(
    owner({ ...field, manager: "hpa", subresource: "scale", others: [{ manager: "x", operation: "Update" }] }),
  ).toBe("hpa/scale +1");
});

test("a value is told as it is written, and none is empty", () => {
  expect([text(null), text("a"), text(3), text({ a: [1] }), text(false)]).toEqual(["", "a", "3", '{"a":[1]}', "false"]);
});

test("a search finds by kind, group, namespace and name", () => {
  const items = [
    { group: "apps", kind: "Deployment", namespace: "shop", name: "web", verb: "update", diff: "" },
    { kind: "ConfigMap", namespace: "shop", name: "web", verb: "delete", diff: "" },
  ] as ObjectDiff[];
  expect(found(items, "APPS", "").map((i) => i.kind)).toEqual(["Deployment"]);
  expect(found(items, "shop/web", "delete").map((i) => i.kind)).toEqual(["ConfigMap"]);
  expect(found(items, "", "")).toHaveLength(2);
});
