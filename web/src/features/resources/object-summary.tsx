import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { plural } from "@/lib/format";
import { Ago } from "@/ui/ago";
import { Copy } from "@/ui/copy";
import { Facts } from "@/ui/page";
import { ErrorNote, Skeleton } from "@/ui/states";
import { Badge, Status, StatusIcon } from "@/ui/status";
import { containersOf, objectOf, portsOf } from "./manifest";
import { type Forest, fact, type Node } from "./model";

type State = Pick<UseQueryResult<Schemas["ResourceState"]>, "data" | "error" | "isPending">;

function Pairs({ pairs }: { pairs: Record<string, string> }) {
  return (
    <ul className="flex flex-wrap gap-1">
      {Object.entries(pairs).map(([name, value]) => (
        <li key={name} className="max-w-full rounded bg-idle-soft px-1.5 py-0.5 font-mono text-xs break-all">
          {name}={value.length > 200 ? `${value.slice(0, 200)}…` : value}
        </li>
      ))}
    </ul>
  );
}

function LinkTo({ node, onOpen }: { node: Node; onOpen: (id: string) => void }) {
  return (
    <button type="button" onClick={() => onOpen(node.id)} className="text-left break-all text-accent hover:underline">
      {node.kind} {node.name}
    </button>
  );
}

// ObjectSummary says how an object stands, in what people ask for first.
export function ObjectSummary({
  node,
  tree,
  state,
  onOpen,
}: {
  node: Node;
  tree: Forest;
  state: State;
  onOpen: (id: string) => void;
}) {
  const live = objectOf(state.data?.live);
  const owner = node.parent ? tree.nodes.get(node.parent) : undefined;
  const owned = tree.children.get(node.id) ?? [];
  const images = node.images ?? [];
  const facts: [ReactNode, ReactNode][] = [];
  const add = (name: string, value: ReactNode) => value && facts.push([name, value]);
  add("Health", node.health && <Status status={node.health} />);
  add("Why", node.message && <span className="whitespace-pre-wrap">{node.message}</span>);
  add(
    "Sync",
    node.sync && (
      <span className="flex flex-wrap items-center gap-2">
        <Status status={node.sync} />
        {node.requiresPruning && <Badge tone="warn">No longer desired: a sync with prune deletes it</Badge>}
        {node.hook?.length ? <Badge>{node.hook.join(", ")} hook</Badge> : null}
        {node.wave ? <Badge>Wave {node.wave}</Badge> : null}
      </span>
    ),
  );
  add("State", fact(node));
  add("Kind", `${node.kind} (${node.group ? `${node.group}/` : ""}${node.version ?? ""})`);
  add("Namespace", node.namespace);
  add("Created", node.createdAt && <Ago at={node.createdAt} />);
  add("Being deleted", live?.metadata?.deletionTimestamp && <Ago at={live.metadata.deletionTimestamp} ahead />);
  add("Owner", owner && <LinkTo node={owner} onOpen={onOpen} />);
  add("Node", node.pod?.node);
  add("IP address", node.pod?.ip);
  add("Addresses", node.addresses?.join(", "));
  add("Ports", portsOf(live).join(", "));
  add(
    "Images",
    images.length > 0 && (
      <ul>
        {images.map((image) => (
          <li key={image} className="flex items-center gap-1">
            <code className="text-sm break-all">{image}</code>
            <Copy text={image} label="Copy the image" />
          </li>
        ))}
      </ul>
    ),
  );
  add("UID", node.uid && <code className="text-sm">{node.uid}</code>);
  add("Finalizers", live?.metadata?.finalizers?.join(", "));
  const labels = live?.metadata?.labels;
  const annotations = live?.metadata?.annotations;
  return (
    <div className="space-y-5">
      <Facts facts={facts} />
      {state.error != null && <ErrorNote error={state.error} />}
      {state.isPending && <Skeleton className="h-16" />}
      <Containers live={state.data?.live} />
      {labels && Object.keys(labels).length > 0 && (
        <Section title="Labels">
          <Pairs pairs={labels} />
        </Section>
      )}
      {annotations && Object.keys(annotations).length > 0 && (
        <Section title="Annotations">
          <Pairs pairs={annotations} />
        </Section>
      )}
      {owned.length > 0 && (
        <Section title="Owns">
          <ul className="space-y-1">
            {owned.slice(0, 50).map((child) => (
              <li key={child.id} className="flex items-center gap-2">
                {child.health && <StatusIcon status={child.health} />}
                <LinkTo node={child} onOpen={onOpen} />
                <span className="text-sm text-muted">{fact(child)}</span>
              </li>
            ))}
            {owned.length > 50 && <li className="text-muted">and {owned.length - 50} more</li>}
          </ul>
        </Section>
      )}
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="min-w-0">
      <h3 className="mb-1.5 font-semibold">{title}</h3>
      {children}
    </section>
  );
}

function Containers({ live }: { live: unknown }) {
  const containers = containersOf(objectOf(live));
  if (containers.length === 0) {
    return null;
  }
  return (
    <Section title="Containers">
      <ul className="divide-y rounded-md border">
        {containers.map((c) => (
          <li key={c.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
            <span className="font-medium">{c.name}</span>
            {c.init && <Badge>runs once</Badge>}
            {c.state && <Badge tone={c.ready || c.state === "Completed" ? "ok" : "warn"}>{c.state}</Badge>}
            {c.restarts ? <Badge tone="warn">{plural(c.restarts, "restart")}</Badge> : null}
            <code className="min-w-0 text-sm break-all text-muted">{c.image}</code>
            {c.ports.length > 0 && <span className="text-sm text-muted">{c.ports.join(", ")}</span>}
          </li>
        ))}
      </ul>
    </Section>
  );
}
