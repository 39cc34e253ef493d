import { expect, test } from "vitest";
import { changed, editable, tried } from "./edit";
import type { Resource } from "./resource";

const resource = (of: object = {}): Resource =>
  ({
    metadata: {
      name: "shop",
      namespace: "argocd",
      resourceVersion: "7",
      managedFields: [{}],
      annotations: { "slipway.io/history-notes": "{}", "team/owner": "ann" },
    },
    spec: { project: "default", somethingNew: { a: 1 } },
    status: { sync: { status: "Synced" } },
    operation: {},
    ...of,
  }) as never;

test("an edit has what people say, fields that nobody knows included, and nothing that agents write", () => {
  const draft = editable(resource());
  expect(Object.keys(draft).sort()).toEqual(["metadata", "spec"]);
  expect(draft.spec).toEqual({ project: "default", somethingNew: { a: 1 } });
  expect(draft.metadata.annotations).toEqual({ "team/owner": "ann" });
  expect(draft.metadata).not.toHaveProperty("managedFields");
});

test("an edit does not change what it was made of", () => {
  const base = resource();
  editable(base).spec.project = "other";
  expect(base.spec.project).toBe("default");
});

test("a new status or version is no change, another field or label is", () => {
  const base = resource();
  expect(changed(resource({ status: { sync: { status: "OutOfSync" } } }), base)).toBe(false);
  expect(changed(resource({ spec: { somethingNew: { a: 1 }, project: "default" } }), base)).toBe(false);
  expect(changed(resource({ spec: { project: "default" } }), base)).toBe(true);
  expect(changed(resource({ metadata: { ...base.metadata, labels: { a: "b" } } }), base)).toBe(true);
});

test("an edit is tried as a change of what is there, whatever its status and version are by now", () => {
  const base = resource({ status: { sync: { status: "Synced" } } });
  const draft = { ...base, spec: { project: "other" } };
  const body = JSON.parse(JSON.stringify(tried(draft, base)));
  expect(body).toEqual({
    resource: {
      metadata: { name: "shop", namespace: "argocd", annotations: { "team/owner": "ann" } },
      spec: draft.spec,
    },
    base: { metadata: { name: "shop", namespace: "argocd", annotations: { "team/owner": "ann" } }, spec: base.spec },
    update: true,
  });
  expect(base.metadata.resourceVersion).toBe("7");
});
