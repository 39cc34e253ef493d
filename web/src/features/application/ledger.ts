import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { client, data } from "@/api/client";
import { type App, liveKey } from "@/lib/application";

const page = 100;

// useLedger is what the ledger knows of the application, the newest first; more comes with each page.
export function useLedger(app: App) {
  return useInfiniteQuery({
    queryKey: liveKey(app, "ledger"),
    initialPageParam: "",
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam }) =>
      data(
        client.GET("/api/v1/ledger", {
          params: {
            query: {
              agent: app.agent,
              namespace: app.namespace,
              name: app.name,
              limit: page,
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (last) => last.nextCursor || undefined,
  });
}
