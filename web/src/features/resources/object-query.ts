import { queryOptions } from "@tanstack/react-query";
import { ApiError, client, data, type Schemas } from "@/api/client";
import type { Address, Node } from "./model";

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
export const paramsOf = (app: Address, ref: Ref) => ({
  path: { ...app },
  query: {
    ...(ref.group ? { group: ref.group } : {}),
    ...(ref.version ? { version: ref.version } : {}),
    kind: ref.kind,
    ...(ref.namespace ? { resourceNamespace: ref.namespace } : {}),
    resourceName: ref.name,
  },
});

const keyOf = (app: Address, ref: Ref) => [
  app.agent,
  app.namespace,
  app.name,
  ref.group ?? "",
  ref.kind,
  ref.namespace ?? "",
  ref.name,
];

// What is read of one object is read again while somebody looks at it: nothing tells of each change of it.
const often = { staleTime: 2_000, refetchInterval: 10_000 };

export const stateQuery = (app: Address, ref: Ref) =>
  queryOptions({
    queryKey: ["object", "state", ...keyOf(app, ref)],
    ...often,
    queryFn: () => data(client.GET(`${base}/resource`, { params: paramsOf(app, ref) })),
  });

export const eventsQuery = (app: Address, ref: Ref) =>
  queryOptions({
    queryKey: ["object", "events", ...keyOf(app, ref)],
    ...often,
    queryFn: () => data(client.GET(`${base}/resource/events`, { params: paramsOf(app, ref) })),
  });

export const actionsQuery = (app: Address, ref: Ref) =>
  queryOptions({
    queryKey: ["object", "actions", ...keyOf(app, ref)],
    staleTime: 5_000,
    queryFn: () => data(client.GET(`${base}/resource/actions`, { params: paramsOf(app, ref) })),
  });

// differencesQuery is what differs in all objects of an application: the agent compares them together.
export const differencesQuery = (app: Address, ignored: boolean) =>
  queryOptions({
    queryKey: ["object", "differences", app.agent, app.namespace, app.name, ignored],
    staleTime: 5_000,
    queryFn: () =>
      data(client.GET(`${base}/diff`, { params: { path: { ...app }, query: ignored ? { ignored } : {} } })),
  });

// finished takes a command that an agent was given, and throws where it did not do it.
export function finished(command: Schemas["Command"]): Schemas["Command"] {
  if (["failed", "refused", "expired", "unknown"].includes(command.status)) {
    throw new ApiError(422, {
      detail: command.message || `The agent did not do it: ${command.status}.`,
      code: "invalid",
    });
  }
  return command;
}

// waiting is true where the agent has not answered yet; it will do it when it can.
export const waiting = (command: Schemas["Command"]): boolean =>
  command.status === "pending" || command.status === "sent";

export const deleteObject = async (
  app: Address,
  ref: Ref,
  how: { force: boolean; orphan: boolean; reason: string },
) => {
  const params = paramsOf(app, ref);
  const query = {
    ...params.query,
    ...(how.force ? { force: true } : {}),
    ...(how.orphan ? { orphan: true } : {}),
    ...(how.reason ? { reason: how.reason } : {}),
  };
  return finished(await data(client.DELETE(`${base}/resource`, { params: { path: params.path, query } })));
};

export const runAction = async (app: Address, body: Schemas["ResourceAction"]) =>
  finished(await data(client.POST(`${base}/resource/actions`, { params: { path: { ...app } }, body })));

export const syncObject = async (app: Address, ref: Ref, prune: boolean) =>
  finished(
    await data(
      client.POST(`${base}/sync`, {
        params: { path: { ...app } },
        body: {
          objects: [{ group: ref.group, kind: ref.kind, namespace: ref.namespace, name: ref.name }],
          ...(prune ? { prune } : {}),
        },
      }),
    ),
  );

export const patchObject = async (app: Address, ref: Ref, patch: unknown, dryRun: boolean) =>
  finished(
    await data(
      client.PATCH(`${base}/resource`, {
        params: { path: { ...app } },
        body: { resource: ref, type: "merge", patch, ...(dryRun ? { dryRun } : {}) },
      }),
    ),
  );
