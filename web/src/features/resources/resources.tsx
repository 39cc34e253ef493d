import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useMemo } from "react";
import { type App, detailQuery, pathOf, useApp } from "@/lib/application";
import { useAddress } from "@/lib/navigate";
import { many, one } from "@/lib/search";
import { Button } from "@/ui/button";
import { useTitle } from "@/ui/page";
import { Empty, Failed, Skeleton } from "@/ui/states";
import { Family } from "./family-tree";
import { filters, narrow, readFilter } from "./filter";
import { fold } from "./group";
import { place } from "./layout";
import { ResourceList } from "./list";
import { forest } from "./model";
import { network } from "./network";
import { Pods } from "./pods";
import { Toolbar, viewOf } from "./toolbar";
import { useTree } from "./tree";
import type { Tree } from "./tree-stream";

// The renderer of graphs is large, and so is what a drawer shows: both come when they are needed.
const drawing = () => import("./graph");
const Graph = lazy(drawing);
const ResourceDrawer = lazy(() => import("./drawer"));

const frame = "h-[max(24rem,calc(100dvh-26.5rem))] overflow-hidden rounded-lg border bg-ground";

const Waiting = () => (
  <div role="status" aria-label="Loading the objects" className={frame}>
    <div className="grid gap-4 p-6 sm:grid-cols-3">
      {Array.from({ length: 9 }, (_, i) => (
        <Skeleton key={i} className="h-14" />
      ))}
    </div>
  </div>
);

// Resources shows the objects of an application and what they own: as a graph, by the ways of traffic, as a list, or its pods by
// the nodes that they run on.
export default function Resources() {
  const app = useApp();
  useTitle(app.name);
  const tree = useTree(app);
  const [search] = useAddress();
  const drawn = ["graph", "network"].includes(viewOf(one(search, "view")));
  useEffect(() => {
    if (drawn) {
      drawing().catch(() => undefined); // beside the objects; its error is shown where it is drawn
    }
  }, [drawn]);
  if (!tree.data) {
    return tree.error ? <Failed error={tree.error} retry={() => void tree.refetch()} /> : <Waiting />;
  }
  return <Shown app={app} tree={tree.data} live={tree.live} old={tree.old} />;
}

function Shown({ app, tree, live, old }: { app: App; tree: Tree; live: boolean; old: boolean }) {
  const [search, set] = useAddress();
  const view = viewOf(one(search, "view"));
  const filter = useMemo(() => readFilter(search), [search]);
  const whole = useMemo(() => forest(tree.nodes), [tree.nodes]);
  const shown = useMemo(() => narrow(whole, filter), [whole, filter]);
  const hits = useMemo(() => tree.nodes.filter((n) => shown.nodes.has(n.id) && !shown.dim.has(n.id)), [tree, shown]);
  const chosen = one(search, "resource");
  const open = useCallback((id: string) => set({ resource: id, tab: undefined }, false), [set]);
  const clear = () => set({ kind: undefined, health: undefined, sync: undefined, q: undefined });
  return (
    <section aria-label="Resources" className="min-w-0 space-y-3">
      <Toolbar view={view} filter={filter} set={set} nodes={tree.nodes} hits={shown.hits} live={live} old={old} />
      {tree.warnings.length > 0 && (
        <div role="status">
          <ul className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
            {tree.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </div>
      )}
      {/* Colours say how something is now. */}
      <div className={old ? "grayscale" : undefined} data-old={old || undefined}>
        {tree.nodes.length === 0 ? (
          <NoObjects app={app} />
        ) : shown.hits === 0 ? (
          <Empty
            filtered
            title="No object matches"
            action={filters(filter) && <Button onClick={clear}>Clear filters</Button>}
          />
        ) : view === "list" ? (
          <ResourceList
            nodes={hits}
            sort={one(search, "sort")}
            onSort={(sort) => set({ sort })}
            chosen={chosen}
            onOpen={open}
          />
        ) : view === "applications" ? (
          <Family app={app} />
        ) : view === "pods" ? (
          <Pods nodes={hits} chosen={chosen} onOpen={open} />
        ) : (
          <Drawn key={view} app={app} view={view} shown={shown} chosen={chosen} onOpen={open} />
        )}
      </div>
      {chosen && (
        <Suspense fallback={null}>
          <ResourceDrawer
            app={app}
            id={chosen}
            tree={whole}
            tab={one(search, "tab")}
            onTab={(tab) => set({ tab })}
            onOpen={open}
            onClose={() => set({ resource: undefined, tab: undefined, container: undefined })}
          />
        </Suspense>
      )}
    </section>
  );
}

// NoObjects says why there are none: a sync makes some only where the source can be read.
function NoObjects({ app }: { app: App }) {
  const { data: detail } = useQuery(detailQuery(app));
  if (detail?.sync !== "Unknown") {
    return <Empty title="No objects yet">Sync the application to create the objects of its source.</Empty>;
  }
  return (
    <Empty
      title="No objects are known"
      action={
        <Button asChild>
          <Link to="/applications/$agent/$namespace/$name/why" params={pathOf(app)}>
            See why
          </Link>
        </Button>
      }
    >
      The agent could not compare the source of this application with the cluster.
    </Empty>
  );
}

function Drawn({
  app,
  view,
  shown,
  chosen,
  onOpen,
}: {
  app: App;
  view: "graph" | "network";
  shown: ReturnType<typeof narrow>;
  chosen: string;
  onOpen: (id: string) => void;
}) {
  const [search, set] = useAddress();
  const { data: detail } = useQuery(detailQuery(app));
  const unfolded = many(search, "unfold").join("\n");
  const layout = useMemo(() => {
    const open = new Set(unfolded ? unfolded.split("\n") : []);
    return view === "graph" ? place(fold(shown, open)) : network([...shown.nodes.values()], open);
  }, [view, shown, unfolded]);
  const { name } = app;
  const { health = "", sync = "" } = detail ?? {};
  const root = useMemo(() => ({ name, health, sync }), [name, health, sync]);
  const onFold = useCallback(
    (id: string, to: boolean) => {
      const now = unfolded ? unfolded.split("\n") : [];
      set({ unfold: to ? [...now, id] : now.filter((other) => other !== id) });
    },
    [unfolded, set],
  );
  if (view === "network" && layout.items.length === 0) {
    return (
      <Empty title="No object sends or receives traffic">
        Gateways, ingresses and services of the application appear here, with the pods behind them.
      </Empty>
    );
  }
  return (
    <div className={frame}>
      <Suspense fallback={<Waiting />}>
        <Graph
          layout={layout}
          root={view === "graph" ? root : undefined}
          label={view === "graph" ? `Objects of ${name}` : `Traffic in ${name}`}
          dim={shown.dim}
          chosen={chosen}
          onOpen={onOpen}
          onFold={onFold}
        />
      </Suspense>
    </div>
  );
}
