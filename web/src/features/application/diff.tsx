import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Columns2, RefreshCw, Rows2 } from "lucide-react";
import { useMemo, useState } from "react";
import { client, data } from "@/api/client";
import { type App, lookKey, useApp } from "@/lib/application";
import { plural } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Button, IconButton } from "@/ui/button";
import { Input, Select } from "@/ui/field";
import { type Tab, Tabs } from "@/ui/page";
import { Empty, Loaded } from "@/ui/states";
import { partPath } from "./address";
import { AllowDrift, Adopt, RevertDrift } from "./diff-answers";
import { DiffItem } from "./diff-item";
import { Warnings } from "./dialog-parts";
import { found, type ObjectDiff } from "./drift";
import { keyOf, type Resource, revisionsOf } from "./resource";
import { useDetail, useMay } from "./use";

// What a difference depends on, as far as the server knows it: the agent is asked again when that changes, and when a user
// presses the button.
function seen(resource: Resource): string {
  const status = resource.status;
  return JSON.stringify([
    revisionsOf(status?.sync),
    (status?.resources ?? []).filter((r) => r.status === "OutOfSync").map(keyOf),
    status?.operationState?.finishedAt,
    resource.metadata.annotations?.["slipway.io/drift-allowed"],
  ]);
}

function useDiff(app: App, resource: Resource, drift: boolean, ignored: boolean, revision: string) {
  const key = useMemo(() => seen(resource), [resource]);
  return useQuery({
    queryKey: lookKey(app, "diff", drift, ignored, revision, key),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    queryFn: () => allDifferences(app, { drift, ignored, ...(revision && !drift ? { revision } : {}) }),
  });
}

// allDifferences reads on where there is more than one answer holds.
async function allDifferences(app: App, asked: { drift: boolean; ignored: boolean; revision?: string }) {
  const path = { agent: app.agent, namespace: app.namespace, name: app.name };
  const part = (cursor: string) =>
    data(
      client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/diff", {
        params: { path, query: { ...asked, ...(cursor ? { cursor } : {}) } },
      }),
    );
  const all = await part("");
  for (let next = all.nextCursor; next;) {
    const more = await part(next);
    all.items = [...(all.items ?? []), ...(more.items ?? [])];
    all.warnings = [...new Set([...(all.warnings ?? []), ...(more.warnings ?? [])])];
    next = more.nextCursor === next ? undefined : more.nextCursor;
  }
  return { ...all, nextCursor: undefined };
}

// ApplicationDiff is what a sync would change, or what was changed in the cluster, with the answers to that.
export default function ApplicationDiff() {
  const app = useApp();
  const { resource } = useDetail(app);
  const [search, set] = useAddress();
  const drift = one(search, "kind") === "drift";
  const query = useDiff(app, resource, drift, one(search, "ignored") === "1", one(search, "revision"));
  const params = { agent: app.agent, namespace: app.namespace, name: app.name };
  const tab = (label: string, kind: string) =>
    ({ label, to: partPath("diff"), params, search: kind ? { kind } : {}, exact: true }) as unknown as Tab;
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-end justify-between gap-2">
        <Tabs label="Differences" tabs={[tab("What a sync would change", ""), tab("Drift in the cluster", "drift")]} />
        <Tools
          drift={drift}
          split={one(search, "view") === "split"}
          busy={query.isFetching}
          refetch={() => void query.refetch()}
        />
      </div>
      <Loaded query={query}>
        {(answer) => (
          <div className={query.isPlaceholderData ? "space-y-3 opacity-60" : "space-y-3"}>
            <Warnings list={answer.warnings} />
            <Items app={app} items={answer.items ?? []} drift={drift} split={one(search, "view") === "split"} />
          </div>
        )}
      </Loaded>
      {drift && (
        <Dialogs
          app={app}
          items={query.data?.items ?? []}
          open={one(search, "do")}
          onClose={() => set({ do: "", of: "" })}
        />
      )}
    </div>
  );
}

