import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Filter as FilterIcon, LayoutGrid, PanelLeft, Plus, Rows3, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { allQuery } from "@/lib/entity";
import { useFavourites } from "@/lib/favourites";
import { agents } from "@/lib/kinds";
import { useCommands } from "@/lib/palette";
import { queryClient } from "@/lib/query";
import { one, type Search } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { count, plural } from "@/lib/format";
import { cn } from "@/lib/cn";
import { Button, IconButton } from "@/ui/button";
import { copyText } from "@/ui/copy";
import { Drawer } from "@/ui/dialog";
import { JobDrawer } from "@/ui/job";
import { useTitle } from "@/ui/page";
import { Empty, ErrorNote, Failed, Loading, NoneYet, NoPermission } from "@/ui/states";
import { toast } from "@/ui/toast";
import { labelOf } from "@/ui/status";
import { Bulk } from "./bulk";
import { pageQuery, useList, useLive, useNext, useSeen, useSummaries } from "./data";
import { FacetPanel } from "./facet-panel";
import { Favourites } from "./favourites";
import { chips, type Filter, filterOf, narrows, searchOf, sortOf, toggle, defaultSort, type Dimension } from "./filter";
import type { Actions } from "./row";
import { SearchBox } from "./search-box";
import { useSelecting } from "./selecting";
import { everything, flip, nothing, type Selection, sizeOf, targetOf } from "./selection";
import { ApplicationTiles, ApplicationsTable } from "./table";
import { Views } from "./views";

type Doing = { action: "sync" | "refresh" | "hard-refresh" | "rollback"; selection: Selection };

// useAddress reads the filter from the address and writes it there; what is not the filter stays.
function useAddress() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const text = JSON.stringify([searchOf(filterOf(search)), sortOf(search)]);
  // The same filter is the same object, so that nothing is read again for a drawer that opens.
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- text says what of the address counts
  const { filter, sort } = useMemo(() => ({ filter: filterOf(search), sort: sortOf(search) }), [text]);
  const keep = { view: one(search, "view"), sort: one(search, "sort") };
  const go = (next: Search, replace = false) => void navigate({ to: "/applications", search: next as never, replace });
  return {
    filter,
    sort,
    view: one(search, "view"),
    job: one(search, "job"),
    setFilter: (next: Filter, replace = false) => {
      // The first rows are on their way before the address has changed.
      void queryClient.prefetchQuery(pageQuery(filterOf(searchOf(next)), sort, 1));
      go({ ...keep, ...searchOf(next) }, replace);
    },
    setSort: (next: string) => go({ ...keep, ...searchOf(filter), sort: next === defaultSort ? "" : next }, true),
    setView: (next: string) => go({ ...keep, ...searchOf(filter), view: next }, true),
    setJob: (next: string) => go({ ...keep, ...searchOf(filter), job: next }),
  };
}

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia("(max-width: 767px)").matches);
  useEffect(() => {
    const media = matchMedia("(max-width: 767px)");
    const look = () => setNarrow(media.matches);
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, []);
  return narrow;
}

export default function Applications() {
  const missing = useMissing("application_view");
  useTitle("Applications");
  return missing ? <NoPermission why={missing} /> : <List />;
}

// useListCommands offers what can be done with the list in the palette.
function useListCommands(setFilter: (filter: Filter) => void, syncAll: () => void) {
  const missingSync = useMissing("application_sync");
  useCommands([
    {
      id: "applications.bad",
      group: "Applications",
      title: "Show what is degraded or missing",
      run: () => setFilter({ health: ["Degraded", "Missing"] }),
    },
    {
      id: "applications.drift",
      group: "Applications",
      title: "Show what is out of sync",
      run: () => setFilter({ sync: ["OutOfSync"] }),
    },
    {
      id: "applications.all.sync",
      group: "Applications",
      title: "Sync all that match the filter",
      ...(missingSync ? { disabled: missingSync } : {}),
      run: syncAll,
    },
  ]);
}

// useFacetsShown is whether the facets are beside the list, as they were left.
function useFacetsShown(): [boolean, (to: boolean) => void] {
  const [shown, setShown] = useState(() => localStorage.getItem("slipway.facets.shown") !== "no");
  return [
    shown,
    (to) => {
      localStorage.setItem("slipway.facets.shown", to ? "yes" : "no");
      setShown(to);
    },
  ];
}

