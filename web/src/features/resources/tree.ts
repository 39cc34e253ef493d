import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { ApiError, client, data } from "@/api/client";
import { type App, pathOf } from "@/lib/application";
import { events } from "@/lib/events";
import { rereading } from "@/lib/reread";
import { flatten } from "./model";
import { type Tree, TreeStream } from "./tree-stream";

export interface TreeQuery {
  data: Tree | undefined;
  error: unknown;
  refetch: () => unknown;
  // live is true while changes arrive by themselves.
  live: boolean;
}

const quiet = 1_000;

// useTree is the tree of an application, live. Where its agent or server cannot show it live, it is read anew with each change
// of the application.
export function useTree(app: App): TreeQuery {
  const stream = useMemo(() => new TreeStream(app), [app]);
  const now = useSyncExternalStore(stream.subscribe, stream.get);
  const queries = useQueryClient();
  const needed = !now.live && now.error !== undefined;
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
    data: better ?? asked.data,
    error: gone ?? asked.error,
    refetch: asked.refetch,
    live: now.live || now.error === undefined,
  };
}
