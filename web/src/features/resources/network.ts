import { fold, type Item } from "./group";
import { type Layout, type Placed, size } from "./layout";
import type { Node } from "./model";

// Network is where traffic goes: gateways and ingresses, services, pods.
export interface Network extends Layout {
  links: { from: string; to: string }[];
}

// network puts what sends traffic left of what it sends it to. Pods that get traffic from the same are folded where they
// are many; open are folds that are not.
export function network(nodes: readonly Node[], open: ReadonlySet<string>): Network {
  const all = new Map(nodes.map((n) => [n.id, n]));
  const sources = new Map<string, string[]>(); // of what gets traffic
  const part = new Set<string>();
  for (const node of nodes) {
    for (const to of new Set(node.routes ?? [])) {
      if (to !== node.id && all.has(to)) {
        part.add(node.id).add(to);
        sources.set(to, [...(sources.get(to) ?? []), node.id]);
      }
    }
    if ((node.addresses?.length || node.urls?.length) && node.kind !== "Pod") {
      part.add(node.id);
    }
  }
  const depth = depths([...part], sources);
  // What gets its traffic from the same, and sends none on, are siblings that may fold.
  const children = new Map<string, Node[]>();
  for (const id of part) {
    const node = all.get(id) as Node;
    const key = node.routes?.length ? `:${id}` : `${depth.get(id) ?? 0}:${(sources.get(id) ?? []).join(" ")}`;
    children.set(key, [...(children.get(key) ?? []), node]);
  }
  const folded = fold({ nodes: all, children }, open);
  const columns = new Map<number, { item: Item; from: string[] }[]>();
  for (const [key, items] of folded.children) {
    const one = children.get(key)?.[0] as Node;
    const at = depth.get(one.id) ?? 0;
    columns.set(at, [...(columns.get(at) ?? []), ...items.map((item) => ({ item, from: sources.get(one.id) ?? [] }))]);
  }
  return arrange(columns);
}

// depths is how many steps traffic takes to each node at most. A ring of routes ends where it begins.
function depths(ids: readonly string[], sources: ReadonlyMap<string, string[]>): Map<string, number> {
  const out = new Map<string, number>();
  for (const start of ids) {
    const stack: { id: string; entered: boolean }[] = [{ id: start, entered: false }];
    const open = new Set<string>();
    for (let at = stack.pop(); at; at = stack.pop()) {
      if (at.entered) {
        open.delete(at.id);
        out.set(at.id, Math.max(-1, ...(sources.get(at.id) ?? []).map((s) => out.get(s) ?? -1)) + 1);
      } else if (!out.has(at.id) && !open.has(at.id)) {
        open.add(at.id);
        stack.push({ id: at.id, entered: true });
        for (const source of sources.get(at.id) ?? []) {
          stack.push({ id: source, entered: false });
        }
      }
    }
  }
  return out;
}

// arrange gives each column its rows: near those that send traffic there, so that few lines cross.
function arrange(columns: ReadonlyMap<number, { item: Item; from: string[] }[]>): Network {
  const items: Placed[] = [];
  const links: Network["links"] = [];
  const y = new Map<string, number>();
  const stepX = size.width + size.gapX * 1.5;
  const stepY = size.height + size.gapY;
  const order = [...columns.keys()].sort((a, b) => a - b);
  const rows = Math.max(1, ...[...columns.values()].map((c) => c.length));
  for (const depth of order) {
    const column = columns.get(depth) ?? [];
    const middle = (from: string[]) =>
      from.length === 0 ? 0 : from.reduce((sum, id) => sum + (y.get(id) ?? 0), 0) / from.length;
    column.sort((a, b) => middle(a.from) - middle(b.from));
    column.forEach(({ item, from }, i) => {
      const at = (i + (rows - column.length) / 2) * stepY;
      y.set(item.id, at);
      items.push({ ...item, x: depth * stepX, y: at, depth, parent: from[0] ?? "" });
      links.push(...from.map((source) => ({ from: source, to: item.id })));
    });
  }
  const shown = new Set(items.map((i) => i.id));
  return {
    items,
    links: links.filter((l) => shown.has(l.from)),
    root: { x: 0, y: 0 },
    width: (order.at(-1) ?? 0) * stepX + size.width,
    height: rows * stepY - size.gapY,
  };
}
