import { ApplicationTiles } from "./tiles";
import { allQuery } from "@/lib/entity";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import { useFavourites } from "@/lib/favourites";
import { agents } from "@/lib/kinds";
import { useMissing } from "@/lib/session";
import { cn } from "@/lib/cn";
import { Button } from "@/ui/button";
import { copyText } from "@/ui/copy";
import { Drawer } from "@/ui/dialog";
import { JobDrawer } from "@/ui/job";
import { useTitle } from "@/ui/page";
import { Empty, ErrorNote, Failed, Loading, NoneYet, NoPermission } from "@/ui/states";
import { toast } from "@/ui/toast";
import { Bulk } from "./bulk";
import { useList, useLive, useNext, useSeen, useSummaries } from "./data";
import { FacetPanel } from "./facet-panel";
import { Favourites } from "./favourites";
import { type Filter, narrows, toggle, type Dimension } from "./filter";
import type { Actions } from "./row-parts";
import { useSelecting } from "./selecting";
import { everything, flip, nothing, targetOf } from "./selection";
import { ApplicationsTable } from "./table";
import { useAddress, useNarrow, useListCommands, useFacetsShown } from "./address";
import { Head, Chips } from "./list-head";
import { type Doing, SelectionBar } from "./selection-bar";

export default function Applications() {
  const missing = useMissing("application_view");
  useTitle("Applications");
  return missing ? <NoPermission why={missing} /> : <List />;
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
        No application that you may view matches all of these conditions.
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
      An agent keeps applications in its cluster in sync with Git. Existing applications of a connected cluster appear
      here automatically.
    </NoneYet>
  );
}
