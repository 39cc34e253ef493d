import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { client, data } from "@/api/client";
import { between, known } from "@/lib/time";
import { Empty, Loaded } from "./states";
import { Status } from "./status";
import { Table } from "./table";
import { type Target, type State } from "./job-bar";

export function Targets({ job, state }: { job: string; state: State | "" }) {
  const query = useInfiniteQuery({
    queryKey: ["job", "targets", job, state],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      data(
        client.GET("/api/v1/jobs/{id}/targets", {
          params: {
            path: { id: job },
            query: { limit: 200, ...(state ? { state } : {}), ...(pageParam ? { cursor: pageParam } : {}) },
          },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.nextCursor || undefined,
  });
  const rows = query.data?.pages.flatMap((p) => p.items ?? []) ?? [];
  return (
    <Loaded query={{ ...query, data: query.data }}>
      {() =>
        rows.length === 0 ? (
          <Empty title="None in this state" filtered />
        ) : (
          <Table
            label="Applications of the job"
            className="max-h-none min-h-40 flex-1"
            rowHeight={36}
            rows={rows}
            rowKey={(t) => `${t.place}`}
            onEnd={() => query.hasNextPage && !query.isFetching && void query.fetchNextPage()}
            columns={[
              {
                key: "application",
                title: "Application",
                width: "minmax(14rem, 1fr)",
                cell: (t) => <AppOf target={t} />,
              },
              { key: "state", title: "State", width: "7rem", cell: (t) => <Status status={t.state} /> },
              {
                key: "took",
                title: "Took",
                width: "5.5rem",
                align: "right",
                cell: (t) => (known(t.startedAt) && known(t.finishedAt) ? between(t.startedAt, t.finishedAt) : ""),
              },
              {
                key: "message",
                title: "Message",
                width: "minmax(14rem, 1.5fr)",
                cell: (t) => <span title={t.message}>{t.message}</span>,
              },
            ]}
          />
        )
      }
    </Loaded>
  );
}

function AppOf({ target }: { target: Target }) {
  const [agent = "", namespace = "", name = ""] = target.application.split("/");
  return (
    <Link
      to="/applications/$agent/$namespace/$name"
      params={{ agent, namespace, name }}
      title={target.application}
      className="hover:text-accent hover:underline"
    >
      {name} <span className="text-muted">{agent}</span>
    </Link>
  );
}
