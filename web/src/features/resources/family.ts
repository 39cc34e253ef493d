import type { App } from "@/lib/application";
import { childOf } from "./model";

interface Made {
  group?: string;
  kind?: string;
  namespace?: string;
  name?: string;
}

export const appOf = (n: { agent: string; namespace: string; name: string }): App => ({
  ...n,
  id: `${n.agent}/${n.namespace}/${n.name}`,
});

// madeBy are the Applications among the objects of one, by name: what an "app of apps" makes. An Application that is on the way down
// already is left out: two that make each other end there.
export function madeBy(
  app: App,
  detail: { destination?: string | undefined; resource?: unknown } | undefined,
  above: readonly string[] = [],
): App[] {
  const resources = (detail?.resource as { status?: { resources?: unknown } } | null | undefined)?.status?.resources;
  if (!Array.isArray(resources)) {
    return [];
  }
  return (resources as Made[])
    .flatMap(({ group, kind, namespace, name }) => {
      const node = { group: group ?? "", kind: kind ?? "", namespace: namespace ?? "", name: name ?? "" };
      const child = childOf(node, { agent: app.agent, destination: detail?.destination });
      return child ? [appOf(child)] : [];
    })
    .filter((child) => child.id !== app.id && !above.includes(child.id))
    .sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}