function Head(props: {
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

function List() {
  const at = useAddress();
  const { filter, sort } = at;
  const navigate = useNavigate();
  const narrow = useNarrow();
  const total = useRef(0);
  const [pages, onSeen] = useSeen(total);
  const list = useList(filter, sort, pages);
  total.current = list.total;
  const { summaries } = useSummaries(filter);
  useLive(filter, sort);
  useNext(list.loaded);
  const { selection, setSelection, onToggle } = useSelecting(list);
  const [doing, setDoing] = useState<Doing | null>(null);
  const [facets, showFacets] = useFacetsShown();
  const [sheet, setSheet] = useState(false);
  const favourites = useFavourites();
  const actions: Actions = useMemo(
    () => ({
      open: (id) => void navigate({ to: "/applications/$agent/$namespace/$name", params: targetOf(id) }),
      sync: (id) => setDoing({ action: "sync", selection: flip(nothing, id, 0) }),
      refresh: (id) => setDoing({ action: "refresh", selection: flip(nothing, id, 0) }),
      star: favourites.toggle,
      copy: (a) => void copyText(a.name).then(() => toast(`${a.name} is copied`)),
    }),
    [navigate, favourites.toggle],
  );
  const setFilter = useRef(at.setFilter);
  setFilter.current = at.setFilter;
  const pick = useCallback(
    (dimension: Dimension, value: string) => setFilter.current(toggle(filter, dimension, value)),
    [filter],
  );
  const apply = useCallback((next: Filter) => setFilter.current(next), []);
  const clear = () => apply({});
  const tiles = narrow || at.view === "tiles";
  const waiting = list.filter !== filter || list.sort !== sort;
  useListCommands(at.setFilter, () => setDoing({ action: "sync", selection: everything }));
  const panel = <FacetPanel filter={filter} summaries={summaries} onToggle={pick} onFilter={apply} />;
  const grid = { list, selection, actions, onSeen, onSort: at.setSort, onToggle, stale: waiting };
  return (
    <div className="flex h-full min-w-0">
      {facets && !narrow && (
        <aside aria-label="Filters" className="w-56 shrink-0 overflow-y-auto border-r bg-surface">
          {panel}
        </aside>
      )}
      <div className="flex min-w-0 flex-1 flex-col">
        <Head
          at={at}
          narrow={narrow}
          found={list.loaded ? list.total : null}
          facets={facets}
          onFacets={showFacets}
          onSheet={() => setSheet(true)}
        />
        <Favourites />
        <Chips filter={filter} onRemove={pick} onClear={clear} />
        <SelectionBar
          selection={selection}
          total={list.total}
          onAll={() => setSelection(everything)}
          onNone={() => setSelection(nothing)}
          onDo={(action) => setDoing({ action, selection })}
        />
        {list.error != null && list.loaded && <ErrorNote error={list.error} className="mx-3 mb-2" />}
        {list.loaded ? (
          list.total === 0 ? (
            <None filter={list.filter} onClear={clear} />
          ) : (
            <div className={cn("flex min-h-0 flex-1 flex-col border-t bg-surface", tiles && "bg-ground")}>
              {tiles ? (
                <ApplicationTiles {...grid} onAll={() => undefined} />
              ) : (
                <ApplicationsTable
                  {...grid}
                  onAll={() => setSelection(selection.all || selection.ids.size > 0 ? nothing : everything)}
                />
              )}
            </div>
          )
        ) : list.error != null ? (
          <Failed error={list.error} retry={list.retry} />
        ) : (
          <Loading rows={14} label="Reading the applications" />
        )}
      </div>
      <Drawer open={sheet && narrow} onClose={() => setSheet(false)} title="Filters" className="max-w-sm">
        {panel}
      </Drawer>
      {doing && (
        <Bulk
          {...doing}
          filter={filter}
          onClose={() => setDoing(null)}
          onStarted={(job) => {
            setDoing(null);
            setSelection(nothing);
            at.setJob(job);
          }}
        />
      )}
      <JobDrawer id={at.job} onClose={() => at.setJob("")} onJob={at.setJob} />
    </div>
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

function Chips({
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

function SelectionBar({
  selection,
  total,
  onAll,
  onNone,
  onDo,
}: {
  selection: Selection;
  total: number;
  onAll: () => void;
  onNone: () => void;
  onDo: (action: Doing["action"]) => void;
}) {
  const missing = useMissing("application_sync");
  const size = sizeOf(selection, total);
  if (size === 0) {
    return null;
  }
  return (
    <div
      role="region"
      aria-label="Selection"
      className="flex flex-wrap items-center gap-2 border-t bg-accent-soft px-3 py-1.5"
    >
      <span role="status" className="font-medium">
        {selection.all && size === total
          ? `All ${plural(size, "application")} that match`
          : `${plural(size, "application")} selected`}
      </span>
      {size < total && (
        <Button small look="ghost" onClick={onAll}>
          Select all {count(total)} that match
        </Button>
      )}
      <Button small look="ghost" onClick={onNone}>
        Select none
      </Button>
      <div className="ml-auto flex flex-wrap gap-2">
        <Button small look="primary" why={missing} onClick={() => onDo("sync")}>
          Sync
        </Button>
        <Button small onClick={() => onDo("refresh")}>
          Refresh
        </Button>
        <Button small onClick={() => onDo("hard-refresh")}>
          Hard refresh
        </Button>
        <Button small why={missing} onClick={() => onDo("rollback")}>
          Roll back
        </Button>
      </div>
    </div>
  );
}

function None({ filter, onClear }: { filter: Filter; onClear: () => void }) {
  const known = useQuery({ ...allQuery(agents), enabled: !useMissing("agent_view") });
  const first = known.data?.length === 0;
  if (narrows(filter)) {
    return (
      <Empty
        filtered
        title="No application matches"
        action={
          <Button look="primary" onClick={onClear}>
            Clear the filter
          </Button>
        }
      >
        Nothing that you may see has all of these conditions.
      </Empty>
    );
  }
  return (
    <NoneYet
      many="applications"
      permission="application_view"
      title="There are no applications yet"
      action={
        <>
          {!first && (
            <Button asChild look="primary">
              <Link to="/applications/new">Create an application</Link>
            </Button>
          )}
          <Button asChild look={first ? "primary" : "plain"}>
            <Link to="/agents/connect">Connect an agent</Link>
          </Button>
        </>
      }
    >
      An agent keeps applications in its cluster at what Git says. Those that are in a connected cluster already show up
      here by themselves.
    </NoneYet>
  );
}
