import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { client, data } from "@/api/client";
import { type App, useApp } from "@/lib/application";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Select } from "@/ui/field";
import { Empty, ErrorNote, Loading } from "@/ui/states";
import { Badge } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { type Happening, happenings } from "./happenings";
import { useLedger } from "./ledger";
import { compose } from "./past";
import { useDetail } from "./use";

const many = 100;

function useAudit(app: App, allowed: boolean) {
  return useQuery({
    queryKey: ["audit", "application", app.id],
    enabled: allowed,
    queryFn: () =>
      data(
        client.GET("/api/v1/audit", {
          params: { query: { objectType: "application", objectId: app.id, limit: many } },
        }),
      ),
  });
}

// useTold is the Events of Kubernetes about the Application itself. Nothing reports new ones, so they are read again while a
// user looks.
function useTold(app: App) {
  const { agent, namespace, name } = app;
  return useQuery({
    queryKey: ["told", app.id],
    refetchInterval: 10_000,
    queryFn: () =>
      data(
        client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/resource/events", {
          params: {
            path: { agent, namespace, name },
            query: { group: "argoproj.io", kind: "Application", resourceNamespace: namespace, resourceName: name },
          },
        }),
      ),
  });
}

const columns: Column<Happening>[] = [
  { key: "at", title: "When", width: "9.5rem", cell: (h) => <Ago at={h.at} none="unknown" /> },
  {
    key: "what",
    title: "What",
    width: "minmax(16rem, 3fr)",
    cell: (h) => (
      <span className="block min-w-0">
        <span className="flex items-center gap-1.5">
          <span className={h.bad ? "truncate text-bad" : "truncate"}>{h.what}</span>
        </span>
        <span className="block truncate text-sm text-muted" title={h.detail}>
          {h.detail}
        </span>
      </span>
    ),
  },
  { key: "who", title: "Who", width: "11rem", cell: (h) => h.who },
  { key: "from", title: "Source", width: "8rem", cell: (h) => <Badge>{h.from}</Badge> },
];

// ApplicationEvents is one timeline of all events of the application.
export default function ApplicationEvents() {
  const app = useApp();
  const { detail, resource } = useDetail(app);
  const [search, set] = useAddress();
  const ledger = useLedger(app);
  const noAudit = useMissing("audit_view", detail?.scope);
  const audit = useAudit(app, noAudit === undefined);
  const told = useTold(app);
  const from = one(search, "from");
  const all = useMemo(
    () =>
      happenings(
        compose(resource, ledger.data?.pages.flatMap((p) => p.items ?? []) ?? [], detail?.unsupported),
        audit.data?.items ?? [],
        resource.status?.conditions,
        told.data?.events,
      ),
    [resource, detail, ledger.data, audit.data, told.data],
  );
  const rows = useMemo(() => (from ? all.filter((h) => h.from === from) : all), [all, from]);
  if (ledger.isPending && all.length === 0) {
    return <Loading />;
  }
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">
          {noAudit ? "Events, without the audit log: you may not read that." : "Events, newest first."}
        </p>
        <Select aria-label="Source" className="w-44" value={from} onChange={(e) => set({ from: e.target.value })}>
          <option value="">All sources</option>
          {["ledger", "audit", "condition", "kubernetes"].map((f) => (
            <option key={f} value={f}>
              {f}
            </option>
          ))}
        </Select>
      </div>
      {[ledger.error, audit.error, told.error].map((e, i) => e != null && <ErrorNote key={i} error={e} />)}
      {rows.length === 0 ? (
        <Empty filtered={from !== ""} title="No events">
          Syncs and changes are listed here as they happen, with the Events of Kubernetes about the Application; those
          about its objects are with each of them.
        </Empty>
      ) : (
        <div className="rounded-lg border bg-surface">
          <Table label="What happened" rows={rows} columns={columns} rowKey={(h) => h.key} rowHeight={52} />
        </div>
      )}
    </div>
  );
}
