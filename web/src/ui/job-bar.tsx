import { type Schemas } from "@/api/client";
import { cn } from "@/lib/cn";
import { count, plural } from "@/lib/format";
import { toneFill, toneOf } from "./status";

export type Job = Schemas["Job"];

export type Target = Schemas["JobTarget"];

export const jobStates = ["done", "running", "waiting", "failed", "refused", "skipped"] as const;

export type State = (typeof jobStates)[number];

export const actions: Record<string, string> = {
  sync: "Sync",
  refresh: "Refresh",
  "hard-refresh": "Hard refresh",
  rollback: "Rollback",
};

// jobTitle is what a job does, in words.
export const jobTitle = (job: Job): string =>
  `${actions[job.request.action] ?? job.request.action} of ${plural(job.counts.total, "application")}`;

// JobBar is how far a job is, as one bar.
export function JobBar({ counts, className }: { counts: Schemas["JobCounts"]; className?: string }) {
  const text = jobStates
    .filter((s) => counts[s] > 0)
    .map((s) => `${count(counts[s])} ${s}`)
    .join(", ");
  return (
    <div
      role="img"
      aria-label={text || "nothing"}
      title={text}
      className={cn("flex h-2 overflow-hidden rounded-full bg-idle-soft", className)}
    >
      {jobStates
        .filter((s) => s !== "waiting" && s !== "skipped" && counts[s] > 0)
        .map((s) => (
          <span
            key={s}
            className={cn(toneFill[toneOf(s)], "h-full transition-[width]")}
            style={{ width: `${(counts[s] / Math.max(1, counts.total)) * 100}%` }}
          />
        ))}
    </div>
  );
}
