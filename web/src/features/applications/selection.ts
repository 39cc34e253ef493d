import type { Schemas } from "@/api/client";

// Selection is which applications something is done with: those that are named, or all that match the filter but for those.
export interface Selection {
  all: boolean;
  ids: ReadonlySet<string>;
  // anchor is the row from which shift goes on, and on whether that one was selected, or no longer.
  anchor: number;
  on: boolean;
}

export const nothing: Selection = { all: false, ids: new Set(), anchor: -1, on: true };
export const everything: Selection = { ...nothing, all: true };

export const sizeOf = (selection: Selection, total: number): number =>
  selection.all ? Math.max(0, total - selection.ids.size) : selection.ids.size;

// has says whether an application is selected. One that is not read yet is, where all are.
export const has = (selection: Selection, id: string | undefined): boolean =>
  selection.all !== (id !== undefined && selection.ids.has(id));

// flip selects a row, or no longer does; shift goes on from it.
export function flip(selection: Selection, id: string, index: number): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) {
    ids.add(id);
  }
  return { ...selection, ids, anchor: index, on: selection.all !== ids.has(id) };
}

// reach does to rows what was done to the one before, and has shift go on from the last of them.
export function reach(selection: Selection, rows: string[], index: number): Selection {
  const ids = new Set(selection.ids);
  for (const id of rows) {
    if (selection.on === selection.all) {
      ids.delete(id);
    } else {
      ids.add(id);
    }
  }
  return { ...selection, ids, anchor: index };
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

// wanted is a selection as a job takes it.
export function wanted(
  selection: Selection,
  filter: NonNullable<Schemas["JobRequest"]["filter"]>,
): Pick<Schemas["JobRequest"], "filter" | "targets" | "except"> {
  const ids = [...selection.ids].map(targetOf);
  if (!selection.all) {
    return { targets: ids };
  }
  return ids.length > 0 ? { filter, except: ids } : { filter };
}
