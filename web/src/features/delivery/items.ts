import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { client, data, type Schemas, send } from "@/api/client";
import type { Kind, SettingItem } from "./setting";

type Page = Schemas["PageItem"];

// settingsQuery is what agents tell of one kind, page by page.
export function settingsQuery(kind: Pick<Kind, "event" | "noun">, filter: { search?: string; agent?: string }) {
  return infiniteQueryOptions({
    queryKey: [kind.event, kind.noun, filter],
    initialPageParam: "",
    queryFn: ({ pageParam }) => {
      const params = new URLSearchParams({ limit: "200" });
      for (const [name, value] of Object.entries({ ...filter, cursor: pageParam })) {
        if (value) {
          params.set(name, value);
        }
      }
      return send<Page>("GET", `/api/v1/${kind.noun}?${params}`);
    },
    getNextPageParam: (last) => last.nextCursor || undefined,
  });
}

// agentsQuery is which agents there are to have something made.
export const agentsQuery = queryOptions({
  queryKey: ["agent", "choices"],
  queryFn: () => data(client.GET("/api/v1/agents", { params: { query: { limit: 1000 } } })),
});

const address = (item: Pick<SettingItem, "agent" | "namespace" | "name">, noun: string): string =>
  `/api/v1/agents/${encodeURIComponent(item.agent)}/${noun}/${encodeURIComponent(item.namespace)}/${encodeURIComponent(item.name)}`;

export const itemPath = address;

export const agentPath = (agent: string, noun: string): string => `/api/v1/agents/${encodeURIComponent(agent)}/${noun}`;
