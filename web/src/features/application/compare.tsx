import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { stringify } from "yaml";
import { client, data, type Schemas } from "@/api/client";
import { type App, lookKey } from "@/lib/application";
import { plural, sentence } from "@/lib/format";
import { exact } from "@/lib/time";
import { CodeDiff } from "@/ui/code";
import { Drawer } from "@/ui/dialog";
import { Empty, Loaded } from "@/ui/states";
import { Badge, type Tone } from "@/ui/status";
import { keyOf, placeOf, revisionsText } from "./resource";
import { momentOf, type Past } from "./past";

type Difference = Schemas["LedgerDifference"];

// differenceQuery is what differs for the application between two times.
export const differenceQuery = (app: App, from: string, to: string, manifests: boolean) => ({
  queryKey: lookKey(app, "between", from, to, manifests),
  queryFn: () =>
    data(
      client.GET("/api/v1/ledger/diff", {
        params: { query: { agent: app.agent, namespace: app.namespace, name: app.name, from, to, manifests } },
      }),
    ),
});

const tones: Record<string, Tone> = { added: "ok", removed: "bad", changed: "busy" };

// Compare is what differs between two moments of the application's history.
export function Compare({ app, from, to, onClose }: { app: App; from: Past; to: Past; onClose: () => void }) {
  const query = useQuery(differenceQuery(app, momentOf(from), momentOf(to), true));
  const name = (p: Past) => (p.deployment === undefined ? p.action : `deployment ${p.deployment}`);
  return (
    <Drawer
      open
      onClose={onClose}
      title={`What changed from ${name(from)} to ${name(to)}`}
      description={`${revisionsText(from.revisions)} of ${exact(from.at)}, and ${revisionsText(to.revisions)} of ${exact(to.at)}. Values of secrets are hashes.`}
      className="max-w-5xl"
    >
      <div className="p-4">
        <Loaded query={query}>
          {(found) =>
            found.warnings?.length ? (
              <Empty title="This cannot be compared">{sentence(found.warnings.join("; "))}</Empty>
            ) : (found.differences?.length ?? 0) === 0 ? (
              <Empty title="Nothing differs">
                The rendered manifests were the same at both times, or the ledger does not reach back that far.
              </Empty>
            ) : (
              <div className="space-y-2">
                <p className="text-muted">
                  {plural(found.differences?.length ?? 0, "object differs", "objects differ")}
                </p>
                <ul className="space-y-2">
                  {found.differences?.map((d, i) => (
                    <Item key={keyOf(d)} difference={d} first={i === 0} />
                  ))}
                </ul>
                {found.truncated && (
                  <p className="text-muted">Not all differences fit here. The ledger's export has all of them.</p>
                )}
              </div>
            )
          }
        </Loaded>
      </div>
    </Drawer>
  );
}

const yaml = (manifest: unknown): string => (manifest ? stringify(manifest) : "");

function Item({ difference: d, first }: { difference: Difference; first: boolean }) {
  const [open, setOpen] = useState(first);
  const stored = Boolean(d.manifestBefore ?? d.manifestAfter);
  return (
    <li className="rounded-md border">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 px-3 py-2 text-left hover:bg-idle-soft"
      >
        <Badge tone={tones[d.change] ?? "idle"}>{d.change}</Badge>
        <span className="min-w-0 break-all">{placeOf(d)}</span>
      </button>
      {open && (
        <div className="border-t p-2">
          {stored ? (
            <CodeDiff
              unified
              label={`Difference of ${placeOf(d)}`}
              before={yaml(d.manifestBefore)}
              after={yaml(d.manifestAfter)}
            />
          ) : (
            <p className="text-muted">Its manifests were not stored, so its difference cannot be shown.</p>
          )}
        </div>
      )}
    </li>
  );
}
