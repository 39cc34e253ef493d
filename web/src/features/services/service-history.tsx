import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { client, data } from "@/api/client";
import { short } from "@/lib/format";
import { Ago } from "@/ui/ago";
import { Card } from "@/ui/page";
import { Loaded, Loading } from "@/ui/states";
import { Status } from "@/ui/status";
import { Table } from "@/ui/table";

export function History({ service }: { service: string }) {
  const query = useQuery({
    queryKey: ["application", "ledger", service],
    queryFn: ({ signal }) => data(client.GET("/api/v1/ledger", { params: { query: { service, limit: 50 } }, signal })),
  });
  return (
    <Card
      flush
      title="History"
      actions={
        <Link to="/ledger" search={{ service } as never} className="text-sm text-accent hover:underline">
          Ledger
        </Link>
      }
    >
      <Loaded query={query} loading={<Loading rows={3} />}>
        {(page) =>
          (page.items ?? []).length === 0 ? (
            <p className="px-4 py-3 text-muted">No operation is known.</p>
          ) : (
            <Table
              label="Operations"
              className="max-h-96"
              rowHeight={34}
              rows={page.items ?? []}
              rowKey={(e) => e.id}
              columns={[
                { key: "phase", title: "How it ended", width: "8rem", cell: (e) => <Status status={e.phase} /> },
                { key: "action", title: "What", width: "6rem", cell: (e) => e.action },
                {
                  key: "application",
                  title: "Application",
                  width: "minmax(9rem, 1fr)",
                  cell: (e) => (
                    <Link
                      to="/applications/$agent/$namespace/$name/history"
                      params={{ agent: e.agent, namespace: e.namespace, name: e.name }}
                      className="hover:underline"
                    >
                      {e.name}
                    </Link>
                  ),
                },
                {
                  key: "environment",
                  title: "Environment",
                  width: "minmax(8rem, 1fr)",
                  cell: (e) => e.environment?.split(".").at(-1),
                },
                {
                  key: "revision",
                  title: "Revision",
                  width: "minmax(10rem, 1.5fr)",
                  cell: (e) => (
                    <span title={e.commit?.subject}>
                      <code>{short(e.revision)}</code> {e.commit?.subject}
                    </span>
                  ),
                },
                { key: "by", title: "By", width: "8rem", cell: (e) => (e.automatic ? "automatic" : e.actor) },
                { key: "at", title: "When", width: "9.5rem", cell: (e) => <Ago at={e.finishedAt} /> },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
