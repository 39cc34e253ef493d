import { tones } from "./entry-drawer";
import { useMutation } from "@tanstack/react-query";
import { Download, ShieldCheck } from "lucide-react";
import { useEffect } from "react";
import { client, data } from "@/api/client";
import { query, useList } from "@/lib/entity";
import { count, plural } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { useNews } from "@/lib/news";
import { useCommands } from "@/lib/palette";
import { patchOn } from "@/lib/query";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Copy } from "@/ui/copy";
import { Menu } from "@/ui/menu";
import { Card, Page } from "@/ui/page";
import { Empty, ErrorNote, Loaded, NoneYet, NoPermission } from "@/ui/states";
import { Badge } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { auditFilter, type Entry, filtered } from "./data";
import { Between, ChoiceFilter, Filters, TextFilter } from "./filters";
import { EntryDrawer } from "./entry-drawer";

const columns: Column<Entry>[] = [
  { key: "at", title: "When", width: "8.25rem", cell: (e) => <Ago at={e.at} /> },
  {
    key: "who",
    title: "Actor",
    width: "minmax(12rem,1fr)",
    cell: (e) => (
      <>
        <span className="text-muted">{e.actor.type}</span> {e.actor.id}
      </>
    ),
  },
  {
    key: "action",
    title: "Action",
    width: "minmax(14rem,1fr)",
    cell: (e) => <code className="text-sm">{e.action}</code>,
  },
  { key: "object", title: "Object", width: "minmax(12rem,3fr)", cell: (e) => e.object?.id },
  {
    key: "outcome",
    title: "Outcome",
    width: "6.75rem",
    cell: (e) => <Badge tone={tones[e.outcome] ?? "idle"}>{e.outcome}</Badge>,
  },
  {
    key: "message",
    title: "Message",
    width: "minmax(10rem,2.25fr)",
    cell: (e) => (e.message || e.reason) && <span className="text-muted">{e.message || e.reason}</span>,
  },
];

const clean = {
  q: "",
  scope: "",
  actor: "",
  action: "",
  type: "",
  object: "",
  outcome: "",
  request: "",
  from: "",
  to: "",
};

export default function Audit() {
  const [search, set] = useAddress();
  const missing = useMissing("audit_view");
  const missingAll = useMissing("audit_view", "account"); // what is missing in between is not visible from a part
  const filter = auditFilter(search);
  const list = useList<Entry>("audit", "/api/v1/audit", filter, !missing);
  const far = (list.query.data?.length ?? 0) > 200;
  const [news, seen] = useNews({ type: "audit.recorded", key: ["audit", "list"], far });
  // The list updates automatically; all else that is read of an entry never changes.
  useEffect(() => patchOn("audit", () => true), []);
  const again = () => {
    seen();
    void list.query.refetch();
  };
  const verify = useMutation({ mutationFn: () => data(client.GET("/api/v1/audit/verification")) });
  const save = (format: string) => location.assign(`/api/v1/audit/export${query({ ...filter, format })}`);
  useCommands([
    {
      id: "verify-audit",
      title: "Verify the chain of the audit",
      group: "Actions",
      ...(missingAll ? { disabled: missingAll } : {}),
      run: () => verify.mutate(),
    },
  ]);
  if (missing) {
    return (
      <Page title="Audit">
        <NoPermission why={missing} />
      </Page>
    );
  }
  const rows = list.query.data;
  const open = one(search, "open");
  return (
    <Page
      title="Audit"
      about="Each change, with its time, its user, agent or token, and its outcome."
      actions={
        <>
          <Button busy={verify.isPending} why={missingAll} onClick={() => verify.mutate()}>
            <ShieldCheck size={15} aria-hidden /> Verify
          </Button>
          <Menu
            trigger={
              <Button>
                <Download size={15} aria-hidden /> Export
              </Button>
            }
            items={[
              "All entries that match the filters",
              { label: "JSON lines", run: () => save("jsonl") },
              { label: "CSV, for spreadsheets", run: () => save("csv") },
            ]}
          />
        </>
      }
    >
      <div role="status" aria-live="polite">
        {verify.error != null && <ErrorNote error={verify.error} />}
        {verify.data && (
          <Card title={verify.data.ok ? "The audit log is intact" : "The audit log is not intact"}>
            <p className={verify.data.ok ? "text-ok" : "text-bad"}>{verify.data.message}</p>
            <p className="mt-1 text-sm text-muted">
              {count(verify.data.checked)} entries were checked.{" "}
              {verify.data.head &&
                "Keep this hash of the newest entry elsewhere: with it, removed newest entries show too."}
            </p>
            {verify.data.head && (
              <p className="mt-1 flex items-center gap-1">
                <code className="text-sm break-all">{verify.data.head}</code>
                <Copy text={verify.data.head} label="Copy the hash" />
              </p>
            )}
          </Card>
        )}
      </div>
      <Filters label="Search the audit" filter={filter}>
        <TextFilter name="actor" label="Actor" />
        <TextFilter name="action" label="Action" />
        <TextFilter name="object" label="Object" />
        <ChoiceFilter
          name="outcome"
          label="Outcome"
          options={[
            ["succeeded", "Succeeded"],
            ["failed", "Failed"],
            ["denied", "Denied"],
          ]}
        />
        <Between until="Until" />
        {filtered(filter) && <Button onClick={() => set(clean)}>Show all</Button>}
      </Filters>
      <Card
        flush
        title={rows ? `${plural(Math.max(list.total, rows.length), "entry", "entries")}, newest first` : "Entries"}
        actions={
          <Button small busy={list.busy} onClick={again}>
            {news > 0 ? `Show ${count(news)} new` : "Reload"}
          </Button>
        }
      >
        <Loaded query={list.query}>
          {(all) =>
            all.length === 0 && !filtered(filter) ? (
              <NoneYet many="entries" permission="audit_view">
                Each change appears here with the name of its actor.
              </NoneYet>
            ) : all.length === 0 ? (
              <Empty filtered title="No entry matches" action={<Button onClick={() => set(clean)}>Show all</Button>}>
                Use fewer filters, or a longer time.
              </Empty>
            ) : (
              <Table
                label="Audit"
                rows={all}
                columns={columns}
                rowKey={(e) => String(e.id)}
                onOpen={(e) => set({ open: String(e.id) }, false)}
                selected={(e) => String(e.id) === open}
                {...(list.more ? { onEnd: list.more } : {})}
              />
            )
          }
        </Loaded>
      </Card>
      {open && (
        <EntryDrawer
          id={open}
          entry={rows?.find((e) => String(e.id) === open)}
          onClose={() => set({ open: "" }, false)}
          onRequest={(request) => set({ ...clean, request, open: "" }, false)}
        />
      )}
    </Page>
  );
}
