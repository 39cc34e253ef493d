import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CirclePause,
  CircleX,
  Clock,
  FileX,
  HeartCrack,
  Hourglass,
  type LucideIcon,
  LoaderCircle,
  PlugZap,
  RefreshCwOff,
  Undo2,
} from "lucide-react";
import { cn } from "@/lib/cn";
import { exact, known } from "@/lib/time";

export type Tone = "ok" | "busy" | "warn" | "bad" | "idle" | "held";

// The one table of what statuses look like, for health, sync, phases, states of agents, jobs and deliveries. A colour means one
// thing: see style.css. What is broken is louder than what is missing or unknown.
interface Look {
  tone: Tone;
  icon: LucideIcon;
  label?: string;
}

const table: Record<string, Look> = {
  Healthy: { tone: "ok", icon: CircleCheck },
  Synced: { tone: "ok", icon: CircleCheck },
  Succeeded: { tone: "ok", icon: CircleCheck },
  Connected: { tone: "ok", icon: CircleCheck },
  done: { tone: "ok", icon: CircleCheck, label: "Done" },
  sent: { tone: "ok", icon: CircleCheck, label: "Sent" },
  Progressing: { tone: "busy", icon: LoaderCircle },
  Running: { tone: "busy", icon: LoaderCircle },
  running: { tone: "busy", icon: LoaderCircle, label: "Running" },
  upgrading: { tone: "busy", icon: LoaderCircle, label: "Upgrading" },
  checking: { tone: "busy", icon: LoaderCircle, label: "Checking" },
  "rolling-back": { tone: "warn", icon: LoaderCircle, label: "Rolling back" },
  "rolled-back": { tone: "warn", icon: Undo2, label: "Rolled back" },
  Terminating: { tone: "busy", icon: LoaderCircle },
  OutOfSync: { tone: "warn", icon: RefreshCwOff, label: "Out of sync" },
  Missing: { tone: "idle", icon: CircleDashed },
  Stale: { tone: "warn", icon: Clock },
  Degraded: { tone: "bad", icon: HeartCrack },
  Failed: { tone: "bad", icon: CircleX },
  failed: { tone: "bad", icon: CircleX, label: "Failed" },
  Error: { tone: "bad", icon: CircleX },
  dead: { tone: "bad", icon: CircleX, label: "Dead" },
  Disconnected: { tone: "bad", icon: PlugZap },
  SourceError: { tone: "bad", icon: FileX, label: "Source error" },
  SyncFailed: { tone: "bad", icon: CircleX, label: "Sync failed" },
  AgentAway: { tone: "bad", icon: PlugZap, label: "Agent away" },
  AgentDegraded: { tone: "warn", icon: HeartCrack, label: "Agent degraded" },
  NeverDeployed: { tone: "idle", icon: CircleDashed, label: "Never deployed" },
  Revoked: { tone: "idle", icon: Ban },
  refused: { tone: "bad", icon: Ban, label: "Refused" },
  Held: { tone: "held", icon: Hourglass },
  Suspended: { tone: "held", icon: CirclePause },
  Never: { tone: "idle", icon: CircleDashed, label: "Not connected yet" },
  waiting: { tone: "idle", icon: Hourglass, label: "Waiting" },
  skipped: { tone: "idle", icon: CircleDashed, label: "Skipped" },
  stopped: { tone: "idle", icon: Ban, label: "Stopped" },
  Unknown: { tone: "idle", icon: CircleHelp },
};

// statuses are all that have a look of their own.
export const statuses = Object.keys(table);

const unknown: Look = { tone: "idle", icon: CircleHelp };

// lookOf is how a status looks; texts from a cluster may be any word, such as one that every object of JavaScript has.
const lookOf = (status: string): Look => (Object.hasOwn(table, status) ? table[status] : undefined) ?? unknown;

export const toneOf = (status: string): Tone => lookOf(status).tone;
export const labelOf = (status: string): string => lookOf(status).label ?? status;

export const toneText: Record<Tone, string> = {
  ok: "text-ok",
  busy: "text-busy",
  warn: "text-warn",
  bad: "text-bad",
  idle: "text-idle",
  held: "text-held",
};

// wordOf is how the word beside a picture of a status looks: what is as it should be is calm, and what is broken stands out.
const wordOf: Record<Tone, string> = { ...toneText, ok: "text-text", idle: "text-muted", bad: "font-medium text-bad" };

export const toneFill: Record<Tone, string> = {
  ok: "bg-ok-fill",
  busy: "bg-busy-fill",
  warn: "bg-warn-fill",
  bad: "bg-bad-fill",
  idle: "bg-idle-fill",
  held: "bg-held-fill",
};

export const toneSoft: Record<Tone, string> = {
  ok: "bg-ok-soft text-ok",
  busy: "bg-busy-soft text-busy",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  idle: "bg-idle-soft text-idle",
  held: "bg-held-soft text-held",
};

// old is a status as it was reported last, by an agent that is away: it is grey.
export function StatusIcon({
  status,
  size = 14,
  old = false,
  className,
}: {
  status: string;
  size?: number;
  old?: boolean;
  className?: string;
}) {
  const { icon: Icon, tone } = lookOf(status);
  return (
    <Icon
      size={size}
      aria-label={labelOf(status)}
      role="img"
      className={cn(
        "shrink-0",
        toneText[old ? "idle" : tone],
        !old && Icon === LoaderCircle && "animate-spin",
        className,
      )}
    />
  );
}

// Status is a status with its picture and its word, never colour alone. One that is old is grey: asOf is the time that it is of.
export function Status({
  status,
  label,
  asOf,
  className,
}: {
  status: string;
  label?: string;
  asOf?: string | undefined;
  className?: string;
}) {
  const { icon: Icon, tone } = lookOf(status);
  const old = known(asOf);
  return (
    <span
      className={cn("inline-flex items-center gap-1.5 whitespace-nowrap", wordOf[old ? "idle" : tone], className)}
      {...(old ? { title: `As of ${exact(asOf)}`, "data-old": true } : {})}
    >
      <Icon
        size={14}
        aria-hidden
        className={cn("shrink-0", toneText[old ? "idle" : tone], !old && Icon === LoaderCircle && "animate-spin")}
      />
      {label ?? labelOf(status)}
    </span>
  );
}

// Badge is a short word on a ground of its tone.
export function Badge({
  tone = "idle",
  className,
  children,
}: {
  tone?: Tone;
  className?: string;
  children: React.ReactNode;
}) {
  return (
    <span
      className={cn(
        "inline-flex items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium whitespace-nowrap",
        toneSoft[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}
