import { useMemo } from "react";
import { cn } from "@/lib/cn";
import { count, plural } from "@/lib/format";
import { Empty } from "@/ui/states";
import { Badge, labelOf, toneOf, toneSoft } from "@/ui/status";
import { counts } from "./filter";
import { fact, type Node } from "./model";

// Host is a node of the cluster with the pods that run on it.
export interface Host {
  name: string;
  pods: Node[];
  restarts: number;
  health: [string, number][];
}

// hosts puts pods together by the nodes that they run on; those that run nowhere yet come first.
export function hosts(nodes: readonly Node[]): Host[] {
  const by = new Map<string, Node[]>();
  for (const node of nodes) {
    if (node.kind === "Pod" && !node.group) {
      const name = node.pod?.node ?? "";
      const pods = by.get(name);
      if (pods) {
        pods.push(node);
      } else {
        by.set(name, [node]);
      }
    }
  }
  return [...by]
    .map(([name, pods]) => ({
      name,
      pods: pods.sort((a, b) => a.name.localeCompare(b.name)),
      restarts: pods.reduce((sum, p) => sum + (p.pod?.restarts ?? 0), 0),
      health: counts(pods, (p) => p.health),
    }))
    .sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

// Pods shows which pods run on which node of the cluster, and how.
export function Pods({ nodes, chosen, onOpen }: { nodes: Node[]; chosen: string; onOpen: (id: string) => void }) {
  const all = useMemo(() => hosts(nodes), [nodes]);
  if (all.length === 0) {
    return <Empty title="No pods">Nothing of this application runs in pods, or the filter leaves them out.</Empty>;
  }
  return (
    <ul className="grid gap-3 [grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))]">
      {all.map((host) => (
        <li
          key={host.name}
          className="min-w-0 rounded-lg border bg-surface p-3 [contain-intrinsic-size:auto_10rem] [content-visibility:auto]"
        >
          <h2 className="truncate font-semibold">{host.name || "On no node yet"}</h2>
          <p className="mb-2 flex flex-wrap gap-1.5 text-sm text-muted">
            {plural(host.pods.length, "pod")}
            {host.health.map(([health, n]) => (
              <Badge key={health} tone={toneOf(health)}>
                {count(n)} {labelOf(health)}
              </Badge>
            ))}
            {host.restarts > 0 && <Badge tone="warn">{plural(host.restarts, "restart")}</Badge>}
          </p>
          <ul className="flex flex-wrap gap-1">
            {host.pods.map((pod) => (
              <li key={pod.id}>
                <button
                  type="button"
                  title={`${pod.name}\n${fact(pod)}`}
                  aria-label={`${pod.name}, ${labelOf(pod.health ?? "Unknown")}, ${fact(pod)}`}
                  onClick={() => onOpen(pod.id)}
                  className={cn(
                    "flex size-7 items-center justify-center rounded text-xs font-medium",
                    toneSoft[toneOf(pod.health ?? "")],
                    pod.id === chosen && "outline-2 outline-accent",
                  )}
                >
                  {pod.pod?.restarts ? Math.min(99, pod.pod.restarts) : (pod.health ?? "?").slice(0, 1)}
                </button>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}
