import type { Schemas } from "@/api/client";
import { short } from "@/lib/format";

// What the pages read of an Application's resource. The whole is kept beside it as it came, so that an edit loses nothing.

export interface Source {
  repoURL: string;
  path?: string;
  chart?: string;
  targetRevision?: string;
  ref?: string;
  name?: string;
  helm?: {
    releaseName?: string;
    valueFiles?: string[];
    parameters?: { name: string; value?: string; forceString?: boolean }[];
    values?: string;
    valuesObject?: unknown;
  };
  kustomize?: {
    namePrefix?: string;
    nameSuffix?: string;
    images?: string[];
    replicas?: { name: string; count: number | string }[];
    commonLabels?: Record<string, string>;
    commonAnnotations?: Record<string, string>;
  };
  directory?: { recurse?: boolean; include?: string; exclude?: string };
}

export interface Deployment {
  id: number;
  revision?: string;
  revisions?: string[];
  source?: Source;
  sources?: Source[];
  deployedAt?: string;
  deployStartedAt?: string;
  initiatedBy?: { username?: string; automated?: boolean };
}

export interface Result {
  group?: string;
  version?: string;
  kind: string;
  namespace?: string;
  name: string;
  status?: string;
  message?: string;
  hookType?: string;
  hookPhase?: string;
  syncPhase?: string;
}

export interface Operation {
  sync?: {
    revision?: string;
    revisions?: string[];
    prune?: boolean;
    dryRun?: boolean;
    syncOptions?: string[];
    resources?: { group?: string; kind: string; namespace?: string; name: string }[];
  };
  initiatedBy?: { username?: string; automated?: boolean };
  info?: { name: string; value: string }[];
  retry?: { limit?: number };
}

export interface OperationState {
  operation: Operation;
  phase: string;
  message?: string;
  startedAt: string;
  finishedAt?: string;
  retryCount?: number;
  syncResult?: {
    resources?: Result[];
    revision?: string;
    revisions?: string[];
    source?: Source;
    sources?: Source[];
  };
}

export interface OwnObject {
  group?: string;
  version?: string;
  kind: string;
  namespace?: string;
  name: string;
  status?: string;
  health?: { status?: string; message?: string };
  hook?: boolean;
  requiresPruning?: boolean;
  syncWave?: number;
}

export interface Resource {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace: string;
    uid?: string;
    resourceVersion?: string;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
  };
  spec: {
    source?: Source;
    sources?: Source[];
    destination?: { server?: string; name?: string; namespace?: string };
    project?: string;
    syncPolicy?: {
      automated?: { prune?: boolean; selfHeal?: boolean; allowEmpty?: boolean; enabled?: boolean };
      syncOptions?: string[];
      retry?: { limit?: number; backoff?: { duration?: string; factor?: number; maxDuration?: string } };
    };
    revisionHistoryLimit?: number;
  };
  operation?: Operation;
  status?: {
    resources?: OwnObject[];
    sync?: { status?: string; revision?: string; revisions?: string[] };
    health?: { status?: string; message?: string; lastTransitionTime?: string };
    history?: Deployment[];
    conditions?: { type: string; message: string; lastTransitionTime?: string }[];
    reconciledAt?: string;
    operationState?: OperationState;
    sourceType?: string;
    sourceTypes?: string[];
    summary?: { images?: string[]; externalURLs?: string[] };
  };
}

export type Detail = Schemas["ApplicationDetail"];

// resourceOf is the resource of an answer. One that is no object reads as an empty one.
export function resourceOf(detail: { resource?: unknown }): Resource {
  const raw = detail.resource;
  const some = (typeof raw === "object" && raw !== null ? raw : {}) as Partial<Resource>;
  return { ...some, metadata: some.metadata ?? { name: "", namespace: "" }, spec: some.spec ?? {} };
}

// sourcesOf are the sources, one or several.
export function sourcesOf(of: { source?: Source; sources?: Source[] } | undefined): Source[] {
  return of?.sources?.length ? of.sources : of?.source ? [of.source] : [];
}

// revisionsOf are the revisions, one for each source.
export function revisionsOf(of: { revision?: string; revisions?: string[] } | undefined): string[] {
  return of?.revisions?.length ? of.revisions : of?.revision ? [of.revision] : [];
}

