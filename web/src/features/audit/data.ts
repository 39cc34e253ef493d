import type { Schemas } from "@/api/client";
import { one, type Search } from "@/lib/search";

export type Entry = Schemas["AuditEntry"];

// local is a time as an input of type datetime-local has it, in the reader's zone; "" for none.
export function local(at: string): string {
  const time = new Date(at);
  if (!at || Number.isNaN(time.getTime())) {
    return "";
  }
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// instant is what such an input says, as the API reads it; "" for none.
export function instant(text: string): string {
  const time = new Date(text);
  return !text || Number.isNaN(time.getTime()) ? "" : time.toISOString();
}

// auditFilter is what of the address the audit is asked for.
export function auditFilter(search: Search): Record<string, string> {
  return {
    search: one(search, "q"),
    scope: one(search, "scope"),
    actor: one(search, "actor"),
    action: one(search, "action"),
    objectType: one(search, "type"),
    objectId: one(search, "object"),
    outcome: one(search, "outcome"),
    requestId: one(search, "request"),
    from: instant(one(search, "from")),
    to: instant(one(search, "to")),
  };
}

// filtered is true where a filter leaves something out.
export const filtered = (filter: Record<string, string>): boolean => Object.values(filter).some(Boolean);

// pretty writes JSON with its keys in order, so that two of them can be compared line by line.
export function pretty(value: unknown): string {
  return value === undefined || value === null ? "" : JSON.stringify(sorted(value), null, 2);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([k, v]) => [k, sorted(v)]),
    );
  }
  return value;
}
