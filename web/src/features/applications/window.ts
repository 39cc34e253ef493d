import type { Schemas } from "@/api/client";
import type { Filter } from "./filter";

export type Application = Schemas["Application"];

// pageSize is how many rows are read at a time.
export const pageSize = 100;

// pagesFor are the numbers of the pages, from 1, that hold the rows from one to another, and a third of a page around them.
export function pagesFor(first: number, last: number, total: number): number[] {
  if (total <= 0 || last < 0) {
    return [1];
  }
  const ahead = Math.floor(pageSize / 3);
  const from = Math.max(0, Math.min(first, total - 1) - ahead);
  const to = Math.min(total - 1, Math.max(last, 0) + ahead);
  const out: number[] = [];
  for (let page = Math.floor(from / pageSize) + 1; page <= Math.floor(to / pageSize) + 1; page++) {
    out.push(page);
  }
  return out;
}

// place is on which page a row is, and where on it.
export const place = (index: number): { page: number; at: number } => ({
  page: Math.floor(index / pageSize) + 1,
  at: index % pageSize,
});

// patched is a page with what an event says of one of its rows; the same page where it has no such row.
export function patched(items: Application[], changes: Map<string, Application>): Application[] {
  let out = items;
  for (const [at, item] of items.entries()) {
    const next = changes.get(item.id);
    if (next) {
      out = out === items ? [...items] : out;
      out[at] = next;
    }
  }
  return out;
}

const fields: Record<string, (a: Application) => unknown> = {
  sync: (a) => a.sync,
  health: (a) => a.health,
  phase: (a) => a.phase,
  argoProject: (a) => a.argoProject,
  service: (a) => a.service,
  environment: (a) => a.environment,
  region: (a) => a.environment,
  type: (a) => a.environment,
  version: (a) => a.version,
  held: (a) => a.held,
  // Only the server knows which reason is the worst: its inputs show that it may have changed.
  attention: (a) => [a.sync, a.health, a.phase, a.held, a.finishedAt, a.driftSince, ...(a.conditions ?? [])].join(),
  stale: (a) => a.stale ?? false,
  scope: (a) => a.scope,
  driftOlder: (a) => a.driftSince,
  since: (a) => a.finishedAt,
  finishedAt: (a) => a.finishedAt,
  cluster: (a) => a.destination,
  destination: (a) => a.destination,
  repoURL: (a) => a.repoURL,
  search: (a) => `${a.repoURL} ${a.destination}`,
  labels: (a) => JSON.stringify(a.labels),
};

// moves is true where a row that changed may belong somewhere else in the list now, or no longer into it: the pages have to
// be read again then. What changes nothing by which the list is filtered or sorted is patched in its place.
export function moves(before: Application, after: Application, filter: Filter, sort: string): boolean {
  return [...Object.keys(filter), sort.replace(/^-/, "")].some((name) => {
    const of = fields[name];
    return of !== undefined && of(before) !== of(after);
  });
}