// revisionsText is how people say them.
export const revisionsText = (revisions: string[]): string => revisions.map(short).join(", ");

export interface Note {
  by?: string;
  reason?: string;
  author?: string;
  subject?: string;
}

function json<T>(text: string | undefined): T | undefined {
  try {
    return text ? (JSON.parse(text) as T) : undefined;
  } catch {
    return undefined; // another program wrote it: the agent reports it in a condition
  }
}

// notesOf says of deployments, by id, what the resource has no field for.
export function notesOf(resource: Resource): Record<string, Note> {
  const notes = json<Record<string, Note>>(resource.metadata.annotations?.["slipway.io/history-notes"]);
  return typeof notes === "object" && notes !== null ? notes : {};
}

export interface Pin {
  id: number;
  revisions?: string[];
  // sources replace those of the specification, where they were others then.
  sources?: Source[];
  by?: string;
  reason?: string;
  at?: string;
  quarantine?: { revisions?: string[] };
}

// pinOf is the rollback that holds the application, if one does: an engine that cannot end one does not know of any.
export function pinOf(resource: Resource, unsupported: Detail["unsupported"]): Pin | undefined {
  if (unsupported?.some((u) => u.command === "application.unpin")) {
    return undefined;
  }
  const pin = json<Pin>(resource.metadata.annotations?.["slipway.io/rollback"]);
  if (typeof pin !== "object" || pin === null || typeof pin.id !== "number") {
    return undefined;
  }
  // The agent takes no pin that lacks the revision of a source: a condition says so.
  const sources = (pin.sources?.length ? pin.sources : sourcesOf(resource.spec)).length;
  const revisions = pin.revisions ?? [];
  return revisions.length === sources && revisions.every(Boolean) ? pin : undefined;
}

// conditionOf is the first condition of a type.
export const conditionOf = (resource: Resource, type: string) =>
  resource.status?.conditions?.find((c) => c.type === type);

// askedOf is what the agent asks a person to confirm, a sync or a deletion; "" for nothing.
export const askedOf = (resource: Resource): string =>
  resource.status?.conditions?.find(
    (c) => (c.type === "Held" || c.type === "DeletionError") && c.message.includes("slipway app confirm "),
  )?.message ??
  resource.status?.operationState?.message ??
  "";

// planOf is the digest in what the agent says of a sync that it holds: "(plan 5f2b7c0d9a1e4f36)".
export const planOf = (message: string | undefined): string =>
  /\(plan ([0-9a-f]{16,64})\)/.exec(message ?? "")?.[1] ?? "";

// running is the operation that is under way, asked for or begun.
export function running(resource: Resource): OperationState | undefined {
  const state = resource.status?.operationState;
  return state && (state.phase === "Running" || state.phase === "Terminating") ? state : undefined;
}

// beside are the actions for the head of the page: while an operation runs, what is shown of it offers to terminate it.
export function beside<A extends { action: string }>(actions: readonly A[], resource: Resource): A[] {
  return running(resource) ? actions.filter((a) => a.action !== "terminate") : [...actions];
}

// automated reports whether auto-sync is on.
export function automated(resource: Resource): boolean {
  const policy = resource.spec.syncPolicy?.automated;
  return Boolean(policy) && policy?.enabled !== false;
}

export interface Named {
  group?: string;
  kind: string;
  namespace?: string;
  name: string;
}

// keyOf names an object within its application.
export const keyOf = (o: Named): string => `${o.group ?? ""}/${o.kind}/${o.namespace ?? ""}/${o.name}`;

// nameOf is what a request names an object by.
export const nameOf = (o: Named): Schemas["ObjectName"] => ({
  kind: o.kind,
  name: o.name,
  ...(o.group ? { group: o.group } : {}),
  ...(o.namespace ? { namespace: o.namespace } : {}),
});

// placeOf is an object as people say it: "Deployment shop/web".
export const placeOf = (o: Named): string => `${o.kind} ${o.namespace ? `${o.namespace}/` : ""}${o.name}`;

// person is the display form of an actor: servers and agents use "user:ann".
export const person = (who: string): string => who.replace(/^user:/, "");
