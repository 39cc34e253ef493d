import type { Schemas } from "@/api/client";

export type ObjectDiff = Schemas["ObjectDiff"];
export type FieldDiff = Schemas["FieldDiff"];

// text is a value of a field for a table: short, and never a whole object.
export function text(value: unknown): string {
  if (value === null || value === undefined) {
    return "";
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

// owner is the owner of a field: the manager, with the subresource that it came through, and how many others.
export function owner(field: FieldDiff): string {
  if (!field.manager) {
    return "";
  }
  const through = field.subresource ? `/${field.subresource}` : "";
  const others = field.others?.length ? ` +${field.others.length}` : "";
  return `${field.manager}${through}${others}`;
}

// untils are times until which a drift can be allowed.
export const untils = [
  { label: "1 hour", ms: 3_600_000 },
  { label: "4 hours", ms: 4 * 3_600_000 },
  { label: "1 day", ms: 24 * 3_600_000 },
  { label: "3 days", ms: 72 * 3_600_000 },
  { label: "1 week", ms: 168 * 3_600_000 },
];

// found keeps what a search finds and a verb that is chosen.
export function found(items: ObjectDiff[], search: string, verb: string): ObjectDiff[] {
  const words = search.toLowerCase();
  return items.filter(
    (i) =>
      (verb === "" || i.verb === verb) &&
      (words === "" || `${i.group ?? ""} ${i.kind} ${i.namespace ?? ""}/${i.name}`.toLowerCase().includes(words)),
  );
}
