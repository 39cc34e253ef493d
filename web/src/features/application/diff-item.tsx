import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { sentence } from "@/lib/format";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Copy } from "@/ui/copy";
import { Badge } from "@/ui/status";
import { counts, parseUnified } from "@/lib/diff-text";
import { DiffView } from "@/ui/diff-view";
import { type FieldDiff, type ObjectDiff, owner, text } from "./drift";
import { person, placeOf } from "./resource";
import { Verb } from "./steps";

export type DriftAnswer = "revert" | "adopt" | "allow";

// DiffItem is what differs in one object, who has set it, and what to answer to that.
export function DiffItem({
  item,
  split,
  open: begin,
  why,
  onAnswer,
}: {
  item: ObjectDiff;
  split: boolean;
  open: boolean;
  why: (answer: "revert" | "allow") => string | undefined;
  onAnswer: ((answer: DriftAnswer) => void) | undefined;
}) {
  const [open, setOpen] = useState(begin);
  const lines = useMemo(() => counts(parseUnified(item.diff)), [item.diff]);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <li className="rounded-lg border bg-surface">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-w-0 flex-1 basis-64 items-center gap-2 text-left"
        >
          <Chevron size={15} aria-hidden className="shrink-0 text-muted" />
          <Verb verb={item.verb} />
          <span className="min-w-0 font-medium break-all">{placeOf(item)}</span>
          <span className="shrink-0 text-sm">
            <span className="text-ok">+{lines.added}</span> <span className="text-bad">−{lines.removed}</span>
          </span>
        </button>
        {item.allowed && (
          <Badge tone="held">
            Allowed until <Ago at={item.allowed.until} ahead />
          </Badge>
        )}
        <Copy text={item.diff} label={`Copy the difference of ${placeOf(item)}`} />
        {onAnswer && (
          <span className="flex gap-1.5">
            <Button small why={why("revert")} onClick={() => onAnswer("revert")}>
              Revert…
            </Button>
            <Button small onClick={() => onAnswer("adopt")}>
              Adopt in Git…
            </Button>
            <Button small why={why("allow")} onClick={() => onAnswer("allow")}>
              Allow…
            </Button>
          </span>
        )}
      </div>
      {open && (
        <div className="space-y-3 border-t p-3">
          {item.error && <p className="break-words text-bad">{sentence(item.error)}</p>}
          {item.allowed?.reason && (
            <p className="text-sm text-muted">
              Allowed{item.allowed.by ? ` by ${person(item.allowed.by)}` : ""}: {item.allowed.reason}
            </p>
          )}
          {item.diff && <DiffView text={item.diff} split={split} label={`Difference of ${placeOf(item)}`} />}
          {(item.fields?.length ?? 0) > 0 && <Fields fields={item.fields ?? []} label={placeOf(item)} />}
        </div>
      )}
    </li>
  );
}

const most = 100; // fields that are shown

function Fields({ fields, label }: { fields: FieldDiff[]; label: string }) {
  return (
    <div tabIndex={0} role="region" aria-label={`Fields of ${label}`} className="overflow-auto">
      <table className="w-full min-w-max text-sm">
        <thead>
          <tr className="border-b text-left text-muted">
            {["Field", "In the cluster", "Wanted", "Set by", "Since"].map((h) => (
              <th key={h} scope="col" className="px-2 py-1 font-medium">
                {h}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {fields.slice(0, most).map((f) => (
            <tr key={f.path} className="border-b align-top last:border-b-0">
              <td className="px-2 py-1 font-mono">
                {f.path} {f.ignored && <Badge>Ignored</Badge>}
              </td>
              <Value value={f.live} />
              <Value value={f.wanted} />
              <td className="px-2 py-1">{owner(f) || <span className="text-muted">unknown</span>}</td>
              <td className="px-2 py-1 text-muted">{known(f.since) && <Ago at={f.since} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {fields.length > most && (
        <p className="p-2 text-muted">and {fields.length - most} more fields: see the difference</p>
      )}
    </div>
  );
}

function Value({ value }: { value: unknown }) {
  const told = text(value);
  return (
    <td className="max-w-72 truncate px-2 py-1 font-mono" title={told}>
      {told || <span className="font-sans text-muted">none</span>}
    </td>
  );
}