function Tools({
  drift,
  split,
  busy,
  refetch,
}: {
  drift: boolean;
  split: boolean;
  busy: boolean;
  refetch: () => void;
}) {
  const [search, set] = useAddress();
  return (
    <div className="flex flex-wrap items-center gap-2 pb-1">
      <Input
        aria-label="Search objects"
        placeholder="Search"
        className="h-7 w-40"
        value={one(search, "q")}
        onChange={(e) => set({ q: e.target.value })}
      />
      <Select
        aria-label="Action"
        className="h-7 w-32"
        value={one(search, "verb")}
        onChange={(e) => set({ verb: e.target.value })}
      >
        <option value="">All</option>
        <option value="create">Made</option>
        <option value="update">Changed</option>
        <option value="delete">Deleted</option>
      </Select>
      {!drift && <Revision />}
      <Button
        small
        aria-pressed={one(search, "ignored") === "1"}
        onClick={() => set({ ignored: one(search, "ignored") ? "" : "1" })}
      >
        {one(search, "ignored") ? "Hide ignored differences" : "Show ignored differences"}
      </Button>
      <IconButton small label={split ? "Unified" : "Side by side"} onClick={() => set({ view: split ? "" : "split" })}>
        {split ? <Rows2 size={15} aria-hidden /> : <Columns2 size={15} aria-hidden />}
      </IconButton>
      <IconButton small label="Compare again" busy={busy} onClick={refetch}>
        {!busy && <RefreshCw size={14} aria-hidden />}
      </IconButton>
    </div>
  );
}

function Revision() {
  const [search, set] = useAddress();
  const [text, setText] = useState(one(search, "revision"));
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        set({ revision: text.trim() });
      }}
    >
      <Input
        aria-label="Revision to compare with"
        placeholder="Another revision"
        className="h-7 w-40"
        value={text}
        spellCheck={false}
        onChange={(e) => setText(e.target.value)}
      />
    </form>
  );
}

const most = 50; // objects that are shown together

function Items({ app, items, drift, split }: { app: App; items: ObjectDiff[]; drift: boolean; split: boolean }) {
  const [search, set] = useAddress();
  const may = useMay(app);
  const [limit, setLimit] = useState(most);
  const list = useMemo(() => found(items, one(search, "q"), one(search, "verb")), [items, search]);
  if (items.length === 0) {
    return (
      <Empty title={drift ? "No drift" : "Nothing differs"}>
        {drift
          ? "The cluster is as the last deployment left it."
          : `A sync would change nothing${one(search, "revision") ? ` at ${one(search, "revision")}` : ""}.`}
      </Empty>
    );
  }
  if (list.length === 0) {
    return (
      <Empty
        filtered
        title="No difference matches"
        action={<Button onClick={() => set({ q: "", verb: "" })}>Show all</Button>}
      />
    );
  }
  const counts = items.filter((i) => i.verb !== "keep").length;
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">{plural(counts, "object differs", "objects differ")}</p>
        {drift && (
          <Button look="primary" small why={may.as("revert")} onClick={() => set({ do: "revert", of: "" }, false)}>
            Revert all…
          </Button>
        )}
      </div>
      <ul className="space-y-3">
        {list.slice(0, limit).map((item, i) => (
          <DiffItem
            key={keyOf(item)}
            item={item}
            split={split}
            open={one(search, "object") ? one(search, "object") === keyOf(item) : i < 5}
            why={may.as}
            onAnswer={drift ? (answer) => set({ do: answer, of: keyOf(item) }, false) : undefined}
          />
        ))}
      </ul>
      {list.length > limit && (
        <Button onClick={() => setLimit(limit + most)}>
          Show {Math.min(most, list.length - limit)} more of {list.length}
        </Button>
      )}
    </>
  );
}

function Dialogs({ app, items, open, onClose }: { app: App; items: ObjectDiff[]; open: string; onClose: () => void }) {
  const [search] = useAddress();
  const item = items.find((i) => keyOf(i) === one(search, "of"));
  if (open === "revert") {
    return <RevertDrift app={app} items={item ? [item] : items} all={!item} onClose={onClose} />;
  }
  if (open === "allow" && item) {
    return <AllowDrift app={app} item={item} onClose={onClose} />;
  }
  if (open === "adopt" && item) {
    return <Adopt app={app} item={item} onClose={onClose} />;
  }
  return null;
}
