import type { Schemas } from "@/api/client";
import { plural } from "@/lib/format";

// TreeNode is an object in the tree of an application, as the API says it.
export type TreeNode = Schemas["TreeNode"];

// Node is one of a flat tree: it names its parent; the application's own objects have none.
export interface Node extends Omit<TreeNode, "children"> {
  // id is group/kind/namespace/name, as links name it too.
  id: string;
  parent?: string;
}

type Named = Pick<TreeNode, "group" | "kind" | "namespace" | "name">;

export const idOf = (n: Named): string => `${n.group ?? ""}/${n.kind}/${n.namespace ?? ""}/${n.name}`;

// refOf reads an id; undefined where it is none.
export function refOf(id: string): { group: string; kind: string; namespace: string; name: string } | undefined {
  const [group, kind, namespace, ...name] = id.split("/");
  if (group === undefined || !kind || namespace === undefined || name.length === 0 || name[0] === "") {
    return undefined;
  }
  return { group, kind, namespace, name: name.join("/") };
}

// flatten makes a flat tree of a nested one: parents come before what they own.
export function flatten(items: readonly TreeNode[]): Node[] {
  const out: Node[] = [];
  const stack: [TreeNode, string][] = [...items].reverse().map((item) => [item, ""]);
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [{ children, ...node }, parent] = next;
    const id = idOf(node);
    out.push({ ...node, id, ...(parent ? { parent } : {}) });
    for (const child of [...(children ?? [])].reverse()) {
      stack.push([child, id]);
    }
  }
  return out;
}

// reportedTree is what an Application says of its own objects, for as long as its agent cannot say what these own.
export function reportedTree(resource: unknown): { nodes: Node[]; warnings: string[] } | undefined {
  const list = (resource as { status?: { resources?: unknown } } | null | undefined)?.status?.resources;
  if (!Array.isArray(list) || list.length === 0) {
    return undefined;
  }
  const nodes = list.flatMap((one: unknown): Node[] => {
    const o = one as Named & {
      version?: string;
      status?: string;
      health?: { status?: string; message?: string };
      requiresPruning?: boolean;
      hook?: boolean;
    };
    if (typeof o?.kind !== "string" || typeof o.name !== "string" || o.hook) {
      return [];
    }
    const { group, version, kind, namespace, name, status, health, requiresPruning } = o;
    const texts = { group, version, namespace, sync: status, health: health?.status, message: health?.message };
    const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => typeof text === "string" && text));
    return [{ id: idOf(o), kind, name, ...given, ...(requiresPruning ? { requiresPruning } : {}) }];
  });
  return {
    nodes,
    warnings: ["The agent is away: these are the objects of its last report, without what they own."],
  };
}

// Forest is a flat tree with the ways down: children by the id of their parent, "" for the roots.
export interface Forest {
  nodes: Map<string, Node>;
  children: Map<string, Node[]>;
}

const collator = new Intl.Collator("en", { numeric: true });

const byName = (a: Node, b: Node): number =>
  a.kind === b.kind ? collator.compare(a.name, b.name) : collator.compare(a.kind, b.kind);

// forest finds the ways down. What names a parent that is not there, or that it owns itself, is a root: nothing is lost.
export function forest(list: readonly Node[]): Forest {
  const nodes = new Map(list.map((n) => [n.id, n]));
  const roots = new Map<string, boolean>(); // whether the way up from a node ends at a root
  const ends = (start: Node): boolean => {
    const way: string[] = [];
    let at: Node | undefined = start;
    let good = true;
    while (at) {
      const known = roots.get(at.id);
      if (known !== undefined) {
        good = known;
        break;
      }
      way.push(at.id);
      roots.set(at.id, false); // seen again on this way, it is a ring
      at = at.parent ? nodes.get(at.parent) : undefined;
    }
    for (const id of way) {
      roots.set(id, good);
    }
    return good;
  };
  const children = new Map<string, Node[]>();
  for (const node of nodes.values()) {
    const parent = node.parent && nodes.has(node.parent) && ends(node) ? node.parent : "";
    const siblings = children.get(parent);
    if (siblings) {
      siblings.push(node);
    } else {
      children.set(parent, [node]);
    }
  }
  for (const siblings of children.values()) {
    siblings.sort(byName);
  }
  return { nodes, children };
}

// childOf is the Application that a node is, with a page of its own; undefined for any other object. The agent of the application
// whose tree it is has it where both are in the agent's own cluster.
export function childOf(
  n: Pick<Node, "group" | "kind" | "namespace" | "name">,
  of: { agent: string; destination?: string | undefined },
): { agent: string; namespace: string; name: string } | undefined {
  const own = /^(https:\/\/kubernetes\.default\.svc|in-cluster)(\/|$)/.test(of.destination ?? "");
  return own && n.group === "argoproj.io" && n.kind === "Application" && n.namespace
    ? { agent: of.agent, namespace: n.namespace, name: n.name }
    : undefined;
}

// tag is the version part of an image: "1.2", or the first of its digest.
export function tag(image: string): string {
  const [name, digest] = image.split("@");
  const last = (name ?? "").split("/").pop() ?? "";
  const at = last.indexOf(":");
  if (at >= 0) {
    return last.slice(at + 1);
  }
  return digest ? digest.replace(/^sha256:/, "").slice(0, 8) : "latest";
}

// fact is the one thing more that is worth saying of a node beside its name.
export function fact(n: Node): string {
  if (n.pod) {
    const restarts = n.pod.restarts ? ` · ${plural(n.pod.restarts, "restart")}` : "";
    return `${n.pod.reason ?? n.pod.phase ?? ""} ${n.pod.ready}/${n.pod.containers}${restarts}`.trim();
  }
  const parts: string[] = [];
  if (n.replicas) {
    parts.push(`${n.replicas.ready}/${n.replicas.desired} ready`);
  }
  if (n.revision) {
    parts.push(`revision ${n.revision}`);
  } else if (n.images?.[0]) {
    parts.push(tag(n.images[0]));
  }
  if (parts.length === 0 && n.hook?.length) {
    parts.push(`${n.hook.join(", ")} hook`);
  }
  if (parts.length === 0 && n.addresses?.[0]) {
    parts.push(n.addresses[0]);
  }
  if (parts.length === 0 && n.requiresPruning) {
    parts.push("to be pruned");
  }
  return parts.join(" · ");
}

// hasPods is true for what logs can be read of.
export const hasPods = (kind: string): boolean =>
  [
    "Pod",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "Job",
    "CronJob",
    "ReplicationController",
    "Rollout",
  ].includes(kind);

// notEdited says why an object cannot be changed as one of an application, and what to do instead; undefined where it can
// be. Agents refuse a patch of these kinds.
export function notEdited(n: Pick<Node, "group" | "kind">): string | undefined {
  if (!n.group && n.kind === "Secret") {
    return "Secrets cannot be edited here, because an edit can reveal or test hidden values. Change it in its source in Git, or with kubectl if you have access to the cluster.";
  }
  if (n.group === "argoproj.io" && ["Application", "ApplicationSet", "AppProject"].includes(n.kind)) {
    return `This ${n.kind} cannot be edited as an object of another application. Edit it on its own page, or in its source in Git.`;
  }
  return undefined;
}
