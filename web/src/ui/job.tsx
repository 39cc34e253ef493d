import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { cn } from "@/lib/cn";
import { count, plural } from "@/lib/format";
import { queryClient } from "@/lib/query";
import { between, known } from "@/lib/time";
import { Ago } from "./ago";
import { Button } from "./button";
import { Confirm } from "./confirm";
import { Copy } from "./copy";
import { Drawer } from "./dialog";
import { Facts } from "./page";
import { Empty, Loaded, Loading } from "./states";
import { Status, toneFill, toneOf } from "./status";
import { Table } from "./table";
import { toast, toastError } from "./toast";

type Job = Schemas["Job"];
type Target = Schemas["JobTarget"];

export const jobStates = ["done", "running", "waiting", "failed", "refused", "skipped"] as const;
type State = (typeof jobStates)[number];

const actions: Record<string, string> = {
  sync: "Sync",
  refresh: "Refresh",
  "hard-refresh": "Hard refresh",
  rollback: "Rollback",
};

// jobTitle is what a job does, in words.
export const jobTitle = (job: Job): string =>
  `${actions[job.request.action] ?? job.request.action} of ${plural(job.counts.total, "application")}`;

// JobBar is how far a job is, as one bar.
export function JobBar({ counts, className }: { counts: Schemas["JobCounts"]; className?: string }) {
  const text = jobStates
    .filter((s) => counts[s] > 0)
    .map((s) => `${count(counts[s])} ${s}`)
    .join(", ");
  return (
    <div
      role="img"
      aria-label={text || "nothing"}
      title={text}
      className={cn("flex h-2 overflow-hidden rounded-full bg-idle-soft", className)}
    >
      {jobStates
        .filter((s) => s !== "waiting" && s !== "skipped" && counts[s] > 0)
        .map((s) => (
          <span
            key={s}
            className={cn(toneFill[toneOf(s)], "h-full transition-[width]")}
            style={{ width: `${(counts[s] / Math.max(1, counts.total)) * 100}%` }}
          />
        ))}
    </div>
  );
}

// JobDrawer follows a job: how far it is, and what came of each application.
export function JobDrawer({
  id,
  onClose,
  onJob,
}: {
  id: string;
  onClose: () => void;
  // onJob shows another job: the one that tries again what failed.
  onJob: (id: string) => void;
}) {
  const query = useQuery({
    queryKey: ["job", "one", id],
    enabled: id !== "",
    queryFn: ({ signal }) => data(client.GET("/api/v1/jobs/{id}", { params: { path: { id } }, signal })),
  });
  return (
    <Drawer
      open={id !== ""}
      onClose={onClose}
      title={query.data ? jobTitle(query.data) : "Job"}
      description={query.data?.request.reason || undefined}
      footer={query.data && answerable(query.data) ? <Foot job={query.data} onJob={onJob} /> : undefined}
    >
      <Loaded query={query} loading={<Loading />}>
        {(job) => <Body job={job} />}
      </Loaded>
    </Drawer>
  );
}

