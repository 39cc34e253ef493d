import { many, one, type Search } from "@/lib/search";
import { type Forest, forest, type Node } from "./model";

// Filter is what of a tree is shown. Several of one kind of condition mean any of them.
export interface Filter {
  kinds: string[];
  health: string[];
  sync: string[];
  text: string;
}

// readFilter takes a filter from an address.
export const readFilter = (search: Search): Filter => ({
  kinds: many(search, "kind"),
  health: many(search, "health"),
  sync: many(search, "sync"),
  text: one(search, "q"),
});

export const filters = (f: Filter): boolean =>
  f.kinds.length > 0 || f.health.length > 0 || f.sync.length > 0 || f.text.trim() !== "";

// matches says whether a node is what a filter asks for.
export function matches(n: Node, f: Filter): boolean {
  if (f.kinds.length > 0 && !f.kinds.includes(n.kind)) {
    return false;
  }
  if (f.health.length > 0 && !f.health.includes(n.health ?? "None")) {
    return false;
  }
  if (f.sync.length > 0 && !f.sync.includes(n.sync ?? "None")) {
    return false;
  }
  const words = f.text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    return true;
  }
  const text =
    `${n.kind} ${n.namespace ?? ""}/${n.name} ${n.pod?.node ?? ""} ${(n.images ?? []).join(" ")} ${n.message ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

// Shown is a filtered tree: what matches, and dim what is only there to lead to it.
export interface Shown extends Forest {
  dim: Set<string>;
  // hits is how many match.
  hits: number;
}

// narrow keeps what matches, with all that owns it.
export function narrow(whole: Forest, f: Filter): Shown {
  if (!filters(f)) {
    return { ...whole, dim: new Set(), hits: whole.nodes.size };
  }
  const keep = new Map<string, Node>();
  const hit = new Set<string>();
  for (const node of whole.nodes.values()) {
    if (!matches(node, f)) {
      continue;
    }
    hit.add(node.id);
    let at: Node | undefined = node;
    while (at && !keep.has(at.id)) {
      keep.set(at.id, at);
      at = at.parent ? whole.nodes.get(at.parent) : undefined;
    }
  }
  const dim = new Set([...keep.keys()].filter((id) => !hit.has(id)));
  return { ...forest([...keep.values()]), dim, hits: hit.size };
}

// counts says how many nodes have each value, the most first, for the choice of filters.
export function counts(nodes: Iterable<Node>, of: (n: Node) => string | undefined): [string, number][] {
  const out = new Map<string, number>();
  for (const node of nodes) {
    const value = of(node);
    if (value) {
      out.set(value, (out.get(value) ?? 0) + 1);
    }
  }
  return [...out].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}
