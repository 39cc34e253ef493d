import { ChevronDown, ChevronRight } from "lucide-react";
import { memo, useState } from "react";
import { cn } from "@/lib/cn";
import { count } from "@/lib/format";
import { labelOf, StatusIcon } from "@/ui/status";
import { Loading } from "@/ui/states";
import { type Facet, facets, type Option, optionsOf, others, type Summaries } from "./facets";
import { chosen, type Dimension, type Filter, without } from "./filter";

interface Props {
  filter: Filter;
  summaries: Summaries | undefined;
  onToggle: (dimension: Dimension, value: string) => void;
  onFilter: (filter: Filter) => void;
}

const few = 7;
const key = "slipway.facets";
const statuses = new Set<Dimension>(["health", "sync", "phase", "attention"]);

function remembered(): Record<string, boolean> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "{}") as Record<string, boolean>;
  } catch {
    return {};
  }
}

// FacetPanel counts the applications by what they are and how they are; a click keeps those with a value.
export const FacetPanel = memo(function FacetPanel({ filter, summaries, onToggle, onFilter }: Props) {
  const [open, setOpen] = useState(remembered);
  if (!summaries) {
    return <Loading rows={12} label="Counting" />;
  }
  const fold = (facet: Facet, to: boolean) => {
    const next = { ...open, [facet.dimension]: to };
    localStorage.setItem(key, JSON.stringify(next));
    setOpen(next);
  };
  return (
    <div className="space-y-1 py-1">
      {facets.map((facet) => {
        const n = chosen(filter, facet.dimension).length;
        const shown = open[facet.dimension] ?? (facet.open || n > 0);
        return (
          <section key={facet.dimension}>
            <h3 className="flex items-center gap-1 px-2">
              <button
                type="button"
                aria-expanded={shown}
                onClick={() => fold(facet, !shown)}
                className="flex min-h-7 min-w-0 flex-1 items-center gap-1 text-left text-sm font-medium"
              >
                {shown ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
                {facet.title}
              </button>
              {n > 0 && (
                <button
                  type="button"
                  className="min-h-6 px-1 text-xs text-accent hover:underline"
                  aria-label={`Clear ${facet.title}`}
                  onClick={() => onFilter(without(filter, facet.dimension))}
                >
                  Clear
                </button>
              )}
            </h3>
            {shown && (
              <Options
                facet={facet}
                options={optionsOf(facet, filter, summaries)}
                more={others(facet, summaries)}
                onToggle={onToggle}
              />
            )}
          </section>
        );
      })}
    </div>
  );
});

function Options({
  facet,
  options,
  more,
  onToggle,
}: {
  facet: Facet;
  options: Option[];
  more: number;
  onToggle: (dimension: Dimension, value: string) => void;
}) {
  const [all, setAll] = useState(false);
  const shown = all ? options : options.filter((o, i) => i < few || o.on);
  const most = Math.max(1, ...options.map((o) => o.count));
  if (options.length === 0) {
    return <p className="px-3 pb-1 text-sm text-muted">None</p>;
  }
  return (
    <>
      <ul>
        {shown.map((o) => (
          <li key={`${o.dimension} ${o.value}`}>
            <button
              type="button"
              aria-pressed={o.on}
              title={o.label}
              onClick={() => onToggle(o.dimension, o.value)}
              className={cn(
                "relative flex min-h-6 w-full items-center gap-1.5 px-3 text-left text-sm hover:bg-idle-soft",
                o.on && "bg-accent-soft font-medium text-accent hover:bg-accent-soft",
                o.count === 0 && !o.on && "text-muted",
              )}
            >
              {statuses.has(facet.dimension) && <StatusIcon status={o.value} size={13} />}
              <span className="min-w-0 flex-1 truncate">{labelOf(o.label)}</span>
              <span className="tabular-nums">{count(o.count)}</span>
              <span
                aria-hidden
                className="absolute bottom-0 left-3 h-0.5 rounded-full bg-line"
                style={{ width: `calc((100% - 1.5rem) * ${o.count / most})` }}
              />
            </button>
          </li>
        ))}
      </ul>
      {options.length > few && (
        <button type="button" className="min-h-6 px-3 text-sm text-accent hover:underline" onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show all ${options.length}`}
        </button>
      )}
      {all && more > 0 && (
        <p className="px-3 text-xs text-muted">{count(more)} have a value that is not listed: search for it.</p>
      )}
    </>
  );
}
