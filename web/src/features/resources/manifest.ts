import { stringify } from "yaml";

// LiveObject is what is read of an object's manifest.
export interface LiveObject {
  metadata?: {
    uid?: string;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    generation?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { apiVersion?: string; kind?: string; name?: string }[];
    finalizers?: string[];
    managedFields?: unknown;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const objectOf = (raw: unknown): LiveObject | undefined => (isRecord(raw) ? (raw as LiveObject) : undefined);

// yamlOf writes an object, without the managers of fields unless requested.
export function yamlOf(object: LiveObject, managed = false): string {
  let shown = object;
  if (!managed && object.metadata?.managedFields !== undefined) {
    const { managedFields: _, ...metadata } = object.metadata;
    shown = { ...object, metadata };
  }
  return stringify(shown, { lineWidth: 0, aliasDuplicateObjects: false });
}

// Container is one of a pod, or of the pods that a workload makes.
export interface Container {
  name: string;
  image: string;
  init: boolean;
  ports: string[];
  // of pods: how it runs
  ready?: boolean;
  state?: string;
  restarts?: number;
}

const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");

// at walks into an object.
function at(value: unknown, ...path: string[]): unknown {
  let here = value;
  for (const step of path) {
    here = isRecord(here) ? here[step] : undefined;
  }
  return here;
}

function podSpec(object: LiveObject): unknown {
  switch (object.kind) {
    case "Pod":
      return object.spec;
    case "CronJob":
      return at(object, "spec", "jobTemplate", "spec", "template", "spec");
    default:
      return at(object, "spec", "template", "spec");
  }
}

// containersOf are the containers of a pod or workload, those that run once at the beginning last.
export function containersOf(object: LiveObject | undefined): Container[] {
  if (!object) {
    return [];
  }
  const spec = podSpec(object);
  const statuses = new Map(
    [...list(at(object, "status", "containerStatuses")), ...list(at(object, "status", "initContainerStatuses"))].map(
      (s) => [text(s.name), s],
    ),
  );
  const read = (c: Record<string, unknown>, init: boolean): Container => {
    const status = statuses.get(text(c.name));
    const state = status && isRecord(status.state) ? Object.entries(status.state)[0] : undefined;
    return {
      name: text(c.name),
      image: text(c.image),
      init,
      ports: list(c.ports).map((p) => `${text(p.containerPort)}/${text(p.protocol) || "TCP"}`),
      ...(status ? { ready: status.ready === true, restarts: Number(status.restartCount ?? 0) } : {}),
      ...(state ? { state: text(at(state[1], "reason")) || state[0] } : {}),
    };
  };
  return [
    ...list(at(spec, "containers")).map((c) => read(c, false)),
    ...list(at(spec, "initContainers")).map((c) => read(c, true)),
  ];
}

// portsOf are the ports of a service: "http 80/TCP → 8080".
export const portsOf = (object: LiveObject | undefined): string[] =>
  object?.kind === "Service"
    ? list(at(object, "spec", "ports")).map((p) =>
        `${text(p.name)} ${text(p.port)}/${text(p.protocol) || "TCP"}${p.targetPort === undefined ? "" : ` → ${text(p.targetPort)}`}`.trim(),
      )
    : [];