function Body({ job }: { job: Job }) {
  const [state, setState] = useState<State | "">("");
  const over = job.state !== "running";
  const finished = job.counts.total - job.counts.waiting - job.counts.running;
  return (
    <div className="flex h-full flex-col">
      <div className="space-y-3 border-b p-4">
        <div className="flex items-center justify-between gap-3" aria-live="polite">
          <Status status={job.state} />
          <span className="tabular-nums">
            {count(finished)} of {count(job.counts.total)}
          </span>
        </div>
        <JobBar counts={job.counts} />
        {job.message && <p className="break-words text-warn">{job.message}</p>}
        <Facts
          facts={[
            ["By", `${job.by.type}:${job.by.id}`],
            ["Begun", <Ago key="at" at={job.createdAt} />],
            ...(over && known(job.finishedAt) && job.createdAt
              ? ([["Took", between(job.createdAt, job.finishedAt)]] as [string, string][])
              : []),
            [
              "At a time",
              `${job.request.limit || 5}${job.request.stopAfter ? `, stops after ${plural(job.request.stopAfter, "failure")}` : ""}`,
            ],
            [
              "Job",
              <span key="id" className="inline-flex items-center gap-1">
                <code className="break-all">{job.id}</code>
                <Copy text={job.id ?? ""} label="Copy the id of the job" />
              </span>,
            ],
          ]}
        />
        <div role="group" aria-label="Show applications" className="flex flex-wrap gap-1">
          <Choice on={state === ""} onClick={() => setState("")}>
            All {count(job.counts.total)}
          </Choice>
          {jobStates
            .filter((s) => job.counts[s] > 0 || s === state)
            .map((s) => (
              <Choice key={s} on={state === s} onClick={() => setState(s)}>
                <Status status={s} /> {count(job.counts[s])}
              </Choice>
            ))}
        </div>
      </div>
      <Targets job={job.id ?? ""} state={state} />
    </div>
  );
}

function Choice({ on, onClick, children }: { on: boolean; onClick: () => void; children: React.ReactNode }) {
  return (
    <Button
      small
      look={on ? "plain" : "ghost"}
      aria-pressed={on}
      className={cn(on && "bg-accent-soft")}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

function Targets({ job, state }: { job: string; state: State | "" }) {
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

// failedOf are all applications of a job that failed.
async function failedOf(job: string): Promise<Target[]> {
  const out: Target[] = [];
  for (let cursor = ""; ;) {
    const page = await data(
      client.GET("/api/v1/jobs/{id}/targets", {
        params: { path: { id: job }, query: { state: "failed", limit: 1000, ...(cursor ? { cursor } : {}) } },
      }),
    );
    out.push(...(page.items ?? []));
    if (!page.nextCursor) {
      return out;
    }
    cursor = page.nextCursor;
  }
}

// answerable is true where there is something left to do about a job.
const answerable = (job: Job): boolean => job.state === "running" || job.counts.failed > 0;

function Foot({ job, onJob }: { job: Job; onJob: (id: string) => void }) {
  const [asking, setAsking] = useState(false);
  const stop = useMutation({
    mutationFn: () =>
      data(client.POST("/api/v1/jobs/{id}/stop", { params: { path: { id: job.id ?? "" }, query: {} } })),
    onSuccess: () => {
      toast("The job begins nothing more", "What has begun goes on to its end.");
      void queryClient.invalidateQueries({ queryKey: ["job"] });
    },
    onError: (error) => toastError(error, "The job was not stopped"),
  });
  const retry = async () => {
    const failed = await failedOf(job.id ?? "");
    // Those that failed are named: what chose them, and what was left out of it, does not matter any more.
    const { filter: _, targets: __, except: ___, ...request } = job.request;
    const targets = failed.map((t) => {
      const [agent = "", namespace = "", name = ""] = t.application.split("/");
      return { agent, namespace, name };
    });
    const made = await data(client.POST("/api/v1/jobs", { params: { query: {} }, body: { ...request, targets } }));
    void queryClient.invalidateQueries({ queryKey: ["job"] });
    onJob(made.job.id ?? "");
  };
  const { failed } = job.counts;
  return (
    <>
      {failed > 0 && job.state !== "running" && (
        <Button onClick={() => setAsking(true)}>Try {plural(failed, "failed application")} again</Button>
      )}
      {job.state === "running" && (
        <Button look="danger" busy={stop.isPending} onClick={() => stop.mutate()}>
          Stop
        </Button>
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        danger={false}
        title={`Try ${plural(failed, "application")} again`}
        action={`${actions[job.request.action] ?? "Do"} ${plural(failed, "application")}`}
        onConfirm={retry}
      >
        <p>A new job does the same, in the same way, with those that failed.</p>
      </Confirm>
    </>
  );
}
