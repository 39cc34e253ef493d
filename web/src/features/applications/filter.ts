import type { Schemas } from "@/api/client";
import { many, one, type Search } from "@/lib/search";

export type Filter = Schemas["FleetFilter"];

// The parts of a filter that are one text each, and those of which several may be chosen.
const texts = [
  "search",
  "scope",
  "agent",
  "argoProject",
  "namespace",
  "repoURL",
  "cluster",
  "service",
  "environment",
  "region",
  "type",
  "version",
  "driftOlder",
  "since",
] as const;
const flags = ["held", "stale"] as const;
const lists = {
  sync: ["Synced", "OutOfSync", "Unknown"],
  health: ["Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"],
  phase: ["Running", "Terminating", "Succeeded", "Failed", "Error"],
  attention: ["SourceError", "Degraded", "SyncFailed", "Held", "OutOfSync", "NeverDeployed"],
} as const;

type TextName = (typeof texts)[number];
type FlagName = (typeof flags)[number];
type ListName = keyof typeof lists;

const listNames = Object.keys(lists) as ListName[];

// The fields that a list can be sorted by, and how it is by default: the worst first.
const sorts = [
  "attention",
  "name",
  "health",
  "sync",
  "argoProject",
  "environment",
  "service",
  "destination",
  "repoURL",
  "finishedAt",
];
export const defaultSort = "attention";

// filterOf reads a filter from an address. What the API does not know is left out: an old link shows what it can.
export function filterOf(search: Search): Filter {
  const out: Record<string, unknown> = {};
  for (const name of texts) {
    const value = one(search, name).trim();
    if (value && (name !== "type" || value === "Production" || value === "PreProduction")) {
      out[name] = value;
    }
  }
  for (const name of flags) {
    if (one(search, name) === "true") {
      out[name] = true;
    }
  }
  for (const name of listNames) {
    const known: readonly string[] = lists[name];
    const values = known.filter((value) => many(search, name).includes(value));
    if (values.length > 0) {
      out[name] = values;
    }
  }
  const labels = many(search, "label").filter(Boolean).slice(0, 20);
  if (labels.length > 0) {
    out["labels"] = Object.fromEntries(labels.map(split));
  }
  return out as Filter;
}

function split(label: string): [string, string] {
  const at = label.indexOf("=");
  return at < 0 ? [label, ""] : [label.slice(0, at), label.slice(at + 1)];
}

const join = ([key, value]: [string, string]): string => (value ? `${key}=${value}` : key);

// searchOf writes a filter into an address; filterOf reads it back.
export function searchOf(filter: Filter): Search {
  const out: Search = {};
  for (const name of texts) {
    if (filter[name]) {
      out[name] = filter[name];
    }
  }
  for (const name of flags) {
    if (filter[name]) {
      out[name] = "true";
    }
  }
  for (const name of listNames) {
    if (filter[name]?.length) {
      out[name] = [...filter[name]];
    }
  }
  if (filter.labels && Object.keys(filter.labels).length > 0) {
    out["label"] = Object.entries(filter.labels).map(join);
  }
  return out;
}

// queryOf is a filter as parameters of a request.
export function queryOf(filter: Filter) {
  const { labels, ...rest } = filter;
  return { ...rest, ...(labels ? { label: Object.entries(labels).map(join) } : {}) };
}

// narrows is true where a filter leaves something out.
export const narrows = (filter: Filter): boolean => Object.keys(searchOf(filter)).length > 0;

// sortOf reads what the list is sorted by.
export function sortOf(search: Search): string {
  const sort = one(search, "sort");
  return sorts.includes(sort.replace(/^-/, "")) ? sort : defaultSort;
}

// The dimensions that applications are counted by beside the table.
export type Dimension = ListName | TextName | FlagName | "label";

// chosen are the values of a dimension that a filter asks for.
export function chosen(filter: Filter, dimension: Dimension): string[] {
  if (dimension === "label") {
    return Object.entries(filter.labels ?? {}).map(join);
  }
  const value = filter[dimension];
  return value === undefined || value === null || value === false
    ? []
    : Array.isArray(value)
      ? value
      : [value === true ? "true" : value];
}

// toggle asks for a value of a dimension, or no longer asks for it. Of health, sync, phase and labels several may be chosen,
// of all else one at a time.
export function toggle(filter: Filter, dimension: Dimension, value: string): Filter {
  const was = chosen(filter, dimension);
  const on = was.includes(value);
  if (dimension === "label") {
    const labels = on ? was.filter((v) => v !== value) : [...was, value];
    return { ...without(filter, "label"), ...(labels.length ? { labels: Object.fromEntries(labels.map(split)) } : {}) };
  }
  if (dimension in lists) {
    const next = on ? was.filter((v) => v !== value) : [...was, value];
    return { ...without(filter, dimension), ...(next.length ? { [dimension]: next } : {}) };
  }
  if (on) {
    return without(filter, dimension);
  }
  return { ...filter, [dimension]: dimension === "held" || dimension === "stale" ? true : value };
}

// without is a filter that says nothing of a dimension.
export function without(filter: Filter, dimension: Dimension): Filter {
  const { [dimension === "label" ? "labels" : dimension]: _, ...rest } = filter;
  return rest;
}

const labels: Partial<Record<Dimension, string>> = {
  search: "text",
  argoProject: "project",
  repoURL: "repository",
  driftOlder: "out of sync for more than",
  since: "operation within",
  phase: "last operation",
  attention: "needs attention",
  type: "environments",
};

// Chip is one condition of a filter, as it is shown above the table.
export interface Chip {
  dimension: Dimension;
  name: string;
  value: string;
}

// chips are the conditions of a filter, but for the text that the field for it shows.
export function chips(filter: Filter): Chip[] {
  const dimensions: Dimension[] = [...listNames, ...texts.filter((name) => name !== "search"), ...flags, "label"];
  return dimensions.flatMap((dimension) =>
    chosen(filter, dimension).map((value) => ({ dimension, name: labels[dimension] ?? dimension, value })),
  );
}
