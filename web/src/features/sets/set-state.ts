import type { Schemas } from "@/api/client";

export type SetItem = Schemas["Item"];

interface Condition {
  type: string;
  status: string;
  message?: string;
  reason?: string;
}

interface Resource {
  spec?: { generators?: Record<string, unknown>[] };
  status?: { conditions?: Condition[]; resources?: unknown[]; applicationStatus?: unknown[] };
}

const resourceOf = (item: SetItem): Resource => (item.resource ?? {}) as Resource;

// generatorsOf names what a set makes applications from, such as "clusters" and "git".
export function generatorsOf(item: SetItem): string[] {
  const names = (resourceOf(item).spec?.generators ?? [])
    .flatMap((g) => Object.keys(g))
    .filter((name) => name !== "selector");
  return [...new Set(names)];
}

// conditionsOf is the conditions that the controller of the set wrote.
export const conditionsOf = (item: SetItem): Condition[] => resourceOf(item).status?.conditions ?? [];

// workedOn is true where a controller has written what came of a set. Nothing else shows whether there is one.
export function workedOn(item: SetItem): boolean {
  const { conditions, resources, applicationStatus } = resourceOf(item).status ?? {};
  return [conditions, resources, applicationStatus].some((list) => (list?.length ?? 0) > 0);
}

// stateOf puts the conditions into one status: what failed counts before all.
export function stateOf(item: SetItem): { status: string; label: string } {
  const conditions = conditionsOf(item);
  const is = (type: string, status: string) => conditions.some((c) => c.type === type && c.status === status);
  if (is("ErrorOccurred", "True")) {
    return { status: "Failed", label: "Failed" };
  }
  if (is("ResourcesUpToDate", "True")) {
    return { status: "Synced", label: "Up to date" };
  }
  return conditions.length === 0
    ? { status: "Unknown", label: "Not processed" }
    : { status: "Progressing", label: "Under way" };
}
