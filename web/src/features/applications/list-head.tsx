import { Link } from "@tanstack/react-router";
import { Filter as FilterIcon, LayoutGrid, PanelLeft, Plus, Rows3, X } from "lucide-react";
import { count } from "@/lib/format";
import { cn } from "@/lib/cn";
import { Button, IconButton } from "@/ui/button";
import { labelOf } from "@/ui/status";
import { chips, type Filter, type Dimension } from "./filter";
import { SearchBox } from "./search-box";
import { Views } from "./views";
import { useAddress } from "./address";

export function Head(props: {
  at: ReturnType<typeof useAddress>;
  narrow: boolean;
  found: number | null;
  facets: boolean;
  onFacets: (to: boolean) => void;
  onSheet: () => void;
}) {
  const { at, narrow, found, facets, onFacets, onSheet } = props;
  const { filter } = at;
  const tiles = at.view === "tiles";
  return (
    <header className="flex flex-wrap items-center gap-2 p-3">
      {!narrow && (
        <IconButton
          label={facets ? "Hide the filters" : "Show the filters"}
          aria-expanded={facets}
          onClick={() => onFacets(!facets)}
        >
          <PanelLeft size={16} aria-hidden />
        </IconButton>
      )}
      <h1 className="mr-1 text-xl font-semibold">Applications</h1>
      <span role="status" className="text-muted tabular-nums">
        {found !== null && count(found)}
      </span>
      <SearchBox
        className="max-md:order-last max-md:basis-full"
        text={filter.search ?? ""}
        onText={(text) => at.setFilter({ ...filter, search: text }, true)}
      />
      <div className="ml-auto flex flex-wrap items-center gap-2">
        {narrow && (
          <Button onClick={onSheet}>
            <FilterIcon size={14} aria-hidden />
            Filters{chips(filter).length > 0 && ` (${chips(filter).length})`}
          </Button>
        )}
        <Views filter={filter} onApply={(f) => at.setFilter(f)} />
        {!narrow && <ShowAs tiles={tiles} onView={at.setView} />}
        <Button asChild look="primary">
          <Link to="/applications/new">
            <Plus size={14} aria-hidden />
            New
          </Link>
        </Button>
      </div>
    </header>
  );
}

function ShowAs({ tiles, onView }: { tiles: boolean; onView: (view: string) => void }) {
  return (
    <div role="group" aria-label="Show as" className="flex">
      <IconButton
        label="Table"
        aria-pressed={!tiles}
        className={cn(!tiles && "bg-accent-soft")}
        onClick={() => onView("")}
      >
        <Rows3 size={16} aria-hidden />
      </IconButton>
      <IconButton
        label="Tiles"
        aria-pressed={tiles}
        className={cn(tiles && "bg-accent-soft")}
        onClick={() => onView("tiles")}
      >
        <LayoutGrid size={16} aria-hidden />
      </IconButton>
    </div>
  );
}

export function Chips({
  filter,
  onRemove,
  onClear,
}: {
  filter: Filter;
  onRemove: (dimension: Dimension, value: string) => void;
  onClear: () => void;
}) {
  const list = chips(filter);
  if (list.length === 0) {
    return null;
  }
  return (
    <ul aria-label="Conditions" className="flex flex-wrap items-center gap-1.5 px-3 pb-2">
      {list.map((c) => (
        <li key={`${c.dimension} ${c.value}`}>
          <button
            type="button"
            aria-label={`Remove ${c.name} ${c.value}`}
            onClick={() => onRemove(c.dimension, c.value)}
            className="flex min-h-6 max-w-80 items-center gap-1 rounded-full bg-accent-soft px-2 py-0.5 text-sm text-accent hover:brightness-95"
          >
            <span className="truncate">{c.value === "true" ? c.name : `${c.name}: ${labelOf(c.value)}`}</span>
            <X size={12} aria-hidden className="shrink-0" />
          </button>
        </li>
      ))}
      <li>
        <Button small look="ghost" onClick={onClear}>
          Clear all
        </Button>
      </li>
    </ul>
  );
}
