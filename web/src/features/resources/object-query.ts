import { queryOptions } from "@tanstack/react-query";
import { client, data, type Schemas } from "@/api/client";
import { type App, pathOf } from "@/lib/application";
import { accepted } from "@/lib/command";
import type { Node } from "./model";

// Ref names an object of an application in requests.
export type Ref = Schemas["ResourceRef"];

export const refFrom = (n: Pick<Node, "group" | "version" | "kind" | "namespace" | "name">): Ref => ({
  group: n.group,
  version: n.version,
  kind: n.kind,
  namespace: n.namespace,
  name: n.name,
});

const base = "/api/v1/agents/{agent}/applications/{namespace}/{name}";

// paramsOf are the parameters of a request about one object.
export const paramsOf = (app: App, ref: Ref) => ({
  path: pathOf(app),
  query: {
    ...(ref.group ? { group: ref.group } : {}),
    ...(ref.version ? { version: ref.version } : {}),
    kind: ref.kind,
    ...(ref.namespace ? { resourceNamespace: ref.namespace } : {}),
    resourceName: ref.name,
  },
});

const keyOf = (app: App, ref: Ref) => [
  app.agent,
  app.namespace,
  app.name,
  ref.group ?? "",
  ref.kind,
  ref.namespace ?? "",
  ref.name,
];

// What is read of one object is read again while a user looks at it: nothing reports each change of it.
const often = { staleTime: 2_000, refetchInterval: 10_000 };

export const stateQuery = (app: App, ref: Ref) =>
  queryOptions({
    queryKey: ["object", "state", ...keyOf(app, ref)],
    ...often,
    queryFn: () => data(client.GET(`${base}/resource`, { params: paramsOf(app, ref) })),
  });

export const eventsQuery = (app: App, ref: Ref) =>
  queryOptions({
    queryKey: ["object", "events", ...keyOf(app, ref)],
    ...often,
    queryFn: () => data(client.GET(`${base}/resource/events`, { params: paramsOf(app, ref) })),
  });

export const actionsQuery = (app: App, ref: Ref) =>
  queryOptions({
    queryKey: ["object", "actions", ...keyOf(app, ref)],
    staleTime: 5_000,
    queryFn: () => data(client.GET(`${base}/resource/actions`, { params: paramsOf(app, ref) })),
  });

// linksQuery are the links that settings of the agent's cluster give to an object. An agent that is older knows none.
export const linksQuery = (app: App, ref: Ref) =>
  queryOptions({
    queryKey: ["object", "links", ...keyOf(app, ref)],
    staleTime: 60_000,
    retry: false,
    queryFn: () => data(client.GET(`${base}/links`, { params: paramsOf(app, ref) })),
  });

// differencesQuery is what differs in all objects of an application: the agent compares them together.
export const differencesQuery = (app: App, ignored: boolean) =>
  queryOptions({
    queryKey: ["object", "differences", app.agent, app.namespace, app.name, ignored],
    staleTime: 5_000,
    queryFn: () =>
      data(client.GET(`${base}/diff`, { params: { path: pathOf(app), query: ignored ? { ignored } : {} } })),
  });

export const deleteObject = async (app: App, ref: Ref, how: { force: boolean; orphan: boolean; reason: string }) => {
  const params = paramsOf(app, ref);
  const query = {
    ...params.query,
    ...(how.force ? { force: true } : {}),
    ...(how.orphan ? { orphan: true } : {}),
    ...(how.reason ? { reason: how.reason } : {}),
  };
  return accepted(await data(client.DELETE(`${base}/resource`, { params: { path: params.path, query } })));
};

export const runAction = async (app: App, body: Schemas["ResourceAction"]) =>
  accepted(await data(client.POST(`${base}/resource/actions`, { params: { path: pathOf(app) }, body })));

export const syncObject = async (app: App, ref: Ref, prune: boolean) =>
  accepted(
    await data(
      client.POST(`${base}/sync`, {
        params: { path: pathOf(app) },
        body: {
          objects: [{ group: ref.group, kind: ref.kind, namespace: ref.namespace, name: ref.name }],
          ...(prune ? { prune } : {}),
        },
      }),
    ),
  );

export const patchObject = async (app: App, ref: Ref, patch: unknown, dryRun: boolean) =>
  accepted(
    await data(
      client.PATCH(`${base}/resource`, {
        params: { path: pathOf(app) },
        body: { resource: ref, type: "merge", patch, ...(dryRun ? { dryRun } : {}) },
      }),
    ),
  );
