import { useList } from "@/lib/entity";
import type { Kind, SettingItem } from "./setting";

// useSettings are the settings of one kind that agents report, page by page.
export const useSettings = (kind: Pick<Kind, "event" | "noun">, filter: { search?: string; agent?: string }) =>
  useList<SettingItem>(kind.event, `/api/v1/${kind.noun}`, filter);

export const itemPath = (item: Pick<SettingItem, "agent" | "namespace" | "name">, noun: string): string =>
  `/api/v1/agents/${encodeURIComponent(item.agent)}/${noun}/${encodeURIComponent(item.namespace)}/${encodeURIComponent(item.name)}`;

export const agentPath = (agent: string, noun: string): string => `/api/v1/agents/${encodeURIComponent(agent)}/${noun}`;
