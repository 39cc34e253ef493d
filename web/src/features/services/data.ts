import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { client, data, type Schemas } from "@/api/client";
import { patchOn, queryClient } from "@/lib/query";
import { rereadingType } from "@/lib/reread";

export type Cell = Schemas["ServiceCell"];
export type Row = Schemas["ServiceRow"];
export type Environment = Schemas["Environment"];
export type Service = Schemas["Service"];

type Signal = { signal: AbortSignal };

export const environmentsQuery = {
  queryKey: ["environment", "list"] as const,
  queryFn: async ({ signal }: Signal): Promise<Environment[]> => {
    const out: Environment[] = [];
    for (let cursor = ""; ;) {
      const page = await data(
        client.GET("/api/v1/environments", {
          params: { query: { limit: 1000, ...(cursor ? { cursor } : {}) } },
          signal,
        }),
      );
      out.push(...(page.items ?? []));
      if (!page.nextCursor) {
        return out;
      }
      cursor = page.nextCursor;
    }
  },
};

export interface MatrixFilter {
  search?: string;
  type?: "Production" | "PreProduction";
  region?: string;
  service?: string;
  drift?: true;
}

// What runs where changes with applications, so that is what its queries are named by.
export const matrixQuery = (filter: MatrixFilter) => ({
  queryKey: ["application", "services", filter] as const,
  initialPageParam: "",
  queryFn: ({ pageParam, signal }: { pageParam: string } & Signal) =>
    data(
      client.GET("/api/v1/fleet/services", {
        params: { query: { ...filter, limit: 200, ...(pageParam ? { cursor: pageParam } : {}) } },
        signal,
      }),
    ),
  getNextPageParam: (last: Schemas["PageServiceRow"]) => last.nextCursor || undefined,
});

// reread has everything read again that is about services and environments.
export async function reread(): Promise<void> {
  await Promise.all(
    ["service", "environment", "application"].map((type) => queryClient.invalidateQueries({ queryKey: [type] })),
  );
}

// useAlso has what runs where read again when services and environments themselves change, and for changes of applications
// once a second at most.
export function useAlso(): void {
  const cache = useQueryClient();
  useEffect(() => {
    const reread = rereadingType(cache, "application", 800);
    const stops = [
      patchOn("application", () => {
        reread.soon();
        return true;
      }),
      ...["service", "environment"].map((type) =>
        patchOn(type, () => {
          reread.soon();
          return false;
        }),
      ),
    ];
    return () => {
      reread.stop();
      for (const stop of stops) {
        stop();
      }
    };
  }, [cache]);
}
