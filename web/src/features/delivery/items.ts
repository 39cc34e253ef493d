import { client, data } from "@/api/client";
import { useList } from "@/lib/entity";
import type { SettingItem } from "./setting";

// useSettings are the settings of one kind that agents report, page by page.
export const useSettings = (kind: { event: string; noun: string }, filter: { search?: string; agent?: string }) =>
  useList<SettingItem>(kind.event, `/api/v1/${kind.noun}`, filter);

// placeOf is where the API has an item.
export const placeOf = ({ agent, namespace, name }: Pick<SettingItem, "agent" | "namespace" | "name">) => ({
  agent,
  namespace,
  name,
});

export const deleteProject = (item: SettingItem) =>
  data(client.DELETE("/api/v1/agents/{agent}/argo-projects/{namespace}/{name}", { params: { path: placeOf(item) } }));
