import { clean } from "./operations";
import { type ReactNode } from "react";
import { type Schemas } from "@/api/client";
import { useList } from "@/lib/entity";
import { plural, short } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Card } from "@/ui/page";
import { Empty, Loaded } from "@/ui/states";
import { Badge } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { filtered, instant } from "./data";
import { applicationFilter, images, who } from "./entries";
import { Filters, TextFilter } from "./filters";

type State = Schemas["LedgerState"];

const states: Column<State>[] = [
  {
    key: "application",
    title: "Application",
    width: "minmax(12rem,2fr)",
    cell: ({ entry: e }) => (
      <>
        <span className="font-medium">{e.name}</span> <span className="text-muted">{e.agent}</span>
      </>
    ),
  },
  {
    key: "revision",
    title: "Revision",
    width: "minmax(12rem,2fr)",
    cell: ({ entry: e }) => (
      <>
        <code className="text-sm">{short(e.revision)}</code> <span className="text-muted">{e.commit?.subject}</span>
      </>
    ),
  },
  {
    key: "images",
    title: "Images",
    width: "minmax(12rem,2fr)",
    cell: (s) => {
      const list = images(s.objects ?? []).join(", ");
      return <span title={list}>{list || <span className="text-muted">none</span>}</span>;
    },
  },
  { key: "objects", title: "Objects", width: "5.5rem", align: "right", cell: (s) => s.objects?.length ?? 0 },
  { key: "since", title: "Deployed", width: "9rem", cell: ({ entry: e }) => <Ago at={e.finishedAt} /> },
  { key: "who", title: "Started by", width: "9rem", cell: ({ entry: e }) => who(e) || <Badge>automatic</Badge> },
  {
    key: "later",
    title: "Changed since",
    width: "9rem",
    cell: (s) => (s.later?.length ? <Badge tone="warn">{plural(s.later.length, "operation")}</Badge> : ""),
  },
];

// AtATime is what ran at a time, or runs now: for each application the deployment that was in force.
export function AtATime({ filters }: { filters: ReactNode }) {
  const [search, set] = useAddress();
  const at = instant(one(search, "at"));
  const filter = applicationFilter(search);
  const list = useList<State>("ledger", "/api/v1/ledger/at", { ...filter, at, limit: 50 });
  const some = filtered(filter);
  return (
    <>
      <Filters label="Search applications" filter={filter}>
        {filters}
        <TextFilter name="at" label="At" type="datetime-local" />
        {(some || at) && <Button onClick={() => set({ ...clean, at: "" })}>Show all, now</Button>}
      </Filters>
      <Card
        flush
        title={at ? "What ran then" : "What runs now"}
        actions={
          <Button small busy={list.busy} onClick={() => void list.query.refetch()}>
            Reload
          </Button>
        }
      >
        <Loaded query={list.query}>
          {(all) =>
            all.length === 0 ? (
              <Empty filtered={some || Boolean(at)} title={at ? "Nothing ran then" : "Nothing was deployed yet"}>
                {some
                  ? "No application matches. Use fewer filters."
                  : at
                    ? "Choose a later time: the ledger has no deployment before it."
                    : "The first sync of an application that you may view is the first line here."}
              </Empty>
            ) : (
              <Table
                label="What ran"
                rows={all}
                columns={states}
                rowKey={(s) => `${s.entry.agent}/${s.entry.namespace}/${s.entry.name}`}
                onOpen={(s) => set({ open: s.entry.id, part: "manifests" }, false)}
                selected={(s) => s.entry.id === one(search, "open")}
                {...(list.more ? { onEnd: list.more } : {})}
              />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}
