import type { Schemas } from "@/api/client";
import type { Past } from "./past";
import type { Resource } from "./resource";

// Happening is one line of what happened around an application, from any source.
export interface Happening {
  key: string;
  at: string;
  // from is its source: the ledger, the audit, the agent in a condition, or an Event of Kubernetes.
  from: "ledger" | "audit" | "condition" | "kubernetes";
  bad: boolean;
  what: string;
  detail: string;
  who: string;
}

const title: Record<string, string> = {
  sync: "Synced",
  rollback: "Rolled back",
  restore: "Objects were restored",
  "dry-run": "Dry run",
  partial: "Some objects were synced",
  delete: "Deleted",
};

function ofPast(p: Past): Happening {
  const bad = p.phase !== "Succeeded";
  return {
    key: `ledger ${p.key}`,
    at: p.at,
    from: "ledger",
    bad,
    what: bad ? `${title[p.action] ?? p.action}: ${p.phase.toLowerCase()}` : (title[p.action] ?? p.action),
    detail: [p.subject, p.reason, bad ? p.message : ""].filter(Boolean).join(" · "),
    who: p.who || "automated sync",
  };
}

function ofEvent(e: Schemas["ResourceEvent"]): Happening {
  return {
    key: `kubernetes ${e.reason} ${e.last ?? ""} ${e.message}`,
    at: e.last ?? e.first ?? "",
    from: "kubernetes",
    bad: e.type === "Warning",
    what: e.count > 1 ? `${e.reason}, ${e.count} times` : e.reason,
    detail: e.message,
    who: e.source ?? "",
  };
}

// happenings puts together what the ledger, the audit, the agent and the cluster report, the newest first.
export function happenings(
  past: Past[],
  audit: Schemas["AuditEntry"][],
  conditions: NonNullable<Resource["status"]>["conditions"],
  events: Schemas["ResourceEvent"][] | null = [],
): Happening[] {
  const list = [...past.map(ofPast), ...(events ?? []).map(ofEvent)];
  for (const a of audit) {
    list.push({
      key: `audit ${a.id}`,
      at: a.at,
      from: "audit",
      bad: a.outcome !== "succeeded",
      what: a.outcome === "succeeded" ? a.action : `${a.action}: ${a.outcome}`,
      detail: [a.reason, a.message].filter(Boolean).join(" · "),
      who: a.actor.id,
    });
  }
  for (const c of conditions ?? []) {
    list.push({
      key: `condition ${c.type} ${c.message}`,
      at: c.lastTransitionTime ?? "",
      from: "condition",
      bad: c.type.endsWith("Error"),
      what: c.type,
      detail: c.message,
      who: "agent",
    });
  }
  const time = (h: Happening) => Date.parse(h.at) || 0;
  return list.sort((a, b) => time(b) - time(a));
}
