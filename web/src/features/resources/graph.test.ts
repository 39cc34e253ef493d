import { expect, test } from "vitest";
import { noPanel, syncPanel } from "@/lib/panel";
import { counts, filters, narrow, readFilter } from "./filter";
import { fold, told } from "./group";
import { place, rootId, step, size } from "./layout";
import { childOf, fact, flatten, forest, idOf, type Node, refOf, reportedTree, tag } from "./model";
import { network } from "./network";

const node = (kind: string, name: string, more: Partial<Node> = {}): Node => {
  const made = { kind, name, namespace: "shop", group: kind === "Pod" || kind === "Service" ? "" : "apps", ...more };
  return { ...made, id: idOf(made) };
};
const none = new Set<string>();
const nothing = { kinds: [], health: [], sync: [], text: "" };

const deployment = node("Deployment", "web", { health: "Healthy", sync: "Synced" });
const fresh = node("ReplicaSet", "web-2", { parent: deployment.id, revision: 2, replicas: { desired: 2, ready: 2 } });
const stale = ["web-0", "web-1"].map((name, i) =>
  node("ReplicaSet", name, { parent: deployment.id, revision: i, replicas: { desired: 0, ready: 0 } }),
);
const pods = (n: number, parent: string, bad = 0) =>
  Array.from({ length: n }, (_, i) => node("Pod", `web-2-${i}`, { parent, health: i < bad ? "Degraded" : "Healthy" }));

test("a nested tree becomes flat, parents first", () => {
  const flat = flatten([
    {
      kind: "Deployment",
      group: "apps",
      namespace: "shop",
      name: "web",
      children: [{ kind: "Pod", namespace: "shop", name: "a" }],
    },
    { kind: "Service", namespace: "shop", name: "web" },
  ]);
  expect(flat.map((n) => [n.id, n.parent])).toEqual([
    ["apps/Deployment/shop/web", undefined],
    ["/Pod/shop/a", "apps/Deployment/shop/web"],
    ["/Service/shop/web", undefined],
  ]);
});

test("ids are read back, and what is none is not", () => {
  expect(refOf("apps/Deployment/shop/web")).toEqual({
    group: "apps",
    kind: "Deployment",
    namespace: "shop",
    name: "web",
  });
  expect(refOf("/Namespace//shop")?.name).toBe("shop");
  expect(refOf("web")).toBeUndefined();
  expect(refOf("///")).toBeUndefined();
});

test("nodes that own each other, or name a parent that is not there, are roots", () => {
  const a = node("A", "a", { parent: "apps/B/shop/b" });
  const b = node("B", "b", { parent: "apps/A/shop/a" });
  const lost = node("C", "c", { parent: "apps/X/shop/x" });
  expect(
    forest([a, b, lost])
      .children.get("")
      ?.map((n) => n.name),
  ).toEqual(["a", "b", "c"]);
});

test("a filter keeps the way to what matches, and dims it", () => {
  const shown = narrow(forest([deployment, fresh, ...pods(3, fresh.id, 1)]), { ...nothing, health: ["Degraded"] });
  expect([...shown.nodes.keys()].sort()).toEqual(["/Pod/shop/web-2-0", deployment.id, fresh.id].sort());
  expect([...shown.dim].sort()).toEqual([deployment.id, fresh.id].sort());
  expect(shown.hits).toBe(1);
});

test("words of the text all count, in any order", () => {
  const tree = forest([deployment, node("Service", "web")]);
  expect(narrow(tree, { ...nothing, text: "web serv" }).hits).toBe(1);
  expect(narrow(tree, { ...nothing, text: "web mysql" }).hits).toBe(0);
});

test("many siblings fold into one that counts them, and unfold", () => {
  const tree = forest([deployment, fresh, ...pods(120, fresh.id, 2)]);
  const folded = fold(tree, none).children.get(fresh.id) ?? [];
  expect(folded).toHaveLength(1);
  expect(folded[0]?.fold && told(folded[0].fold)).toBe("120 Pods: 118 Healthy, 2 Degraded");
  const opened = fold(tree, new Set([folded[0]?.id ?? ""])).children.get(fresh.id) ?? [];
  expect(opened).toHaveLength(121);
  expect(opened[0]?.fold?.open).toBe(true);
});

test("ReplicaSets that run no more fold, but not the newest of a workload that is scaled to nothing", () => {
  const tree = forest([deployment, fresh, ...stale]);
  const names = (fold(tree, none).children.get(deployment.id) ?? []).map((i) => i.node?.name ?? told(i.fold as never));
  expect(names).toEqual(["2 old ReplicaSets", "web-2"]);
  const idle = { ...fresh, replicas: { desired: 0, ready: 0 } };
  expect(fold(forest([deployment, idle]), none).children.get(deployment.id)?.[0]?.node?.name).toBe("web-2");
});

test("the layout has columns by depth, and nothing covers anything", () => {
  const layout = place(fold(forest([deployment, fresh, ...stale, ...pods(5, fresh.id), node("Service", "web")]), none));
  expect(layout.items.find((i) => i.id === deployment.id)?.depth).toBe(1);
  expect(layout.items.find((i) => i.id === "/Pod/shop/web-2-3")?.depth).toBe(3);
  const seen = [...layout.items].sort((a, b) => a.x - b.x || a.y - b.y);
  seen.slice(1).forEach((item, i) => {
    const before = seen[i];
    expect(item.x !== before?.x || item.y - before.y >= size.height).toBe(true);
  });
  expect(layout.items.every((i) => i.y + size.height <= layout.height && i.x + size.width <= layout.width)).toBe(true);
});

