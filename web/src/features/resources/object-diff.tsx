import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import type { App } from "@/lib/application";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { CodeDiff } from "@/ui/code";
import { Copy } from "@/ui/copy";
import { Checkbox } from "@/ui/field";
import { Empty, ErrorNote, Loaded } from "@/ui/states";
import { Badge } from "@/ui/status";
import { idOf, type Node } from "./model";
import { differencesQuery } from "./object-query";
import { sides } from "./unified";

const kept = "slipway.diff";
const words = {
  create: "A sync creates it",
  update: "A sync changes it",
  delete: "A sync with prune deletes it",
  keep: "A sync leaves it",
};

const valueOf = (value: unknown): string =>
  value === null || value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);

// ObjectDiff is what differs between an object in the cluster and what is wanted, and who has set it.
export function ObjectDiff({ app, node }: { app: App; node: Node }) {
  const [ignored, setIgnored] = useState(false);
  const query = useQuery(differencesQuery(app, ignored));
  return (
    <div className="space-y-3">
      <Checkbox label="Show ignored fields" checked={ignored} onChange={(event) => setIgnored(event.target.checked)} />
      <Loaded query={query}>
        {({ items, warnings }) => {
          const mine = items?.find((item) => idOf(item) === node.id);
          return (
            <>
              {warnings?.map((w) => (
                <p key={w} className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
                  {w}
                </p>
              ))}
              {mine ? <Difference diff={mine} /> : <Empty title="No difference">The object matches its source.</Empty>}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

function Difference({ diff }: { diff: Schemas["ObjectDiff"] }) {
  const [unified, setUnified] = useState(() => localStorage.getItem(kept) === "unified");
  const choose = (to: boolean) => {
    localStorage.setItem(kept, to ? "unified" : "split");
    setUnified(to);
  };
  const { before, after } = sides(diff.diff);
  if (diff.error) {
    return (
      <ErrorNote
        error={new Error(`the API server refuses the desired object: ${diff.error}. Change it at its source.`)}
      />
    );
  }
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="flex flex-wrap items-center gap-2">
          <Badge tone={diff.verb === "delete" ? "bad" : diff.verb === "keep" ? "idle" : "warn"}>
            {words[diff.verb]}
          </Badge>
          {diff.allowed && (
            <span className="text-sm text-muted">
              Drift allowed until <Ago at={diff.allowed.until} ahead />
              {diff.allowed.reason && `: ${diff.allowed.reason}`}
            </span>
          )}
        </span>
        <span className="flex items-center gap-1" role="group" aria-label="How the difference is shown">
          <Button small look={unified ? "ghost" : "plain"} aria-pressed={!unified} onClick={() => choose(false)}>
            Side by side
          </Button>
          <Button small look={unified ? "plain" : "ghost"} aria-pressed={unified} onClick={() => choose(true)}>
            Unified
          </Button>
          <Copy text={diff.diff} label="Copy the difference" />
        </span>
      </div>
      <CodeDiff before={before} after={after} unified={unified} label="Live and desired" />
      {diff.fields && diff.fields.length > 0 && <Fields fields={diff.fields} />}
    </>
  );
}

function Fields({ fields }: { fields: Schemas["FieldDiff"][] }) {
  return (
    <section>
      <h3 className="mb-1.5 font-semibold">Fields that differ</h3>
      <ul className="divide-y rounded-md border">
        {fields.map((f) => (
          <li key={f.path} className="space-y-1 px-3 py-2">
            <p className="flex flex-wrap items-center gap-2">
              <code className="text-sm font-medium break-all">{f.path}</code>
              {f.ignored && <Badge>ignored</Badge>}
            </p>
            <dl className="grid grid-cols-[auto_1fr] gap-x-3 text-sm">
              <dt className="text-muted">Live</dt>
              <dd className="min-w-0 font-mono break-all text-bad">{valueOf(f.live)}</dd>
              <dt className="text-muted">Wanted</dt>
              <dd className="min-w-0 font-mono break-all text-ok">{valueOf(f.wanted)}</dd>
              {f.manager && (
                <>
                  <dt className="text-muted">Set by</dt>
                  <dd className="min-w-0">
                    <b className="font-medium">{f.manager}</b>
                    {f.subresource && ` through ${f.subresource}`}
                    {f.since && (
                      <>
                        , <Ago at={f.since} />
                      </>
                    )}
                    {f.others?.length ? `; also ${f.others.map((o) => o.manager).join(", ")}` : ""}
                  </dd>
                </>
              )}
            </dl>
          </li>
        ))}
      </ul>
    </section>
  );
}
