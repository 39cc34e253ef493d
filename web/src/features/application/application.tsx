import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useMatches } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { ApiError } from "@/api/client";
import { type App, detailQuery, useApp } from "@/lib/application";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Button } from "@/ui/button";
import { type Tab, Tabs, useTitle } from "@/ui/page";
import { Empty, Failed, Loading, Skeleton } from "@/ui/states";
import { type Part, partPath } from "./address";
import { Banners, Progress } from "./banners";
import { Dialogs } from "./dialogs";
import { Ends } from "./ends";
import { Header } from "./header";
import { resourceOf } from "./resource";
import { useFollow } from "./use";

// The panel for a sync is large, and is loaded when a user opens it.
const SyncPanel = lazy(() => import("./sync-panel"));

const parts: [Part, string][] = [
  ["", "Resources"],
  ["diff", "Diff"],
  ["sync", "Sync"],
  ["history", "History"],
  ["why", "Why"],
  ["parameters", "Parameters"],
  ["events", "Events"],
  ["logs", "Logs"],
  ["settings", "Settings"],
];

// ApplicationPage is one application: what is always there of it, and its parts below.
export default function ApplicationPage() {
  const app = useApp();
  useTitle(app.name);
  useFollow(app);
  const query = useQuery(detailQuery(app));
  const resource = useMemo(() => resourceOf(query.data ?? {}), [query.data]);
  // The objects need nothing of what is read here: they are read beside it.
  const alone = useMatches({ select: (matches) => matches.at(-1)?.staticData.alone === true });
  const { data } = query;
  return (
    <div className="mx-auto w-full max-w-[1600px] min-w-0 space-y-3 p-3 sm:p-5">
      {data ? (
        <>
          <Header app={app} detail={data} resource={resource} />
          <Banners app={app} detail={data} resource={resource} />
          <Progress app={app} detail={data} resource={resource} />
          <Ends app={app} detail={data} resource={resource} />
          <Parts app={app} />
        </>
      ) : (
        <Without app={app} error={query.error} alone={alone} retry={() => void query.refetch()} />
      )}
      {(data || (alone && query.error == null)) && (
        <div key="part" className="min-w-0 pt-2">
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </div>
      )}
      {data && (
        <>
          <Dialogs app={app} />
          <Panel />
        </>
      )}
    </div>
  );
}

function Panel() {
  const [search] = useAddress();
  return one(search, "panel") === "sync" ? (
    <Suspense>
      <SyncPanel />
    </Suspense>
  ) : null;
}

function Parts({ app }: { app: App }) {
  const params = { agent: app.agent, namespace: app.namespace, name: app.name };
  return (
    <Tabs
      label="Parts of the application"
      tabs={parts.map(([part, label]) => ({ label, to: partPath(part), params, exact: part === "" }) as unknown as Tab)}
    />
  );
}

// Without is the page as long as the application is not there: its name, and how it stands.
function Without({ app, error, alone, retry }: { app: App; error: unknown; alone: boolean; retry: () => void }) {
  const title = <h1 className="text-xl font-semibold break-words">{app.name}</h1>;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <>
        {title}
        <Empty
          title="Application not found"
          action={
            <Button asChild>
              <Link to="/applications">All applications</Link>
            </Button>
          }
        >
          The agent {app.agent} has no application of this name in the namespace {app.namespace}, or you may not see it.
          It may have been deleted.
        </Empty>
      </>
    );
  }
  if (error != null) {
    return (
      <>
        {title}
        <Failed error={error} retry={retry} />
      </>
    );
  }
  return (
    <div role="status" aria-label="Loading" className="space-y-3">
      <Skeleton className="h-4 w-64" />
      {title}
      <Skeleton className="h-16 w-full rounded-lg" />
      <Skeleton className="h-32 w-full rounded-lg" />
      <Skeleton className="h-9 w-full" />
      {!alone && <Loading />}
    </div>
  );
}
