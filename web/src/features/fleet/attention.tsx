import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { count, sentence } from "@/lib/format";
import { clock, known, useNow } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Card } from "@/ui/page";
import { Loaded, Loading } from "@/ui/states";
import { Badge, labelOf, StatusIcon, toneOf } from "@/ui/status";
import { attentionQuery } from "./data";

type Item = Schemas["AttentionItem"];

const page = "/applications/$agent/$namespace/$name";
const parts: Record<string, string> = { SourceError: "/why", SyncFailed: "/sync", OutOfSync: "/diff" };

// placeOf is the page on which a user acts on what needs attention.
export function placeOf(item: Pick<Item, "kind" | "agent" | "namespace" | "name" | "object">): LinkProps {
  if (item.object.type === "agent") {
    return { to: "/agents/$agent", params: { agent: item.agent } };
  }
  const { agent, namespace = "", name } = item;
  return { to: `${page}${parts[item.kind] ?? ""}`, params: { agent, namespace, name } } as LinkProps;
}

// listOf is the list of all that need attention for a reason.
export function listOf(kind: string): LinkProps {
  return kind === "AgentAway" || kind === "AgentDegraded"
    ? { to: "/agents" }
    : ({ to: "/applications", search: { attention: kind } } as LinkProps);
}

// Attention is what needs attention, the worst first. What was never deployed is apart.
export function Attention() {
  const query = useQuery(attentionQuery);
  return (
    <Card flush title="Needs attention">
      <Loaded query={query} loading={<Loading rows={3} />}>
        {({ total, counts, items, neverDeployed }) => {
          const fresh = counts?.find((c) => c.value === "NeverDeployed")?.count ?? 0;
          return (
            <>
              {total === 0 ? (
                <p className="flex items-center gap-2 px-4 py-3 text-muted">
                  <StatusIcon status="Healthy" /> Nothing needs attention.
                </p>
              ) : (
                <>
                  <Counts counts={(counts ?? []).filter((c) => c.value !== "NeverDeployed")} />
                  <ul className="divide-y" aria-label="Needs attention">
                    {(items ?? []).map((item) => (
                      <Row key={`${item.object.type} ${item.object.id}`} item={item} />
                    ))}
                  </ul>
                  {total > (items ?? []).length && (
                    <p className="border-t px-4 py-2 text-sm text-muted">
                      {count(total - (items ?? []).length)} more. Select a reason above to see all of them.
                    </p>
                  )}
                </>
              )}
              {fresh > 0 && <Fresh total={fresh} items={neverDeployed ?? []} />}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

// Counts are how many there are of each kind, as links to all of them.
function Counts({ counts }: { counts: Schemas["FleetCount"][] }) {
  return (
    <ul aria-label="By reason" className="flex flex-wrap gap-1.5 border-b px-4 py-2">
      {counts.map(({ value, count: n }) => (
        <li key={value}>
          <Link {...listOf(value)} preload={false} className="inline-flex min-h-6 items-center hover:underline">
            <Badge tone={toneOf(value)}>
              {labelOf(value)} {count(n)}
            </Badge>
          </Link>
        </li>
      ))}
    </ul>
  );
}

// Row says what, where, since when, and leads to where one acts.
function Row({ item }: { item: Item }) {
  const now = useNow();
  const old = Boolean(item.stale) && item.object.type === "application";
  return (
    <li className="grid grid-cols-[1rem_minmax(0,1fr)_auto] items-start gap-x-2 px-4 py-2 sm:grid-cols-[1rem_minmax(0,2fr)_minmax(0,3fr)_6.5rem]">
      <span className="pt-0.5">
        <StatusIcon status={item.kind} old={old} />
      </span>
      <p className="flex min-h-6 min-w-0 flex-wrap items-baseline gap-x-2">
        <Link {...placeOf(item)} title={item.object.id} className="max-w-full font-medium break-words hover:underline">
          {item.name}
        </Link>
        <span className="min-w-0 text-sm break-words text-muted">
          {item.object.type === "application" ? item.agent : "agent"}
        </span>
      </p>
      <div className="min-w-0 max-sm:order-last max-sm:col-span-2 max-sm:col-start-2">
        <p>
          {item.what}
          {old && known(item.asOf) && <span className="text-sm text-muted">, as of {clock(item.asOf, now)}</span>}
        </p>
        {item.message && (
          <p className="line-clamp-2 text-sm break-words text-muted" title={item.message}>
            {sentence(item.message)}
          </p>
        )}
      </div>
      <span className="pt-px text-right text-sm whitespace-nowrap text-muted">
        <Ago at={item.since} none="" />
      </span>
    </li>
  );
}

// Fresh is what was never deployed: nothing is wrong with it.
function Fresh({ total, items }: { total: number; items: Item[] }) {
  return (
    <details className="border-t px-4 py-2">
      <summary className="min-h-6 cursor-pointer text-sm text-muted">Never deployed: {count(total)}</summary>
      <ul className="mt-1 flex flex-wrap gap-x-4 gap-y-1 text-sm">
        {items.map((item) => (
          <li key={item.object.id} className="min-w-0">
            <Link
              {...placeOf(item)}
              title={item.object.id}
              className="inline-block min-h-6 max-w-full truncate hover:underline"
            >
              {item.name}
            </Link>
          </li>
        ))}
        {total > items.length && (
          <li>
            <Link {...listOf("NeverDeployed")} preload={false} className="text-accent hover:underline">
              All {count(total)}
            </Link>
          </li>
        )}
      </ul>
    </details>
  );
}
