import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { stringify } from "yaml";
import { client, data, type Schemas } from "@/api/client";
import { given } from "@/lib/entity";
import { plural } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Button } from "@/ui/button";
import { CodeDiff } from "@/ui/code";
import { Drawer } from "@/ui/dialog";
import { Card } from "@/ui/page";
import { Empty, Failed, Loaded } from "@/ui/states";
import { Badge, type Tone } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { filtered, instant } from "./data";
import { applicationFilter, applicationOf, keyOf, placeOf } from "./entries";
import { Between, Filters } from "./filters";
import { clean } from "./operations";

type Difference = Schemas["LedgerDifference"];

const tones: Record<string, Tone> = { added: "ok", removed: "bad", changed: "busy" };

const differences: Column<Difference>[] = [
  {
    key: "change",
    title: "Change",
    width: "7rem",
    cell: (d) => <Badge tone={tones[d.change] ?? "idle"}>{d.change}</Badge>,
  },
  { key: "object", title: "Object", width: "minmax(14rem,2fr)", cell: (d) => placeOf(d) },
  { key: "application", title: "Application", width: "minmax(13rem,2fr)", cell: (d) => d.application },
  { key: "images", title: "Images after", width: "minmax(12rem,2fr)", cell: (d) => d.images?.join(", ") },
];

const idOf = (d: Difference): string => `${d.application}|${keyOf(d)}`;

// BetweenTimes is what differs between what ran at two times.
export function BetweenTimes({ filters }: { filters: ReactNode }) {
  const [search, set] = useAddress();
  const from = instant(one(search, "from"));
  const to = instant(one(search, "to"));
  const filter = applicationFilter(search);
  const list = useInfiniteQuery({
    queryKey: ["ledger", "between", filter, from, to],
    queryFn: ({ pageParam, signal }) =>
      data(
        client.GET("/api/v1/ledger/diff", {
          params: { query: given({ ...filter, from, to, cursor: pageParam }) },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.nextCursor || undefined,
    placeholderData: keepPreviousData,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const pages = list.data?.pages;
  const rows = useMemo(() => pages?.flatMap((page) => page.differences ?? []), [pages]);
  // A page can be empty while there are more: nothing differs in its applications.
  const more = hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined;
  const some = filtered(filter) || Boolean(from || to);
  const open = one(search, "difference");
  const apart = (
    <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      Load more applications
    </Button>
  );
  return (
    <>
      <Filters label="Search applications" filter={filter}>
        {filters}
        <Between until="To" />
        {some && <Button onClick={() => set(clean)}>The last day, all</Button>}
      </Filters>
      <Card
        flush
        title={`${rows ? plural(rows.length, "object differs", "objects differ") : "What differs"}${hasNextPage ? " so far" : ""}`}
        actions={
          <>
            {!from && <span className="text-sm text-muted">from a day before</span>}
            {!to && <span className="text-sm text-muted">to now</span>}
            <Button small busy={list.isFetching} onClick={() => void list.refetch()}>
              Reload
            </Button>
          </>
        }
      >
        {list.error != null && rows !== undefined && <Failed error={list.error} retry={() => void list.refetch()} />}
        <Loaded query={{ data: rows, error: list.error, refetch: list.refetch }}>
          {(all) =>
            all.length === 0 ? (
              <Empty
                filtered
                title={hasNextPage ? "Nothing differs so far" : "Nothing differs"}
                action={hasNextPage && apart}
              >
                The deployments are the same at both times, as far as you may see them.
              </Empty>
            ) : (
              <>
                <Table
                  label="Differences"
                  rows={all}
                  columns={differences}
                  rowKey={idOf}
                  onOpen={(d) => set({ difference: idOf(d) }, false)}
                  selected={(d) => idOf(d) === open}
                  {...(more ? { onEnd: more } : {})}
                />
                {pages?.some((page) => page.truncated) && (
                  <p className="border-t px-4 py-2 text-sm text-muted">
                    The differences of one application do not fit into a response. Export the operations to see all of
                    them.
                  </p>
                )}
              </>
            )
          }
        </Loaded>
      </Card>
      {open && <DifferenceDrawer id={open} from={from} to={to} onClose={() => set({ difference: "" }, false)} />}
    </>
  );
}

const yaml = (manifest: unknown): string => (manifest ? stringify(manifest) : "");

// DifferenceDrawer is what differs in one object, by its manifests.
function DifferenceDrawer({ id, from, to, onClose }: { id: string; from: string; to: string; onClose: () => void }) {
  const [application = "", key = ""] = id.split("|");
  const app = applicationOf(application);
  const query = useQuery({
    queryKey: ["ledger", "difference", application, from, to],
    queryFn: async ({ signal }) => {
      if (!app) {
        return [];
      }
      const params = { ...app, ...(from ? { from } : {}), ...(to ? { to } : {}), manifests: true };
      const found = await data(client.GET("/api/v1/ledger/diff", { params: { query: params }, signal }));
      return found.differences ?? [];
    },
  });
  return (
    <Drawer
      open
      onClose={onClose}
      title={`What differs in ${key.split("/").filter(Boolean).join("/") || "the object"}`}
      description={`${application}. Values of secrets are hashes.`}
      className="max-w-4xl"
    >
      <div className="space-y-3 p-4">
        <Loaded query={query}>
          {(list) => {
            const d = list.find((each) => keyOf(each) === key && each.application === application);
            if (!d) {
              return (
                <Empty filtered title="It does not differ">
                  This object did not change between these two times, or you may not see it.
                </Empty>
              );
            }
            const stored = Boolean(d.manifestBefore ?? d.manifestAfter);
            return (
              <>
                <p className="flex flex-wrap items-center gap-2">
                  <Badge tone={tones[d.change] ?? "idle"}>{d.change}</Badge> {placeOf(d)}
                </p>
                {stored ? (
                  <CodeDiff
                    unified
                    label={`Difference of ${placeOf(d)}`}
                    before={yaml(d.manifestBefore)}
                    after={yaml(d.manifestAfter)}
                  />
                ) : (
                  <p className="text-muted">Its manifests are missing, so its difference cannot be shown.</p>
                )}
              </>
            );
          }}
        </Loaded>
      </div>
    </Drawer>
  );
}
