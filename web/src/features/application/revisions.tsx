import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { client, data, type Schemas } from "@/api/client";
import { type App, liveKey, pathOf } from "@/lib/application";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Copy } from "@/ui/copy";
import type { Note } from "./resource";
import { CommitName, Revision } from "./revision";

type Status = Schemas["RevisionStatus"];

const again = 60_000; // ms until the page asks again where the branches are, which no event reports

// revisionsQuery is where the branches are, and what was compared, deployed and pinned.
const revisionsQuery = (app: App) =>
  queryOptions({
    queryKey: liveKey(app, "revision-status"),
    refetchInterval: again,
    queryFn: () =>
      data(
        client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/revision-status", {
          params: { path: pathOf(app) },
        }),
      ),
  });

// SourceRevisions are the revisions of one source, each as what it is. Until the server has answered there is what was compared.
export function SourceRevisions({
  app,
  index,
  target,
  compared,
  note,
}: {
  app: App;
  index: number;
  target: string;
  compared: string;
  note?: Note | undefined;
}) {
  const { data: status } = useQuery(revisionsQuery(app));
  const source = status?.sources?.[index];
  const tip = source?.tip ?? "";
  const settled = tip !== "" && tip === compared && !source?.pinned;
  return (
    <dl className="mt-0.5 grid grid-cols-[auto_1fr] items-baseline gap-x-2 gap-y-0.5 text-sm">
      {settled ? (
        <Line name={target}>
          <span className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
            <Revision app={app} revision={tip} note={note} />
            <Looked source={source} />
          </span>
        </Line>
      ) : (
        <>
          {(tip || source?.tipError) && source && tip !== source.targetRevision && (
            <Line name={`Tip of ${target}`}>
              {tip && <Short app={app} revision={tip} />} <Looked source={source} />
            </Line>
          )}
          <Line name="Compared">
            <Revision app={app} revision={compared} note={note} />
            {status && <Compared status={status} behind={tip !== "" && tip !== compared && !source?.pinned} />}
          </Line>
          {source?.pinned && (
            <Line name="Pinned">
              <Short app={app} revision={source.pinned} />{" "}
              <span className="text-muted">by the rollback to deployment {status?.pinned ?? 0}</span>
            </Line>
          )}
        </>
      )}
    </dl>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="max-w-32 truncate text-muted" title={name}>
        {name}
      </dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}

function Short({ app, revision }: { app: App; revision: string }) {
  return (
    <span className="inline-flex items-center">
      <CommitName app={app} revision={revision} />
      <Copy text={revision} label="Copy the revision" />
    </span>
  );
}

// Looked is when the agent looked at the branch, or why it could not.
function Looked({ source }: { source: Schemas["SourceRevisions"] | undefined }) {
  if (source?.tipError) {
    return <span className="break-words text-bad">not read since: {source.tipError}</span>;
  }
  return known(source?.tipSeenAt) ? (
    <span className="text-muted">
      seen <Ago at={source?.tipSeenAt} />
    </span>
  ) : null;
}

function Compared({ status, behind }: { status: Status; behind: boolean }) {
  return (
    <span className="block text-muted">
      {known(status.comparedAt) && (
        <>
          compared <Ago at={status.comparedAt} />
        </>
      )}
      {behind && status.same && "; the newer commits do not change the rendered manifests"}
    </span>
  );
}
