import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { cn } from "@/lib/cn";
import { plural, short } from "@/lib/format";
import type { Preview } from "@/lib/preview";
import { Card } from "./page";
import { Badge, type Tone } from "./status";

const tones: Record<string, Tone> = { create: "ok", update: "warn", delete: "bad", error: "bad", keep: "idle" };
const words: Record<string, string> = {
  create: "create",
  update: "change",
  delete: "delete",
  error: "refused",
  keep: "as it is",
};

// PreviewCard shows what an application would do, first what it would change. old is true where the draft has changed since.
export function PreviewCard({
  preview: p,
  old = false,
  title = "Preview",
}: {
  preview: Preview;
  old?: boolean;
  title?: string;
}) {
  const [all, setAll] = useState(false);
  const objects = useMemo(() => {
    const some = p.objects ?? [];
    return [...some.filter((o) => o.verb !== "keep"), ...some.filter((o) => o.verb === "keep")];
  }, [p.objects]);
  const shown = all ? objects : objects.slice(0, 200);
  return (
    <Card
      title={title}
      actions={
        <span className="flex flex-wrap gap-1.5">
          {old && <Badge tone="warn">The draft has changed since</Badge>}
          <Badge tone="ok">{p.counts.create} create</Badge>
          <Badge tone="warn">{p.counts.update} change</Badge>
          <Badge tone="bad">{p.counts.delete} delete</Badge>
          {(p.counts.error ?? 0) > 0 && <Badge tone="bad">{p.counts.error} refused</Badge>}
          <Badge>{p.counts.unchanged} as they are</Badge>
        </span>
      }
      flush
    >
      <div role="status" className="border-b px-4 py-2">
        {p.valid ? `It can be deployed: ${plural(objects.length, "object")}` : "It cannot be deployed"}
        {(p.revisions ?? []).filter(Boolean).length > 0 && (
          <> from {p.revisions?.filter(Boolean).map(short).join(", ")}</>
        )}
        .
        {(p.problems ?? []).length > 0 && (
          <ul className="mt-1">
            {p.problems?.map((problem, i) => (
              <li key={i} className={problem.level === "warning" ? "text-warn" : "text-bad"}>
                {problem.field && <code>{problem.field}: </code>}
                {problem.message}
              </li>
            ))}
          </ul>
        )}
        {(p.warnings ?? []).map((w) => (
          <p key={w} className="text-warn">
            {w}
          </p>
        ))}
      </div>
      <ul className="max-h-[60vh] overflow-auto">
        {shown.map((o) => (
          <Item key={`${o.group}/${o.kind}/${o.namespace}/${o.name}`} object={o} />
        ))}
        {shown.length < objects.length && (
          <li className="p-3">
            <button type="button" className="text-accent underline" onClick={() => setAll(true)}>
              Show all {objects.length}
            </button>
          </li>
        )}
      </ul>
    </Card>
  );
}

function Item({ object: o }: { object: NonNullable<Preview["objects"]>[number] }) {
  const [open, setOpen] = useState(false);
  const detail = o.error || o.diff;
  return (
    <li className="border-b last:border-0">
      <button
        type="button"
        disabled={!detail}
        aria-expanded={detail ? open : undefined}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 px-4 py-1.5 text-left hover:bg-idle-soft disabled:hover:bg-transparent"
      >
        {detail ? (
          open ? (
            <ChevronDown size={14} aria-hidden />
          ) : (
            <ChevronRight size={14} aria-hidden />
          )
        ) : (
          <span className="w-3.5" />
        )}
        <Badge tone={tones[o.verb] ?? "idle"}>{words[o.verb] ?? o.verb}</Badge>
        <span className="min-w-0 truncate">
          {o.kind} <span className="font-medium">{o.name}</span>{" "}
          {o.namespace && <span className="text-muted">in {o.namespace}</span>}
        </span>
        {o.hook && <Badge tone="held">{o.hook} hook</Badge>}
        {o.wave !== 0 && <Badge>wave {o.wave}</Badge>}
      </button>
      {open && o.error && <p className="px-10 pb-3 break-words text-bad">{o.error}</p>}
      {open && o.diff && <Diff text={o.diff} />}
    </li>
  );
}

function Diff({ text }: { text: string }) {
  return (
    <pre
      tabIndex={0}
      aria-label="What would change"
      className="mx-4 mb-3 max-h-96 overflow-auto rounded-md border bg-ground py-2 font-mono text-sm"
    >
      {text.split("\n").map((line, i) => (
        <div
          key={i}
          className={cn(
            "px-3",
            line.startsWith("+") && !line.startsWith("+++") && "bg-ok-soft",
            line.startsWith("-") && !line.startsWith("---") && "bg-bad-soft",
            line.startsWith("@@") && "text-muted",
          )}
        >
          {line || " "}
        </div>
      ))}
    </pre>
  );
}