test("a chain of any length is laid out", () => {
  const chain: Node[] = [];
  for (let i = 0; i < 5_000; i++) {
    chain.push(node("X", `n${i}`, i > 0 ? { parent: `apps/X/shop/n${i - 1}` } : {}));
  }
  expect(place(fold(forest(chain), none)).items.length).toBe(5_000);
});

test("arrow keys walk the tree", () => {
  const layout = place(fold(forest([deployment, fresh, ...pods(2, fresh.id), node("Service", "web")]), none));
  expect(step(layout, rootId, "ArrowRight")).toBe(deployment.id);
  expect(step(layout, deployment.id, "ArrowDown")).toBe("/Service/shop/web");
  expect(step(layout, deployment.id, "ArrowRight")).toBe(fresh.id);
  expect(step(layout, fresh.id, "ArrowRight")).toBe("/Pod/shop/web-2-0");
  expect(step(layout, "/Pod/shop/web-2-0", "ArrowDown")).toBe("/Pod/shop/web-2-1");
  expect(step(layout, "/Pod/shop/web-2-0", "ArrowLeft")).toBe(fresh.id);
  expect(step(layout, "/Pod/shop/web-2-1", "ArrowDown")).toBeUndefined();
});

test("the network leads from ingress over service to pods", () => {
  const ingress = node("Ingress", "web", { routes: ["/Service/shop/web"], addresses: ["192.0.2.1"] });
  const both = pods(2, fresh.id);
  const service = node("Service", "web", { routes: both.map((p) => p.id) });
  const net = network([deployment, fresh, ...both, service, ingress], none);
  expect(net.items.map((i) => [i.node?.kind, i.depth])).toEqual([
    ["Ingress", 0],
    ["Service", 1],
    ["Pod", 2],
    ["Pod", 2],
  ]);
  expect(net.links).toHaveLength(3);
});

test("many pods of a service fold in the network, and a ring of routes ends", () => {
  const many = pods(200, fresh.id);
  const net = network([...many, node("Service", "web", { routes: many.map((p) => p.id) })], none);
  expect(net.items).toHaveLength(2);
  expect(net.links).toHaveLength(1);
  const a = node("Service", "a", { routes: ["/Service/shop/b"] });
  const b = node("Service", "b", { routes: ["/Service/shop/a"] });
  expect(network([a, b], none).items).toHaveLength(2);
});

test("a fact says how a node stands", () => {
  expect(fact(node("Deployment", "a", { replicas: { desired: 3, ready: 2 }, images: ["r.io:5000/a:1.2"] }))).toBe(
    "2/3 ready · 1.2",
  );
  expect(fact(node("Pod", "a", { pod: { ready: 0, containers: 1, reason: "CrashLoopBackOff", restarts: 4 } }))).toBe(
    "CrashLoopBackOff 0/1 · 4 restarts",
  );
  expect(tag("r.io:5000/web@sha256:0123456789abcdef")).toBe("01234567");
  expect(counts([deployment, fresh], (n) => n.health)).toEqual([["Healthy", 1]]);
});

test("the last report of an agent that is away is a tree of the application's own objects", () => {
  const web = { group: "apps", version: "v1", kind: "Deployment", namespace: "shop", name: "web", status: "Synced" };
  const tree = reportedTree({
    status: {
      resources: [
        { ...web, health: { status: "Degraded", message: "1 of 2 pods is not ready" } },
        { kind: "Job", namespace: "shop", name: "migrate", hook: true },
        {
          kind: "ConfigMap",
          version: "v1",
          namespace: "shop",
          name: "old",
          status: "OutOfSync",
          requiresPruning: true,
        },
        { name: "no kind" },
      ],
    },
  });
  expect(tree?.nodes).toEqual([
    {
      id: "apps/Deployment/shop/web",
      group: "apps",
      version: "v1",
      kind: "Deployment",
      namespace: "shop",
      name: "web",
      sync: "Synced",
      health: "Degraded",
      message: "1 of 2 pods is not ready",
    },
    {
      id: "/ConfigMap/shop/old",
      version: "v1",
      kind: "ConfigMap",
      namespace: "shop",
      name: "old",
      sync: "OutOfSync",
      requiresPruning: true,
    },
  ]);
  expect(tree?.warnings).toHaveLength(1);
  for (const none of [undefined, null, "text", {}, { status: { resources: [] } }, { status: { resources: "many" } }]) {
    expect(reportedTree(none)).toBeUndefined();
  }
});

test("the panel for a sync filters nothing of what is below it", () => {
  expect(filters(readFilter(syncPanel({ prune: "1", objects: "out" })))).toBe(false);
  const names = new Set(Object.keys(syncPanel({ prune: "1", objects: "out" })));
  expect(new Set(Object.keys(noPanel))).toEqual(names);
});

test("a child application leads to its page, where one agent has both", () => {
  const child = { group: "argoproj.io", kind: "Application", namespace: "argocd", name: "web" };
  const page = { agent: "account.prod", namespace: "argocd", name: "web" };
  const of = (destination?: string) => ({ agent: "account.prod", destination });
  expect(childOf(child, of("https://kubernetes.default.svc/argocd"))).toEqual(page);
  expect(childOf(child, of("in-cluster"))).toEqual(page);
  expect(childOf(child, of("https://edge.example.org"))).toBeUndefined();
  expect(childOf(child, of("in-cluster-2/argocd"))).toBeUndefined();
  expect(childOf(child, of())).toBeUndefined();
  expect(childOf({ ...child, group: "app.k8s.io" }, of("in-cluster"))).toBeUndefined();
});
