import { expect, test } from "vitest";
import { sorted } from "./list";
import { containersOf, portsOf, yamlOf } from "./manifest";
import { mergePatch } from "./merge-patch";
import { type Node, notEdited } from "./model";
import { hosts } from "./pods";
import { addressOf, clamp, endOf } from "./terminal-protocol";
import { merge } from "./tree-stream";
import { sides } from "./unified";

test("managed fields are left out unless they are asked for", () => {
  const object = { kind: "ConfigMap", metadata: { name: "a", managedFields: [{ manager: "kubectl" }] } };
  expect(yamlOf(object)).toBe("kind: ConfigMap\nmetadata:\n  name: a\n");
  expect(yamlOf(object, true)).toContain("manager: kubectl");
});

test("containers are read from pods and from what makes pods", () => {
  const spec = {
    containers: [{ name: "app", image: "a:1", ports: [{ containerPort: 80 }] }],
    initContainers: [{ name: "set", image: "b" }],
  };
  const pod = {
    kind: "Pod",
    spec,
    status: {
      containerStatuses: [
        { name: "app", ready: false, restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } } },
      ],
    },
  };
  expect(containersOf(pod)).toEqual([
    { name: "app", image: "a:1", init: false, ports: ["80/TCP"], ready: false, restarts: 3, state: "CrashLoopBackOff" },
    { name: "set", image: "b", init: true, ports: [] },
  ]);
  expect(
    containersOf({ kind: "CronJob", spec: { jobTemplate: { spec: { template: { spec } } } } }).map((c) => c.name),
  ).toEqual(["app", "set"]);
  expect(containersOf({ kind: "Pod", spec: "what" })).toEqual([]);
});

test("ports of a service are said in words", () => {
  expect(portsOf({ kind: "Service", spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] } })).toEqual([
    "http 80/TCP → 8080",
  ]);
});

test("a merge patch has what changed, and nothing else", () => {
  const before = { spec: { replicas: 1, paused: true, list: [1, 2] }, data: { token: "++++" } };
  expect(mergePatch(before, { spec: { replicas: 2, list: [1, 3] }, data: { token: "++++" } })).toEqual({
    spec: { replicas: 2, paused: null, list: [1, 3] },
  });
  expect(mergePatch(before, structuredClone(before))).toBeUndefined();
});

test("both sides of a unified diff are read back", () => {
  const diff = "--- live\n+++ wanted\n@@ -1,3 +1,3 @@\n kind: A\n-a: 1\n+a: 2\n b: 3\n@@ -9,2 +9,1 @@\n-x: 1\n y: 2\n";
  expect(sides(diff)).toEqual({
    before: "kind: A\na: 1\nb: 3\n# …\nx: 1\ny: 2",
    after: "kind: A\na: 2\nb: 3\n# …\ny: 2",
  });
});

test("patches of a live tree set and remove nodes", () => {
  const a: Node = { id: "/Pod/s/a", kind: "Pod", name: "a" };
  const nodes = new Map([[a.id, a]]);
  merge(nodes, {
    set: [
      { ...a, health: "Healthy" },
      { id: "/Pod/s/b", kind: "Pod", name: "b" },
    ],
  });
  expect(nodes.get(a.id)?.health).toBe("Healthy");
  merge(nodes, { remove: [a.id, "/Pod/s/none"] });
  expect([...nodes.keys()]).toEqual(["/Pod/s/b"]);
});

test("rows are sorted by a field, and then by kind and name as people count", () => {
  const nodes: Node[] = ["web-10", "web-2", "web-1"].map((name) => ({
    id: name,
    kind: "Pod",
    name,
    health: name === "web-1" ? "Degraded" : "Healthy",
  }));
  expect(sorted(nodes, "name").map((n) => n.name)).toEqual(["web-1", "web-2", "web-10"]);
  expect(sorted(nodes, "-health").map((n) => n.name)).toEqual(["web-2", "web-10", "web-1"]);
});

test("pods are put together by the nodes that they run on", () => {
  const pod = (name: string, node: string, restarts: number): Node => ({
    id: name,
    kind: "Pod",
    name,
    health: "Healthy",
    pod: { node, restarts, ready: 1, containers: 1 },
  });
  const all = hosts([pod("b", "w-2", 1), pod("a", "w-2", 2), pod("c", "", 0), { id: "d", kind: "Service", name: "d" }]);
  expect(all.map((h) => [h.name, h.pods.map((p) => p.name), h.restarts])).toEqual([
    ["", ["c"], 0],
    ["w-2", ["a", "b"], 3],
  ]);
});

test("a terminal is opened at its address, and its end is said in words", () => {
  const app = { agent: "account.demo", namespace: "argocd", name: "shop", id: "account.demo/argocd/shop" };
  expect(
    addressOf(
      app,
      { namespace: "shop", name: "web-1" },
      { container: "app", shell: "sh", columns: 80.5, rows: 0 },
      "https://x.example",
    ),
  ).toBe(
    "wss://x.example/api/v1/agents/account.demo/applications/argocd/shop/terminal?podNamespace=shop&pod=web-1&columns=80&rows=1&container=app&command=sh",
  );
  expect(clamp(5_000)).toBe(1_000);
  expect(endOf('{"exit":0}')).toEqual({ why: "The shell has ended." });
  expect(endOf('{"exit":137}')).toEqual({ why: "The shell has ended with exit code 137." });
  expect(endOf('{"error":"no such container","requestId":"r1"}')).toEqual({
    error: expect.objectContaining({ message: "no such container", requestId: "r1" }) as unknown,
  });
  expect(endOf("?")).toEqual({ why: "The terminal was closed." });
});

test("no edit is offered that an agent refuses, and what to do instead is said", () => {
  expect(notEdited({ kind: "Secret" })).toMatch(/Git, or with kubectl/);
  expect(notEdited({ group: "", kind: "Secret" })).toBeDefined();
  for (const kind of ["Application", "ApplicationSet", "AppProject"]) {
    expect(notEdited({ group: "argoproj.io", kind })).toMatch(/its own page/);
  }
  expect(notEdited({ group: "argoproj.io", kind: "Rollout" })).toBeUndefined();
  expect(notEdited({ group: "app.k8s.io", kind: "Application" })).toBeUndefined();
  expect(notEdited({ group: "secrets.example", kind: "Secret" })).toBeUndefined();
  expect(notEdited({ kind: "ConfigMap" })).toBeUndefined();
});
