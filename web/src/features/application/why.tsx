import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Schemas } from "@/api/client";
import { type App, useApp } from "@/lib/application";
import { sentence } from "@/lib/format";
import { known } from "@/lib/time";
import { Lasting } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Snippet } from "@/ui/copy";
import { Loaded } from "@/ui/states";
import { labelOf, nodeOf, useActions } from "./actions";
import { partPath } from "./address";
import { Warnings } from "./dialog-parts";
import { Finding } from "./finding";
import { keyOf, placeOf } from "./resource";
import { whyQuery } from "./use";
import { commandsOf, split, stateText } from "./why-text";

// ApplicationWhy is why the application is as it is: every reason, and what would change it.
export default function ApplicationWhy() {
  const app = useApp();
  const query = useQuery(whyQuery(app));
  return (
    <Loaded query={query}>
      {(why) => (
        <div className="space-y-3">
          <p>
            <span className="font-medium">{stateText(why.state)}</span>
            {known(why.since) && (
              <span className="text-muted">
                {" "}
                for <Lasting since={why.since} />
              </span>
            )}
          </p>
          <ol className="space-y-3">
            {(why.reasons ?? []).map((reason, i) => (
              <li key={i} className="rounded-lg border bg-surface p-4">
                <Reason app={app} reason={reason} first={i === 0} />
              </li>
            ))}
          </ol>
          <Warnings list={why.warnings} />
        </div>
      )}
    </Loaded>
  );
}

function Reason({ app, reason, first }: { app: App; reason: Schemas["WhyReason"]; first: boolean }) {
  const actions = useActions(app);
  const commands = commandsOf(reason.next);
  const params = { agent: app.agent, namespace: app.namespace, name: app.name } as never;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2 className="min-w-0 font-semibold break-words">{sentence(reason.what)}</h2>
        <span className="text-sm text-muted">
          {known(reason.since) && (
            <>
              for <Lasting since={reason.since} />{" "}
            </>
          )}
          <code>{reason.finding?.code ?? reason.code}</code>
        </span>
      </div>
      {reason.why && (
        <p className="max-h-48 overflow-auto whitespace-pre-wrap break-words text-muted" tabIndex={0}>
          {sentence(reason.why)}
        </p>
      )}
      {reason.finding && <Finding app={app} finding={reason.finding} />}
      {(reason.objects?.length ?? 0) > 0 && (
        <ul aria-label="Affected objects" className="flex flex-wrap gap-1.5">
          {reason.objects?.map((o) => (
            <li key={keyOf(o)} className="max-w-full">
              <Link
                to={partPath("")}
                params={params}
                search={{ resource: nodeOf(o) } as never}
                className="inline-block max-w-full truncate rounded bg-idle-soft px-1.5 py-0.5 text-sm hover:underline"
              >
                {placeOf(o)}
              </Link>
            </li>
          ))}
        </ul>
      )}
      <p className="break-words">
        <span className="text-muted">Next: </span>
        {split(reason.next).map((p, i) =>
          p.code ? (
            <code key={i} className="rounded bg-idle-soft px-1 text-sm">
              {p.text}
            </code>
          ) : (
            <Fragment key={i}>{p.text}</Fragment>
          ),
        )}
      </p>
      {(reason.actions?.length ?? 0) > 0 && (
        <div className="flex flex-wrap gap-2">
          {reason.actions?.map((action, i) => (
            <Button
              key={i}
              small
              look={first && i === 0 ? "primary" : "plain"}
              why={actions.why(action)}
              onClick={() => actions.run(action)}
            >
              {labelOf(action)}
            </Button>
          ))}
        </div>
      )}
      {commands.length > 0 && <Snippet text={commands.join("\n")} label="Commands" />}
    </div>
  );
}
