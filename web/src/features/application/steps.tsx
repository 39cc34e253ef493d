import {
  ArrowRight,
  Ban,
  CircleCheck,
  CircleDashed,
  CircleX,
  LoaderCircle,
  type LucideIcon,
  Minus,
  Pencil,
  Plus,
  Zap,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { cn } from "@/lib/cn";
import { plural } from "@/lib/format";
import { type Tone, toneText } from "@/ui/status";
import { placeOf } from "./resource";
import type { State } from "./timeline";

const verbs: Record<string, { icon: LucideIcon; tone: Tone; label: string }> = {
  create: { icon: Plus, tone: "ok", label: "create" },
  update: { icon: Pencil, tone: "busy", label: "change" },
  apply: { icon: ArrowRight, tone: "busy", label: "apply" },
  delete: { icon: Minus, tone: "bad", label: "delete" },
  keep: { icon: Ban, tone: "idle", label: "left" },
  hook: { icon: Zap, tone: "held", label: "hook" },
};

// Verb is what is done with an object.
export function Verb({ verb }: { verb: string }) {
  const known = verbs[verb];
  if (!known) {
    return null;
  }
  return (
    <span className={cn("inline-flex w-18 shrink-0 items-center gap-1 text-sm", toneText[known.tone])}>
      <known.icon size={13} aria-hidden />
      {known.label}
    </span>
  );
}

const states: Record<State, { icon: LucideIcon; tone: Tone; label: string }> = {
  done: { icon: CircleCheck, tone: "ok", label: "Done" },
  running: { icon: LoaderCircle, tone: "busy", label: "Running" },
  waiting: { icon: CircleDashed, tone: "idle", label: "Pending" },
  failed: { icon: CircleX, tone: "bad", label: "Failed" },
  skipped: { icon: Ban, tone: "idle", label: "Kept" },
};

// StateIcon is how far something is.
export function StateIcon({ state }: { state: State }) {
  const { icon: Icon, tone, label } = states[state];
  return (
    <Icon
      size={14}
      role="img"
      aria-label={label}
      className={cn("shrink-0", toneText[tone], state === "running" && "animate-spin")}
    />
  );
}

const most = 100; // items of one wave that are shown together

export interface Group<T> {
  phase: string;
  waves: { wave: number; items: T[] }[];
}

// Waves shows phases and their waves, one after the other, as an operation goes through them.
export function Waves<T>({
  phases,
  label,
  mark,
  item,
}: {
  phases: Group<T>[];
  label: string;
  mark?: (items: T[]) => ReactNode;
  item: (item: T) => ReactNode;
}) {
  return (
    <ol aria-label={label} className="space-y-3">
      {phases.map((phase) => (
        <li key={phase.phase} className="rounded-lg border bg-surface">
          <h3 className="flex items-center gap-2 border-b px-3 py-2 font-semibold">
            {mark?.(phase.waves.flatMap((w) => w.items))}
            {phase.phase}
            <span className="text-sm font-normal text-muted">{aboutPhase[phase.phase]}</span>
          </h3>
          <ol>
            {phase.waves.map((wave) => (
              <li key={wave.wave} className="border-b px-3 py-2 last:border-b-0">
                <Wave wave={wave.wave} items={wave.items} mark={mark} item={item} alone={phase.waves.length === 1} />
              </li>
            ))}
          </ol>
        </li>
      ))}
    </ol>
  );
}

const aboutPhase: Record<string, string> = {
  PreSync: "before anything is applied",
  PostSync: "when all is applied and healthy",
  SyncFail: "only after a failure",
};

function Wave<T>({
  wave,
  items,
  mark,
  item,
  alone,
}: {
  wave: number;
  items: T[];
  mark: ((items: T[]) => ReactNode) | undefined;
  item: (item: T) => ReactNode;
  alone: boolean;
}) {
  const [all, setAll] = useState(false);
  return (
    <>
      {(!alone || wave !== 0) && (
        <h4 className="mb-1 flex items-center gap-2 text-sm font-medium">
          {mark?.(items)}
          Wave {wave}
          <span className="font-normal text-muted">{plural(items.length, "object")}</span>
        </h4>
      )}
      <ul className="space-y-0.5">{(all ? items : items.slice(0, most)).map(item)}</ul>
      {!all && items.length > most && (
        <button type="button" className="mt-1 text-sm text-accent hover:underline" onClick={() => setAll(true)}>
          Show all {items.length}
        </button>
      )}
    </>
  );
}

// Line is one object of a plan or timeline.
export function Line({
  object,
  before,
  note,
  bad,
  children,
}: {
  object: { kind: string; namespace?: string; name: string };
  before: ReactNode;
  note?: string | undefined;
  bad?: boolean;
  children?: ReactNode;
}) {
  return (
    <li>
      <div className="flex min-w-0 flex-wrap items-baseline gap-x-2">
        <span className="self-center">{before}</span>
        <span className="min-w-0 break-all">{placeOf(object)}</span>
        {note && <span className={cn("min-w-0 text-sm break-words", bad ? "text-bad" : "text-muted")}>{note}</span>}
      </div>
      {children}
    </li>
  );
}
