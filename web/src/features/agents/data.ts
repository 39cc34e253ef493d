import { queryOptions, useQuery } from "@tanstack/react-query";
import { client, data, request, type Schemas } from "@/api/client";
import { query } from "@/lib/entity";
import { infoQuery } from "@/lib/info";
import { useMissing } from "@/lib/session";
import type { Network } from "./install";

export type Agent = Schemas["Agent"];
export type Registration = Schemas["AgentRegistration"];

export const stateOf = (agent: Agent): string => agent.status?.state ?? "Never";

// connected is true of an agent that the server hears: silent for half a minute it is so no longer, and an event reports it.
export const connected = (agent: Agent): boolean => ["Connected", "Degraded"].includes(stateOf(agent));

// heardEvery is after how many ms there may be news of an agent that no event reports: when it was heard last, and its lag,
// which come with heartbeats. undefined for one that sends none: that it is heard again is an event.
export const heardEvery = (agent: Agent): number | undefined => (connected(agent) ? 10_000 : undefined);

// useServerVersion is what agents are held to: one of another version can be upgraded.
export const useServerVersion = (): string => useQuery(infoQuery).data?.version ?? "";

// useHosts is true where the server can run agents itself.
export const useHosts = (): boolean => useQuery(infoQuery).data?.hosts ?? false;

// differs is true where an agent runs another version than the server.
export const differs = (agent: Agent, server: string): boolean =>
  Boolean(server && agent.status?.version && agent.status.version !== server);

// agentCounts says how many applications each agent has.
export const agentCounts = queryOptions({
  queryKey: ["application", "summary", {}],
  queryFn: ({ signal }) => data(client.GET("/api/v1/fleet/summary", { params: { query: {} }, signal })),
  select: (summary) => summary.agent,
});

// useApplications counts the applications of an agent; missing says why they cannot be seen.
export function useApplications(agent: string) {
  const missing = useMissing("application_view");
  const counted = useQuery({
    queryKey: ["application", "count", agent],
    queryFn: () => data(client.GET("/api/v1/applications", { params: { query: { agent, limit: 1 } } })),
    enabled: Boolean(agent) && !missing,
  });
  return { data: counted.data, missing };
}

// readManifest is what installs an agent; there is no secret in it. Options are in the body: certificates in an address would
// make it longer than proxies let through.
export async function readManifest(
  id: string,
  { format, ...options }: { format: "yaml" | "helm"; namespace: string } & Network,
): Promise<string> {
  const response = await request(`/api/v1/agents/${encodeURIComponent(id)}/manifest${query({ format })}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(options satisfies Schemas["InstallOptions"]),
  });
  return response.text();
}
