import { infiniteQueryOptions } from "@tanstack/react-query";
import { readJSON, type Schemas } from "@/api/client";
import { query } from "@/lib/entity";
import type { Kind, SettingItem } from "./setting";

type Page = Schemas["PageItem"];

// settingsQuery is what agents tell of one kind, page by page.
export function settingsQuery(kind: Pick<Kind, "event" | "noun">, filter: { search?: string; agent?: string }) {
  return infiniteQueryOptions({
    queryKey: [kind.event, kind.noun, filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      readJSON<Page>(`/api/v1/${kind.noun}${query({ limit: 200, ...filter, cursor: pageParam })}`, { signal }),
    getNextPageParam: (last) => last.nextCursor || undefined,
  });
}

export const itemPath = (item: Pick<SettingItem, "agent" | "namespace" | "name">, noun: string): string =>
  `/api/v1/agents/${encodeURIComponent(item.agent)}/${noun}/${encodeURIComponent(item.namespace)}/${encodeURIComponent(item.name)}`;

export const agentPath = (agent: string, noun: string): string => `/api/v1/agents/${encodeURIComponent(agent)}/${noun}`;
