import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { client, data, type Schemas } from "@/api/client";
import { type App, detailQuery, liveKey, lookKey, pathOf, useAway, useLack, useOff } from "@/lib/application";
import { accepted, finished, waiting } from "@/lib/command";
import { events } from "@/lib/events";
import { queryClient } from "@/lib/query";
import { rereading } from "@/lib/reread";
import { known } from "@/lib/time";
import { type Detail, type Named, type Resource, resourceOf } from "./resource";

const address = "/api/v1/agents/{agent}/applications/{namespace}/{name}";

const settle = 120; // ms to gather events that come together

// useFollow reads what is shown of the application again whenever something about it changed.
export function useFollow(app: App): void {
  useEffect(() => {
    const reread = rereading(queryClient, { queryKey: ["one-application", app.id] }, settle);
    const stop = events.listen((event) => {
      const about =
        (event.object.type === "application" && event.object.id === app.id) ||
        (event.object.type === "agent" && event.object.id === app.agent);
      if (about) {
        reread.soon();
      }
    });
    return () => {
      reread.stop();
      stop();
    };
  }, [app.id, app.agent]);
}

// useDetail is the application as the server knows it; the pages below the header are shown only when it is there.
export function useDetail(app: App): { detail: Detail | undefined; resource: Resource } {
  const { data: detail } = useQuery(detailQuery(app));
  const resource = useMemo(() => resourceOf(detail ?? {}), [detail]);
  return { detail, resource };
}

const longest = 3_600_000; // ms: a later time is looked at again on the way

// untilOf is how many ms there are until a time, and a second more; false for none.
export function untilOf(at: string | undefined, now: number): number | false {
  return known(at) ? Math.min(longest, Math.max(1_000, Date.parse(at) - now + 1_000)) : false;
}

export const whyQuery = (app: App) =>
  queryOptions({
    queryKey: liveKey(app, "why"),
    queryFn: () =>
      data(client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/why", { params: { path: pathOf(app) } })),
    // No event says that a sync window opens.
    refetchInterval: ({ state }) => untilOf(state.data?.window?.until, Date.now()),
  });

// linksQuery are the links that settings of the agent's cluster give. An agent that is older knows none.
export const linksQuery = (app: App) =>
  queryOptions({
    queryKey: lookKey(app, "links"),
    staleTime: 60_000,
    retry: false,
    queryFn: () => data(client.GET(`${address}/links`, { params: { path: pathOf(app) } })),
  });

// May says for each thing that can be asked of an application why it cannot be.
export interface May {
  sync: string | undefined;
  edit: string | undefined;
  remove: string | undefined;
  // refresh takes no right of its own.
  refresh: string | undefined;
  // as is for a command that takes the right to sync: an agent may not carry it out.
  as: (verb: keyof Requests) => string | undefined;
}

// useMay says why a right at the application's scope is missing, or that the agent is away.
export function useMay(app: App): May {
  const lack = useLack(app);
  const sync = useOff(app, "application_sync");
  return {
    sync,
    as: (verb) => lack(`application.${verb}`) ?? sync,
    edit: useOff(app, "application_edit"),
    remove: useOff(app, "application_delete"),
    refresh: useAway(app),
  };
}

// Answer is what came of a request to the application; the API's description has the result of a command as any value.
export interface Answer {
  message: string;
  changed: boolean;
  request?: string;
  deployment?: number;
  revisions?: string[];
  quarantine?: string[];
  plan?: string;
  objects?: (Named & { deployment?: number; stays?: string })[];
  warnings?: string[];
}

export interface Requests {
  sync: Schemas["SyncRequest"];
  refresh: Schemas["RefreshRequest"];
  terminate: Schemas["TerminateRequest"];
  rollback: Schemas["RollbackRequest"];
  unpin: Schemas["UnpinRequest"];
  confirm: Schemas["ConfirmRequest"];
  restore: Schemas["RestoreRequest"];
  revert: Schemas["RevertRequest"];
  allow: Schemas["AllowRequest"];
}

// operate asks the application for something and gives what came of it.
export async function operate<V extends keyof Requests>(app: App, verb: V, body: Requests[V]): Promise<Answer> {
  const post: `${typeof address}/${keyof Requests}` = `${address}/${verb}`;
  const command = accepted(await data(client.POST(post, { params: { path: pathOf(app) }, body })));
  void queryClient.invalidateQueries({ queryKey: ["one-application", app.id] });
  const answer = (command.result ?? {}) as Partial<Answer>;
  return {
    ...answer,
    message: answer.message ?? (waiting(command) ? command.message || "the agent has not answered yet" : "requested"),
    changed: answer.changed ?? false,
  };
}

// write puts a changed resource in place of the one that it was made from. A 409 reports that another client was faster.
export async function write(app: App, resource: unknown, base: unknown, reason: string, dryRun = false): Promise<void> {
  const body = { resource, base, ...(reason ? { reason } : {}) };
  accepted(await data(client.PUT(address, { params: { path: pathOf(app), query: dryRun ? { dryRun } : {} }, body })));
  if (!dryRun) {
    await queryClient.invalidateQueries({ queryKey: ["one-application", app.id] });
  }
}

// farewell asks what would go with the application and what would stay, and deletes nothing.
export async function farewell(app: App): Promise<Partial<Answer>> {
  const command = finished(
    await data(client.DELETE(address, { params: { path: pathOf(app), query: { cascade: true, dryRun: true } } })),
  );
  return (command.result ?? {}) as Partial<Answer>;
}

// remove deletes the application.
export async function remove(
  app: App,
  how: { cascade: boolean; propagation?: "background" | "foreground"; reason?: string },
): Promise<void> {
  const { cascade, propagation, reason } = how;
  const query = { cascade, ...(propagation && cascade ? { propagation } : {}), ...(reason ? { reason } : {}) };
  accepted(await data(client.DELETE(address, { params: { path: pathOf(app), query } })));
}
