import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { ApiError, client, data } from "@/api/client";
import { type App, detailQuery, pathOf } from "@/lib/application";
import { events } from "@/lib/events";
import { rereading } from "@/lib/reread";
import { flatten, reportedTree } from "./model";
import { type Tree, TreeStream } from "./tree-stream";

export interface TreeQuery {
  data: Tree | undefined;
  error: unknown;
  refetch: () => unknown;
  // live is true while changes arrive automatically.
  live: boolean;
  // old is true while the agent is away: the tree is of its last report.
  old: boolean;
}

const quiet = 1_000;

// useTree is the tree of an application, live. Where its agent or server cannot show it live, it is read again with each change
// of the application. While the agent is away, the last tree stays; where there is none, it is the objects of the last report.
export function useTree(app: App): TreeQuery {
  const stream = useMemo(() => new TreeStream(app), [app]);
  const detail = useQuery(detailQuery(app)).data;
  const away = Boolean(detail?.agentAway);
  useEffect(() => stream.hold(away), [stream, away]);
  const reported = useMemo(() => (away ? reportedTree(detail?.resource) : undefined), [away, detail]);
  const now = useSyncExternalStore(stream.subscribe, stream.get);
  const queries = useQueryClient();
  const needed = !away && !now.live && now.error !== undefined;
  const asked = useQuery({
    queryKey: ["tree", app.id],
    enabled: needed,
    staleTime: quiet,
    queryFn: async (): Promise<Tree> => {
      const answer = await data(
        client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/tree", {
          params: { path: pathOf(app) },
        }),
      );
      return { nodes: flatten(answer.items ?? []), warnings: answer.warnings ?? [] };
    },
  });
  useEffect(() => {
    if (!needed) {
      return undefined;
    }
    const reread = rereading(queries, { queryKey: ["tree", app.id] }, quiet);
    const end = events.listen((event) => {
      if (event.object.type === "application" && event.object.id === app.id) {
        reread.soon();
      }
    });
    return () => {
      reread.stop();
      end();
    };
  }, [needed, app, queries]);
  const better = now.live || !asked.data ? now.tree : asked.data;
  const gone = now.error instanceof ApiError && now.error.status === 403 ? now.error : undefined;
  return {
    data: better ?? asked.data ?? reported,
    error: gone ?? asked.error,
    refetch: asked.refetch,
    live: !away && (now.live || now.error === undefined),
    old: away,
  };
}
