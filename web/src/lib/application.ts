import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { client, data } from "@/api/client";

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

// useScope is where permissions of the application are looked for; undefined while it is not known.
export const useScope = (app: App): string | undefined => useQuery(detailQuery(app)).data?.scope;
