import type { Schemas } from "@/api/client";
import { one, type Search } from "@/lib/search";
import { between, known } from "@/lib/time";
import { instant } from "./data";

export type Operation = Schemas["LedgerEntry"];
export type Detail = Schemas["LedgerDetail"];
export type Change = Schemas["LedgerChange"];
export type Compared = Schemas["LedgerComparedObject"];
export type Key = { group?: string; kind: string; namespace?: string; name: string };

// applicationFilter is which applications the address is about: the part of the filters that all questions share.
export function applicationFilter(search: Search): Record<string, string> {
  return {
    search: one(search, "q"),
    scope: one(search, "scope"),
    agent: one(search, "agent"),
    namespace: one(search, "namespace"),
    name: one(search, "name"),
    service: one(search, "service"),
    environment: one(search, "environment"),
  };
}

// ledgerFilter is what of the address the list of operations is asked for.
export function ledgerFilter(search: Search): Record<string, string> {
  return {
    ...applicationFilter(search),
    phase: one(search, "phase"),
    action: one(search, "action"),
    actor: one(search, "actor"),
    revision: one(search, "revision"),
    automatic: one(search, "automatic"),
    changed: one(search, "changed") && "true",
    from: instant(one(search, "from")),
    to: instant(one(search, "to")),
  };
}

export const actions: [string, string][] = [
  ["sync", "Sync"],
  ["rollback", "Rollback"],
  ["restore", "Restore"],
  ["dry-run", "Dry run"],
  ["partial", "Some objects"],
  ["delete", "Deletion"],
];

export const actionName = (action: string): string => actions.find(([key]) => key === action)?.[1] ?? action;

// deedOf is what an operation was: a sync that reverts changes in the cluster is a repair, or several.
export function deedOf(e: Operation): string {
  if (!e.options?.repair) {
    return actionName(e.action);
  }
  return e.repeats ? `${e.repeats + 1} repairs` : "Repair";
}

// who is the author of an operation; "" for the policy of the application.
export const who = (e: Operation): string => (e.automatic ? "" : (e.actor ?? "").replace(/^user:/, ""));

export const keyOf = (o: Key): string => `${o.group ?? ""}/${o.kind}/${o.namespace ?? ""}/${o.name}`;
export const placeOf = (o: Key): string => `${o.kind} ${o.namespace ? `${o.namespace}/` : ""}${o.name}`;

// applicationOf takes the id of an application apart; undefined where it is none.
export function applicationOf(id: string): { agent: string; namespace: string; name: string } | undefined {
  const [agent, namespace, name, ...rest] = id.split("/");
  return agent && namespace && name && rest.length === 0 ? { agent, namespace, name } : undefined;
}

// counted says what was done with how many objects: "3 created, 1 failed".
export function counted(c: Operation["counts"]): string {
  const parts: [number, string][] = [
    [c.created, "created"],
    [c.changed, "changed"],
    [c.deleted, "deleted"],
    [c.failed, "failed"],
  ];
  const said = parts.filter(([n]) => n > 0).map(([n, verb]) => `${n} ${verb}`);
  return said.length > 0 ? said.join(", ") : c.unchanged > 0 ? `${c.unchanged} unchanged` : "nothing to do";
}

export interface Step {
  name: string;
  at: string;
  // took is how long it was since the step before; "" for the first.
  took: string;
}

// timings are the steps of an operation in the order of time, those of which the time is known.
export function timings(e: Operation): Step[] {
  const all: [string, string | undefined][] = [
    ["Committed", e.commit?.committedAt],
    ["Agent detected it", e.detectedAt],
    ["Began", e.startedAt],
    ["Rendered", e.renderedAt],
    ["Last object applied", e.appliedAt],
    ["Ended", e.finishedAt],
    ["Healthy", e.healthyAt],
  ];
  const steps = all
    .filter((step): step is [string, string] => known(step[1]))
    .map(([name, at], i) => ({ name, at, time: Date.parse(at), i }))
    .sort((a, b) => a.time - b.time || a.i - b.i);
  return steps.map(({ name, at }, i) => ({ name, at, took: i === 0 ? "" : between(steps[i - 1]?.at ?? at, at) }));
}

export interface Touched {
  key: string;
  object: Key;
  change: Change | undefined;
  // compared is how the object was rendered otherwise than before; undefined where it was not.
  compared: Compared | undefined;
}

// touched puts together what was done to objects and how they were rendered otherwise than before. What was rendered
// otherwise and not touched comes last: an operation that was limited, or ended early.
export function touched(changes: Change[], compared: Compared[]): Touched[] {
  const differences = new Map(compared.map((c) => [keyOf(c), c]));
  const done = changes.map((change, i) => {
    const key = keyOf(change);
    return { key: `${key} ${i}`, object: change, change, compared: differences.get(key) };
  });
  const seen = new Set(changes.map(keyOf));
  const rest = compared.filter((c) => !seen.has(keyOf(c)));
  return [...done, ...rest.map((c) => ({ key: keyOf(c), object: c, change: undefined, compared: c }))];
}

// images are those of objects, each once.
export function images(objects: { images?: string[] | null }[]): string[] {
  return [...new Set(objects.flatMap((o) => o.images ?? []))].sort();
}

// before is the operation that an entry is compared with at first: the newest that ended before it began and was no dry run.
export function before(entry: Operation, others: Operation[]): Operation | undefined {
  return others
    .filter((o) => o.id !== entry.id && o.action !== "dry-run" && o.action !== "delete")
    .filter((o) => Date.parse(o.finishedAt) <= Date.parse(entry.startedAt))
    .sort((a, b) => Date.parse(b.finishedAt) - Date.parse(a.finishedAt))[0];
}
