import { Download } from "lucide-react";
import type { ReactNode } from "react";
import type { Event } from "@/api/event";
import { query, useList } from "@/lib/entity";
import { count, plural, short } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { useNews } from "@/lib/news";
import { useCommands } from "@/lib/palette";
import { queryClient } from "@/lib/query";
import { one, type Search } from "@/lib/search";
import { between, known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { Card } from "@/ui/page";
import { Empty, Loaded, NoneYet } from "@/ui/states";
import { Badge, Status } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { filtered } from "./data";
import { actions, counted, deedOf, ledgerFilter, type Operation, who } from "./entries";
import { Between, ChoiceFilter, Filters, TextFilter } from "./filters";

// lastPart is an id without the scope before it: the rest is on hover.
const lastPart = (id: string | undefined): string => id?.split(".").at(-1) ?? "";

const columns: Column<Operation>[] = [
  { key: "at", title: "When", width: "8.25rem", cell: (e) => <Ago at={e.finishedAt} /> },
  {
    key: "application",
    title: "Application",
    width: "minmax(13rem,1fr)",
    cell: (e) => (
      <>
        <span className="font-medium">{e.name}</span>{" "}
        <span className="text-muted" title={[e.agent, e.environment].filter(Boolean).join("\n")}>
          {[e.agent, e.environment].map(lastPart).filter(Boolean).join(" · ")}
        </span>
      </>
    ),
  },
  {
    key: "outcome",
    title: "Outcome",
    width: "8rem",
    cell: (e) => <Status status={e.phase} />,
  },
  { key: "action", title: "Action", width: "7rem", cell: (e) => deedOf(e) },
  {
    key: "revision",
    title: "Revision",
    width: "minmax(10rem,0.8fr)",
    cell: (e) => (
      <>
        <code className="text-sm">{short(e.revision)}</code> <span className="text-muted">{e.commit?.subject}</span>
      </>
    ),
  },
  {
    key: "who",
    title: "Started by",
    width: "8.5rem",
    cell: (e) => who(e) || <Badge>automatic</Badge>,
  },
  { key: "counts", title: "Objects", width: "11rem", cell: (e) => counted(e.counts) },
  {
    key: "took",
    title: "Took",
    width: "5.5rem",
    align: "right",
    cell: (e) => (known(e.startedAt) ? between(e.startedAt, e.finishedAt) : ""),
  },
];

export const clean: Search = {
  q: "",
  scope: "",
  agent: "",
  namespace: "",
  name: "",
  service: "",
  environment: "",
  phase: "",
  action: "",
  actor: "",
  revision: "",
  automatic: "",
  changed: "",
  from: "",
  to: "",
};

const key = "ledger";
// renew reads an operation again that is open.
const renew = (event: Event) =>
  void queryClient.invalidateQueries({ queryKey: [key, "one", (event.data as { id?: unknown } | undefined)?.id] });

// Operations is the list of what was done, the newest first.
export function Operations({ filters }: { filters: ReactNode }) {
  const [search, set] = useAddress();
  const filter = ledgerFilter(search);
  const list = useList<Operation>(key, "/api/v1/ledger", filter);
  const rows = list.query.data;
  const [news, seen] = useNews({
    type: "application.recorded",
    key: [key, "list", "/api/v1/ledger"],
    far: (rows?.length ?? 0) > 200,
    each: renew,
  });
  const save = (format: string) => location.assign(`/api/v1/ledger/export${query({ ...filter, format })}`);
  useCommands([
    {
      id: "export-ledger",
      title: "Export the operations that match the filters",
      group: "Actions",
      run: () => save("jsonl"),
    },
  ]);
  const some = filtered(filter);
  const again = () => {
    seen();
    void list.query.refetch();
  };
  return (
    <>
      <Filters label="Search applications" filter={filter}>
        {filters}
        <ChoiceFilter
          name="phase"
          label="Outcome"
          options={[
            ["Succeeded", "Succeeded"],
            ["Failed", "Failed"],
            ["Error", "Error"],
          ]}
        />
        <ChoiceFilter name="action" label="Action" options={actions} />
        <ChoiceFilter
          name="automatic"
          label="Trigger"
          options={[
            ["true", "Automatic"],
            ["false", "By a person"],
          ]}
        />
        <TextFilter name="actor" label="Started by" />
        <TextFilter name="revision" label="Revision" />
        <ChoiceFilter name="changed" label="Objects" options={[["true", "Changed some"]]} />
        <Between until="Until" />
        {some && <Button onClick={() => set(clean)}>Show all</Button>}
      </Filters>
      <Card
        flush
        title={rows ? `${plural(Math.max(list.total, rows.length), "operation")}, newest first` : "Operations"}
        actions={
          <>
            <Button small busy={list.busy} onClick={again}>
              {news > 0 ? `Show ${count(news)} new` : "Reload"}
            </Button>
            <Menu
              trigger={
                <Button small>
                  <Download size={15} aria-hidden /> Export
                </Button>
              }
              items={[
                "All operations that match the filters",
                { label: "JSON lines", run: () => save("jsonl") },
                { label: "tar, with manifests", run: () => save("tar") },
              ]}
            />
          </>
        }
      >
        <Loaded query={list.query}>
          {(all) =>
            all.length === 0 ? (
              some ? (
                <Empty
                  filtered
                  title="No operation matches"
                  action={<Button onClick={() => set(clean)}>Show all</Button>}
                >
                  Use fewer filters, or a longer time.
                </Empty>
              ) : (
                <NoneYet many="operations" permission="application_view" title="No operations yet">
                  The first sync of an application appears here.
                </NoneYet>
              )
            ) : (
              <Table
                label="Operations"
                rows={all}
                columns={columns}
                rowKey={(e) => e.id}
                onOpen={(e) => set({ open: e.id }, false)}
                selected={(e) => e.id === one(search, "open")}
                {...(list.more ? { onEnd: list.more } : {})}
              />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}
