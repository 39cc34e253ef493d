import type { Folded, Item } from "./group";

export const size = { width: 252, height: 56, gapX: 56, gapY: 12 };
export const rootId = "application";
// What owns more than fits on a screen stands beside the first of it: its middle would be far from all that is in sight.
const tall = 10 * (size.height + size.gapY);

// Placed is an item with its place, and the id of what it hangs at.
export type Placed = Item & { x: number; y: number; depth: number; parent: string };

// Layout is a tree with a place for each item. It hangs at the application, which has a place of its own.
export interface Layout {
  items: Placed[];
  root: { x: number; y: number };
  width: number;
  height: number;
}

// place puts a tree from left to right: each depth has a column, each leaf a row, and what has children stands at the middle
// of them, or at the first of many. Subtrees take rows of their own, so nothing covers anything. It takes time in proportion to the items.
export function place(tree: Folded): Layout {
  const items: Placed[] = [];
  const mid = new Map<string, number>();
  const stepX = size.width + size.gapX;
  const stepY = size.height + size.gapY;
  let row = 0;
  let deepest = 0;
  // An own stack: how deep objects own each other is not ours to say.
  const stack: { id: string; at: Placed | undefined; children: Item[]; next: number }[] = [];
  const down = (id: string, at: Placed | undefined) =>
    stack.push({ id, at, children: tree.children.get(id === rootId ? "" : id) ?? [], next: 0 });
  down(rootId, undefined);
  while (stack.length > 0) {
    const top = stack[stack.length - 1] as (typeof stack)[number];
    const child = top.children[top.next++];
    if (child) {
      const depth = (top.at?.depth ?? 0) + 1;
      deepest = Math.max(deepest, depth);
      const placed: Placed = { ...child, x: depth * stepX, y: 0, depth, parent: top.id };
      items.push(placed);
      down(child.id, placed);
      continue;
    }
    stack.pop();
    let y: number;
    if (top.children.length === 0) {
      y = row++ * stepY;
    } else {
      const first = mid.get((top.children[0] as Item).id) ?? 0;
      const last = mid.get((top.children[top.children.length - 1] as Item).id) ?? 0;
      y = last - first > tall ? first : (first + last) / 2;
    }
    mid.set(top.id, y);
    if (top.at) {
      top.at.y = y;
    }
  }
  return {
    items,
    root: { x: 0, y: mid.get(rootId) ?? 0 },
    width: deepest * stepX + size.width,
    height: Math.max(1, row) * stepY - size.gapY,
  };
}

// step is where an arrow key leads from an item: left to its owner, right to the first of what it owns, up and down along
// its column. undefined where there is nothing.
export function step(layout: Layout, from: string, key: string): string | undefined {
  if (key === "Home") {
    return rootId;
  }
  if (from === rootId) {
    return key === "ArrowRight" ? layout.items.find((i) => i.parent === rootId)?.id : undefined;
  }
  const at = layout.items.find((i) => i.id === from);
  if (!at) {
    return rootId;
  }
  if (key === "ArrowLeft") {
    return at.parent;
  }
  if (key === "ArrowRight") {
    return layout.items.find((i) => i.parent === from)?.id;
  }
  const column = layout.items.filter((i) => i.depth === at.depth).sort((a, b) => a.y - b.y);
  const index = column.indexOf(at);
  return key === "ArrowDown" ? column[index + 1]?.id : key === "ArrowUp" ? column[index - 1]?.id : undefined;
}
