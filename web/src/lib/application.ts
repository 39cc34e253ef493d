import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { client, data, type Schemas } from "@/api/client";
import { useMissing } from "./session";

// App names one application.
export interface App {
  agent: string;
  namespace: string;
  name: string;
  // id is what events call it.
  id: string;
}

// useApp is the application that the address names.
export function useApp(): App {
  const { agent = "", namespace = "", name = "" } = useParams({ strict: false });
  return useMemo(() => ({ agent, namespace, name, id: `${agent}/${namespace}/${name}` }), [agent, namespace, name]);
}

export const pathOf = ({ agent, namespace, name }: App) => ({ agent, namespace, name });

export const basePath = (app: App): string =>
  `/api/v1/agents/${encodeURIComponent(app.agent)}/applications/${encodeURIComponent(app.namespace)}/${encodeURIComponent(app.name)}`;

// Queries about one application have keys of their own, so that events of the thousands of others read nothing again.
export const liveKey = (app: App, ...rest: unknown[]) => ["one-application", app.id, ...rest];

// lookKey is for what asks the agent and its cluster: it is read again when what it depends on changed, not with each event.
export const lookKey = (app: App, ...rest: unknown[]) => ["look", app.id, ...rest];

export const detailQuery = (app: App) =>
  queryOptions({
    queryKey: liveKey(app, "detail"),
    queryFn: () =>
      data(client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}", { params: { path: pathOf(app) } })),
  });

// awayWhy says why what takes the agent is off; undefined while the agent is there.
export const awayWhy = (app: Pick<Schemas["Application"], "agent" | "agentAway"> | undefined): string | undefined =>
  app?.agentAway ? `The agent ${app.agent} is away. Try again when it is back.` : undefined;

// useAway is awayWhy for the application of a page.
export const useAway = (app: App): string | undefined => awayWhy(useQuery(detailQuery(app)).data);

type Lacking = Pick<Schemas["ApplicationDetail"], "unsupported"> | undefined;

// lackWhy says what to do instead of a command that the agent does not carry out, such as beside an Argo CD.
export const lackWhy = (app: Pick<App, "name">, detail: Lacking, command: string): string | undefined =>
  detail?.unsupported?.find((u) => u.command === command)?.message.replaceAll(/\bAPP\b/g, () => app.name);

// useLack is lackWhy for the application of a page.
export function useLack(app: App): (command: string) => string | undefined {
  const { data } = useQuery(detailQuery(app));
  return (command) => lackWhy(app, data, command);
}

// useOff says why something cannot be asked of the application's agent: a permission is missing, the agent does not carry out the
// command, or it is away.
export function useOff(app: App, permission: string, command = ""): string | undefined {
  const away = useAway(app);
  const lack = useLack(app)(command);
  return useMissing(permission, useScope(app)) ?? lack ?? away;
}

// useScope is where permissions of the application are looked for; undefined while it is not known.
export const useScope = (app: App): string | undefined => useQuery(detailQuery(app)).data?.scope;
