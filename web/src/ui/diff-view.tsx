import { useMemo, useState } from "react";
import { cn } from "@/lib/cn";
import { type Line, pairs, parseUnified } from "@/lib/diff-text";
import { count } from "@/lib/format";
import { Button } from "./button";

const grounds = { same: "", gap: "bg-idle-soft text-muted", out: "bg-bad-soft", in: "bg-ok-soft" };
const signs = { same: " ", gap: "", out: "-", in: "+" };
const most = 400; // lines that are shown before the user requests all

// DiffView is one unified diff, one below the other or side by side.
export function DiffView({
  text,
  label,
  split = false,
  className,
}: {
  text: string;
  label: string;
  split?: boolean;
  className?: string;
}) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => parseUnified(text), [text]);
  const rows = useMemo(() => (split ? pairs(lines) : lines.map((l) => ({ left: l, right: l }))), [lines, split]);
  const seen = all ? rows : rows.slice(0, most);
  return (
    <div className={className}>
      <div tabIndex={0} role="region" aria-label={label} className="overflow-auto rounded-md border bg-ground">
        <table className="w-full border-collapse font-mono text-sm leading-5">
          <tbody>
            {seen.map((row, i) =>
              split ? (
                <tr key={i}>
                  <Cells line={row.left} number={row.left?.before} half />
                  <Cells line={row.right} number={row.right?.after} half />
                </tr>
              ) : (
                <tr key={i} className={grounds[(row.left as Line).kind]}>
                  <Number n={row.left?.before} />
                  <Cells line={row.left} number={row.left?.after} />
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
      {!all && rows.length > most && (
        <Button small className="mt-1" onClick={() => setAll(true)}>
          Show all {count(rows.length)} lines
        </Button>
      )}
    </div>
  );
}

function Number({ n }: { n: number | undefined }) {
  return <td className="w-10 px-1.5 text-right align-top text-xs text-muted select-none">{n || ""}</td>;
}

function Cells({ line, number, half = false }: { line: Line | undefined; number: number | undefined; half?: boolean }) {
  const ground = half && line ? grounds[line.kind] : "";
  return (
    <>
      <td className={cn("w-10 px-1.5 text-right align-top text-xs text-muted select-none", ground)}>{number || ""}</td>
      <td className={cn("px-2", half ? "w-1/2 break-all whitespace-pre-wrap" : "whitespace-pre", ground)}>
        {line && (line.kind === "gap" ? "⋯" : `${half ? "" : `${signs[line.kind]} `}${line.text}`)}
      </td>
    </>
  );
}
