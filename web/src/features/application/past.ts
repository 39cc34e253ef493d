import type { Schemas } from "@/api/client";
import { type Deployment, type Detail, notesOf, person, pinOf, type Resource, revisionsOf } from "./resource";

export type Entry = Schemas["LedgerEntry"];

// Past is one thing that happened to an application: an entry of the ledger, a deployment of the Application's own history,
// or both where they are the same.
export interface Past {
  key: string;
  // deployment can be gone back to; missing for operations that deployed nothing as a whole, and those long ago.
  deployment: number | undefined;
  entry: Entry | undefined;
  action: string;
  phase: string;
  message: string;
  revisions: string[];
  startedAt: string;
  at: string;
  // author of the request; "" for none.
  who: string;
  reason: string;
  author: string;
  subject: string;
  // current is what is deployed now, pinned what a rollback holds, quarantined what it keeps away.
  current: boolean;
  pinned: boolean;
  quarantined: boolean;
}

// momentOf is the time to ask the ledger for, where what ran just after this is wanted. An entry counts from the microsecond
// in which it finished; the time of a deployment without an entry is cut to the second.
export const momentOf = (past: Past): string =>
  past.entry?.finishedAt ?? new Date(Date.parse(past.at) + 1_000).toISOString();

// An entry and a deployment are the same when they brought the same revision and ended in the same moment: the one has it
// in microseconds, the other in seconds, and by the clock of the agent both.
const near = 5_000;

function same(entry: Entry, deployment: Deployment): boolean {
  const of = entry.sources?.map((s) => s.revision ?? "").filter(Boolean) ?? [];
  const revisions = of.length > 0 ? of : entry.revision ? [entry.revision] : [];
  const its = revisionsOf(deployment);
  return (
    (entry.phase === "Succeeded" || entry.recovered === true) &&
    entry.action !== "dry-run" &&
    entry.action !== "partial" &&
    its.length > 0 &&
    its.join(" ") === revisions.join(" ") &&
    apart(entry.finishedAt, deployment) < near
  );
}

const apart = (at: string, deployment: Deployment): number =>
  Math.abs(Date.parse(at) - Date.parse(deployment.deployedAt ?? ""));

function ofEntry(entry: Entry): Past {
  return {
    key: entry.id,
    deployment: undefined,
    entry,
    action: entry.action,
    phase: entry.phase,
    message: entry.message ?? "",
    revisions: entry.sources?.length
      ? entry.sources.map((s) => s.revision ?? "")
      : [entry.revision ?? ""].filter(Boolean),
    startedAt: entry.startedAt,
    at: entry.finishedAt,
    who: entry.automatic ? "" : person(entry.actor ?? ""),
    reason: entry.reason ?? "",
    author: entry.commit?.author ?? "",
    subject: entry.commit?.subject ?? "",
    current: false,
    pinned: false,
    quarantined: false,
  };
}

// compose puts the ledger and the Application's own history together, the newest first.
export function compose(resource: Resource, entries: Entry[], unsupported: Detail["unsupported"] = []): Past[] {
  const notes = notesOf(resource);
  const pin = pinOf(resource, unsupported);
  const own = resource.status?.history ?? [];
  const latest = own.at(-1)?.id;
  const list = entries.map(ofEntry);
  for (const deployment of own) {
    const note = notes[String(deployment.id)] ?? {};
    // Of several that fit, such as a rollback and an immediate rollback of it, the nearest in time.
    let one = list
      .filter((p) => p.entry && p.deployment === undefined && same(p.entry, deployment))
      .sort((a, b) => apart(a.at, deployment) - apart(b.at, deployment))[0];
    if (!one) {
      one = {
        ...ofEntry({} as Entry),
        key: `deployment ${deployment.id}`,
        entry: undefined,
        action: "sync",
        phase: "Succeeded",
        message: "",
        revisions: revisionsOf(deployment),
        startedAt: deployment.deployStartedAt ?? "",
        at: deployment.deployedAt ?? "",
        who: deployment.initiatedBy?.automated ? "" : person(deployment.initiatedBy?.username ?? ""),
        reason: note.reason ?? "",
      };
      list.push(one);
    }
    one.deployment = deployment.id;
    one.who ||= person(note.by ?? "");
    one.author ||= note.author ?? "";
    one.subject ||= note.subject ?? "";
    one.current = deployment.id === latest;
    one.pinned = deployment.id === pin?.id;
    const kept = pin?.quarantine?.revisions ?? [];
    one.quarantined = kept.length > 0 && one.revisions.length > 0 && one.revisions.every((r, i) => r === kept[i]);
  }
  return list.sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || (b.deployment ?? -1) - (a.deployment ?? -1));
}
