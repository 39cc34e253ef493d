import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { client, data, type Schemas } from "@/api/client";
import { count } from "@/lib/format";
import { one, type Search } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Checkbox, Select } from "@/ui/field";
import { JobDrawer } from "@/ui/job";
import { JobBar, jobTitle } from "@/ui/job-bar";
import { Card, Page } from "@/ui/page";
import { Empty, Loaded } from "@/ui/states";
import { Status } from "@/ui/status";
import { type Column, Table } from "@/ui/table";

type Job = Schemas["Job"];

const states = ["running", "done", "stopped"] as const;

const columns: Column<Job>[] = [
  { key: "state", title: "State", width: "7rem", cell: (j) => <Status status={j.state} /> },
  { key: "what", title: "What", width: "minmax(13rem, 1.5fr)", cell: jobTitle },
  { key: "progress", title: "Progress", width: "minmax(9rem, 1fr)", cell: (j) => <JobBar counts={j.counts} /> },
  {
    key: "failed",
    title: "Failed",
    width: "6rem",
    align: "right",
    cell: (j) => {
      const bad = j.counts.failed + j.counts.refused;
      return bad > 0 ? <span className="text-bad">{count(bad)}</span> : <span className="text-muted">0</span>;
    },
  },
  { key: "by", title: "By", width: "minmax(8rem, 1fr)", cell: (j) => j.by.id },
  { key: "at", title: "Begun", width: "9.5rem", cell: (j) => <Ago at={j.createdAt} /> },
  {
    key: "reason",
    title: "Reason",
    width: "minmax(9rem, 1.5fr)",
    // A job that was stopped says so, and is still known by its reason.
    cell: (j) => {
      const text = [j.request.reason, j.message].filter(Boolean).join(": ");
      return <span title={text}>{text}</span>;
    },
  },
];

// Jobs lists what was done with many applications at a time.
export default function Jobs() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const state = states.find((s) => s === one(search, "state"));
  const mine = one(search, "mine") === "true";
  const set = (next: Search) => void navigate({ to: "/jobs", search: { ...search, ...next } as never });
  const query = useInfiniteQuery({
    queryKey: ["job", "list", state ?? "", mine],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      data(
        client.GET("/api/v1/jobs", {
          params: {
            query: {
              ...(state ? { state } : {}),
              ...(mine ? { mine } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.nextCursor || undefined,
  });
  const others = useMissing("job_view", "account");
  const rows = query.data?.pages.flatMap((p) => p.items ?? []) ?? [];
  return (
    <Page
      title="Jobs"
      about="Bulk operations"
      actions={
        <>
          <Checkbox label="Only mine" checked={mine} onChange={(e) => set({ mine: e.target.checked ? "true" : "" })} />
          <Select
            aria-label="State"
            className="w-36"
            value={state ?? ""}
            onChange={(e) => set({ state: e.target.value })}
          >
            <option value="">All states</option>
            <option value="running">Running</option>
            <option value="done">Done</option>
            <option value="stopped">Stopped</option>
          </Select>
        </>
      }
    >
      <Card flush>
        <Loaded query={{ ...query, data: query.data }}>
          {() =>
            rows.length > 0 ? (
              <Table
                label="Jobs"
                rows={rows}
                columns={columns}
                rowKey={(j) => j.id ?? ""}
                onOpen={(j) => set({ job: j.id })}
                onEnd={() => query.hasNextPage && !query.isFetching && void query.fetchNextPage()}
                className="max-h-[calc(100dvh-10rem)]"
              />
            ) : state || mine ? (
              <Empty
                filtered
                title="No job matches"
                action={<Button onClick={() => set({ state: "", mine: "" })}>Clear the filter</Button>}
              />
            ) : (
              <Empty
                title={others ? "You have started no jobs yet" : "There are no jobs yet"}
                action={
                  <Button asChild look="primary">
                    <Link to="/applications">Select applications</Link>
                  </Button>
                }
              >
                Select applications, then sync, refresh or roll back all of them. The job appears here.
                {others && ` To see the jobs of others: ${others.charAt(0).toLowerCase()}${others.slice(1)}`}
              </Empty>
            )
          }
        </Loaded>
      </Card>
      <JobDrawer id={one(search, "job")} onClose={() => set({ job: "" })} onJob={(job) => set({ job })} />
    </Page>
  );
}
