import type { Schemas } from "@/api/client";
import { plural } from "@/lib/format";

// What a sync would do, as POST .../plan says it.

export type Plan = Schemas["SyncPlan"];
export type PlanItem = Schemas["PlanItem"];

// summary says in a line what a plan does.
export function summary(plan: Plan): string {
  const { create, update, delete: gone, unchanged, hooks } = plan.counts;
  const parts = [
    create && `creates ${plural(create, "object")}`,
    update && `changes ${plural(update, "object")}`,
    gone && `deletes ${plural(gone, "object")}`,
    hooks && `runs ${plural(hooks, "hook")}`,
  ].filter(Boolean);
  const rest = unchanged ? `; ${plural(unchanged, "object")} ${unchanged === 1 ? "is" : "are"} unchanged` : "";
  return parts.length > 0 ? `It ${parts.join(", ")}${rest}.` : `It changes nothing${rest}.`;
}

// Choice is what is chosen in the panel for a sync.
export interface Choice {
  // revisions are one for each source; "" for that of the source.
  revisions: string[];
  prune: boolean;
  dryRun: boolean;
  force: boolean;
  replace: boolean;
  applyOnly: boolean;
  serverSide: boolean;
  // options are in place of the application's own, one a line; undefined leaves those.
  options: string | undefined;
  objects: Schemas["ObjectName"][];
  retry: { limit: string; duration: string; factor: string; maxDuration: string } | undefined;
  reason: string;
}

export const noChoice: Choice = {
  revisions: [],
  prune: false,
  dryRun: false,
  force: false,
  replace: false,
  applyOnly: false,
  serverSide: false,
  options: undefined,
  objects: [],
  retry: undefined,
  reason: "",
};

// requestOf is the request for a choice. What was left as it is is left out, so that the application's own settings count.
// targets are the revisions that the sources name: one that is chosen for one source needs one for each.
export function requestOf(choice: Choice, targets: string[]): Schemas["SyncRequest"] {
  const request: Schemas["SyncRequest"] = {};
  if (choice.revisions.some((r) => r.trim() !== "")) {
    request.revisions = targets.map((target, i) => choice.revisions[i]?.trim() || target || "HEAD");
  }
  for (const name of ["prune", "dryRun", "force", "replace", "applyOnly", "serverSide"] as const) {
    if (choice[name]) {
      request[name] = true;
    }
  }
  if (choice.options !== undefined) {
    request.options = choice.options
      .split("\n")
      .map((o) => o.trim())
      .filter(Boolean);
  }
  if (choice.objects.length > 0) {
    request.objects = choice.objects;
  }
  if (choice.retry) {
    const { limit, duration, factor, maxDuration } = choice.retry;
    request.retry = {
      limit: Number(limit) || 0,
      ...(duration ? { duration } : {}),
      ...(Number(factor) ? { factor: Number(factor) } : {}),
      ...(maxDuration ? { maxDuration } : {}),
    };
  }
  if (choice.reason.trim()) {
    request.reason = choice.reason.trim();
  }
  return request;
}
