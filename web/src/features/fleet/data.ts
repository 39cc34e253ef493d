import { keepPreviousData, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { client, data } from "@/api/client";
import { patchOn } from "@/lib/query";
import { rereadingType } from "@/lib/reread";

export const dimensions = {
  agent: "Agent",
  cluster: "Cluster",
  environment: "Environment",
  region: "Region",
  service: "Service",
  argoProject: "Project",
} as const;
export type By = keyof typeof dimensions;

type Signal = { signal: AbortSignal };

export const summaryQuery = {
  queryKey: ["application", "summary", {}] as const,
  queryFn: ({ signal }: Signal) => data(client.GET("/api/v1/fleet/summary", { params: { query: {} }, signal })),
};

export const matrixQuery = (by: By) => ({
  queryKey: ["application", "matrix", by] as const,
  placeholderData: keepPreviousData,
  queryFn: ({ signal }: Signal) => data(client.GET("/api/v1/fleet/matrix", { params: { query: { by } }, signal })),
});

// Few rows of what needs attention fit on the page; counts lead to all of them.
export const attentionQuery = {
  queryKey: ["application", "attention"] as const,
  queryFn: ({ signal }: Signal) =>
    data(client.GET("/api/v1/fleet/attention", { params: { query: { limit: 12 } }, signal })),
};

export const recentQuery = {
  queryKey: ["application", "recent"] as const,
  queryFn: ({ signal }: Signal) =>
    data(
      client.GET("/api/v1/ledger", {
        params: { query: { from: new Date(Date.now() - 3_600_000).toISOString(), limit: 8 } },
        signal,
      }),
    ),
};

export const doraQuery = {
  queryKey: ["dora", "month"] as const,
  staleTime: 60_000,
  refetchInterval: 60_000,
  queryFn: ({ signal }: Signal) => data(client.GET("/api/v1/fleet/dora", { params: { query: {} }, signal })),
};

export const levelsQuery = {
  queryKey: ["dora", "levels"] as const,
  staleTime: 60_000,
  refetchInterval: 60_000,
  queryFn: ({ signal }: Signal) => data(client.GET("/api/v1/fleet/service-levels", { params: { query: {} }, signal })),
};

// useCalm reads lists of applications again once a second at most, however much happens, and counts less often.
export function useCalm(): void {
  const cache = useQueryClient();
  useEffect(() => {
    const reread = rereadingType(cache, "application", 100, 1_000);
    const stop = patchOn("application", () => {
      reread.soon();
      return true;
    });
    // Agents need attention, too.
    const end = patchOn("agent", () => {
      reread.soon();
      return false;
    });
    return () => {
      stop();
      end();
      reread.stop();
    };
  }, [cache]);
}
