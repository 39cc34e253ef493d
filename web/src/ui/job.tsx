import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, data } from "@/api/client";
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
import { Loaded, Loading } from "./states";
import { Status } from "./status";
import { toast, toastError } from "./toast";
import { type Job, type Target, jobStates, type State, actions, jobTitle, JobBar } from "./job-bar";
import { Targets } from "./job-targets";

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
      toast("The job starts no further applications", "Running applications continue to their end.");
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
        <p>A new job repeats the operation for those that failed.</p>
      </Confirm>
    </>
  );
}
