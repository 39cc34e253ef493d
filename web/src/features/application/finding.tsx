import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { type App, lookKey, pathOf, useScope } from "@/lib/application";
import { useMissing } from "@/lib/session";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { ErrorNote } from "@/ui/states";
import { nodeOf } from "./actions";
import { partPath } from "./address";
import { placeOf } from "./resource";

type Found = Schemas["Finding"];

// Finding is what shows a fault in the cluster: what each object reports, and the end of a log on request.
export function Finding({ app, finding }: { app: App; finding: Found }) {
  const params = { agent: app.agent, namespace: app.namespace, name: app.name } as never;
  return (
    <div className="space-y-2">
      <ul aria-label="Evidence" className="divide-y rounded-md border bg-ground text-sm">
        {(finding.evidence ?? []).map((e, i) => (
          <li key={i} className="grid gap-x-3 gap-y-0.5 px-3 py-1.5 md:grid-cols-[minmax(0,18rem)_1fr]">
            <span className="min-w-0 text-muted">
              <Link
                to={partPath("")}
                params={params}
                search={{ resource: nodeOf(e.object) } as never}
                className="break-words text-accent hover:underline"
              >
                {placeOf(e.object)}
              </Link>
              {e.container && <> · {e.container}</>}
            </span>
            <span className="min-w-0">
              <span className="break-words">{e.text}</span>
              <Times evidence={e} />
            </span>
          </li>
        ))}
      </ul>
      {finding.log && <Log app={app} finding={finding} />}
    </div>
  );
}

// Times says of a piece of evidence how often and when it was reported.
function Times({ evidence }: { evidence: Schemas["Evidence"] }) {
  const { count, since, last } = evidence;
  const often = count !== undefined && count > 1;
  if (!known(since) && !known(last)) {
    return null;
  }
  return (
    <span className="block text-muted">
      {known(last) ? (
        <>
          {often && `${count} times, last `}
          <Ago at={last} />
          {often && known(since) && (
            <>
              , first <Ago at={since} />
            </>
          )}
        </>
      ) : (
        <Ago at={since} />
      )}
    </span>
  );
}

// Log asks for the end of a log on request: it may hold anything that the program wrote, and nothing keeps it.
function Log({ app, finding }: { app: App; finding: Found }) {
  const [wanted, want] = useState(false);
  const missing = useMissing("application_logs", useScope(app));
  const query = useQuery({
    queryKey: lookKey(app, "finding-log", finding.object, finding.container),
    enabled: wanted && missing === undefined,
    gcTime: 0,
    staleTime: 0,
    queryFn: () =>
      data(
        client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/why", {
          params: { path: pathOf(app), query: { logs: true } },
        }),
      ),
  });
  const same = query.data?.reasons?.find(
    (r) => r.finding?.object.name === finding.object.name && r.finding.container === finding.container,
  );
  const log = same?.finding?.log;
  if (missing !== undefined) {
    return <p className="text-sm text-muted">The container has a log, and you may not read it: {missing}</p>;
  }
  if (!wanted) {
    return (
      <Button small onClick={() => want(true)}>
        Show the last lines of the log
      </Button>
    );
  }
  if (query.error != null) {
    return <ErrorNote error={query.error} />;
  }
  if (!query.data) {
    return (
      <p role="status" className="text-sm text-muted">
        Reading the log…
      </p>
    );
  }
  if (!log?.lines?.length) {
    return <p className="text-sm text-muted">{log?.note || "The container no longer fails."}</p>;
  }
  return (
    <figure className="space-y-1">
      <figcaption className="text-sm text-muted">
        Last lines of container {finding.container}
        {log.previous ? ", previous instance" : ""}
      </figcaption>
      <pre
        tabIndex={0}
        aria-label={`Log of container ${finding.container ?? ""}`}
        className="max-h-72 overflow-auto rounded-md border bg-ground p-3 font-mono text-xs whitespace-pre-wrap break-words"
      >
        {log.lines.join("\n")}
      </pre>
    </figure>
  );
}
