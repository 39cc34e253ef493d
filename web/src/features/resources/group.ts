import { count } from "@/lib/format";
import { counts } from "./filter";
import type { Forest, Node } from "./model";

// Fold stands for siblings of one kind that are many.
export interface Fold {
  id: string;
  kind: string;
  count: number;
  // health counts the siblings by health, the most first.
  health: [string, number][];
  outOfSync: number;
  // open is true where the siblings are shown below it as well.
  open: boolean;
  // old is true for ReplicaSets of revisions that run no more.
  old: boolean;
}

// Item is what the graph shows at one place: a node, or what stands for many.
export type Item = { id: string; node: Node; fold?: undefined } | { id: string; fold: Fold; node?: undefined };

// Folded is a tree as it is shown: children by the id of their parent, "" for the roots.
export interface Folded {
  children: Map<string, Item[]>;
}

// Above so many siblings of one kind they fold. Large trees fold earlier: what is shown is to be read.
export const most = (total: number): number => (total > 400 ? 10 : 30);

const plurals = (kind: string): string =>
  /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : /(s|ch|x)$/i.test(kind) ? `${kind}es` : `${kind}s`;

// The text of a fold: "120 Pods: 118 Healthy, 2 Degraded".
export function told(f: Fold): string {
  const what = f.count === 1 ? f.kind : plurals(f.kind);
  const health = f.health.map(([name, n]) => `${count(n)} ${name}`).join(", ");
  return `${count(f.count)} ${f.old ? "old " : ""}${what}${health && !f.old ? `: ${health}` : ""}`;
}

const revisionOf = (n: Node): number => (n.kind === "ReplicaSet" ? (n.revision ?? 0) : 0);

// old is true for what runs no more, where newest is the latest revision beside it.
const old = (n: Node, newest: number): boolean =>
  n.kind === "ReplicaSet" && n.replicas?.desired === 0 && revisionOf(n) < newest;

function foldOf(id: string, kind: string, nodes: readonly Node[], isOpen: boolean, isOld: boolean): Fold {
  return {
    id,
    kind,
    count: nodes.length,
    health: counts(nodes, (n) => n.health),
    outOfSync: nodes.filter((n) => n.sync === "OutOfSync").length,
    open: isOpen,
    old: isOld,
  };
}

// fold puts one item in the place of many siblings, but for those that are in open. An open fold stays, with what it stands
// for after it, so that it can be closed.
export function fold(tree: Forest, open: ReadonlySet<string>): Folded {
  const limit = most(tree.nodes.size);
  const out = new Map<string, Item[]>();
  for (const [parent, siblings] of tree.children) {
    const sets = new Map<string, Node[]>();
    const newest = siblings.reduce((most, node) => Math.max(most, revisionOf(node)), 0);
    for (const node of siblings) {
      const key = `${old(node, newest) ? "old" : "many"}:${parent}:${node.group ?? ""}/${node.kind}`;
      const set = sets.get(key);
      if (set) {
        set.push(node);
      } else {
        sets.set(key, [node]);
      }
    }
    const items: Item[] = [];
    for (const [id, nodes] of sets) {
      const isOld = id.startsWith("old:");
      if (nodes.length <= (isOld ? 1 : limit)) {
        items.push(...nodes.map((node): Item => ({ id: node.id, node })));
        continue;
      }
      const isOpen = open.has(id);
      items.push({ id, fold: foldOf(id, (nodes[0] as Node).kind, nodes, isOpen, isOld) });
      if (isOpen) {
        items.push(...nodes.map((node): Item => ({ id: node.id, node })));
      }
    }
    out.set(parent, items);
  }
  return { children: out };
}
