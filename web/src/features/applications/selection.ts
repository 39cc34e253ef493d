import type { Schemas } from "@/api/client";

// Selection is which applications something is done with: those that are named, or all that match the filter.
export interface Selection {
  all: boolean;
  ids: ReadonlySet<string>;
  // anchor is the row from which shift selects.
  anchor: number;
}

export const nothing: Selection = { all: false, ids: new Set(), anchor: -1 };
export const everything: Selection = { all: true, ids: new Set(), anchor: -1 };

export const sizeOf = (selection: Selection, total: number): number => (selection.all ? total : selection.ids.size);

// flip selects a row, or no longer does; shift goes on from it.
export function flip(selection: Selection, id: string, index: number): Selection {
  const ids = new Set(selection.all ? [] : selection.ids);
  if (!ids.delete(id)) {
    ids.add(id);
  }
  return { all: false, ids, anchor: index };
}

// add selects rows beside those that are, and has shift go on from the last one.
export function add(selection: Selection, ids: string[], index: number): Selection {
  return { all: false, ids: new Set([...(selection.all ? [] : selection.ids), ...ids]), anchor: index };
}

// range is from which row to which shift selects.
export function range(selection: Selection, index: number): [number, number] {
  const anchor = selection.anchor < 0 ? index : selection.anchor;
  return [Math.min(anchor, index), Math.max(anchor, index)];
}

// targetOf takes the id of an application apart.
export function targetOf(id: string): Schemas["Target"] {
  const [agent = "", namespace = "", ...name] = id.split("/");
  return { agent, namespace, name: name.join("/") };
}
