import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { plural } from "@/lib/format";
import { queryClient } from "@/lib/query";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Checkbox, Field, Input } from "@/ui/field";
import { ErrorNote, Loading } from "@/ui/states";
import { Status } from "@/ui/status";
import { Table } from "@/ui/table";
import { type Filter } from "./filter";
import { type Selection, wanted } from "./selection";

type Action = Schemas["JobRequest"]["action"];

export const actionNames: Record<Action, string> = {
  sync: "Sync",
  refresh: "Refresh",
  "hard-refresh": "Hard refresh",
  rollback: "Roll back",
};

const about: Record<Action, string> = {
  sync: "Each application is synced with its sources.",
  refresh: "Each application reads Git and its cluster again. Only applications with auto-sync may change.",
  "hard-refresh":
    "Each application is rendered and compared again without caches. This is expensive for many applications.",
  rollback: "Each application goes back to its previous deployment. Applications with auto-sync are pinned there.",
};

const options = [
  ["prune", "Prune", "Delete objects that are no longer wanted"],
  ["dryRun", "Dry run", "Only test the changes against the API server"],
  ["applyOnly", "Apply only", "Run no hooks"],
  ["serverSide", "Server-side apply", "Even if the application does not use it"],
  ["replace", "Replace", "Replace objects instead of merging into them"],
  ["force", "Force", "Recreate objects that cannot be changed in place"],
] as const;

type Option = (typeof options)[number][0];

// Bulk asks how the same is done with many applications: it says with which before anything begins.
export function Bulk({
  action,
  selection,
  filter,
  onClose,
  onStarted,
}: {
  action: Action;
  selection: Selection;
  filter: Filter;
  onClose: () => void;
  onStarted: (job: string) => void;
}) {
  const [limit, setLimit] = useState("5");
  const [stopAfter, setStopAfter] = useState("");
  const [reason, setReason] = useState("");
  const [on, setOn] = useState<ReadonlySet<Option>>(new Set());
  const which = wanted(selection, filter);
  const plan = useQuery({
    queryKey: ["bulk", action, which],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      data(client.POST("/api/v1/jobs", { params: { query: { dryRun: true } }, body: { action, ...which }, signal })),
  });
  const start = useMutation({
    mutationFn: () =>
      data(
        client.POST("/api/v1/jobs", {
          params: { query: {} },
          body: {
            action,
            ...which,
            limit: Number(limit) || 0,
            stopAfter: Number(stopAfter) || 0,
            reason,
            ...(action === "sync" ? { sync: Object.fromEntries([...on].map((o) => [o, true])) } : {}),
          },
        }),
      ),
    onSuccess: ({ job }) => {
      void queryClient.invalidateQueries({ queryKey: ["job"] });
      onStarted(job.id ?? "");
    },
  });
  const counts = plan.data?.job.counts;
  const can = counts?.waiting ?? 0;
  const refused = (plan.data?.targets ?? []).filter((t) => t.state === "refused");
  return (
    <Dialog
      open
      onClose={onClose}
      className="max-w-2xl"
      title={`${actionNames[action]} ${counts ? plural(can, "application") : "applications"}`}
      description={about[action]}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={action === "rollback" || on.has("force") || on.has("replace") ? "danger" : "primary"}
            busy={start.isPending}
            disabled={can === 0}
            onClick={() => start.mutate()}
          >
            {actionNames[action]} {counts ? plural(can, "application") : ""}
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <div aria-live="polite">
          {plan.data ? (
            <Plan plan={plan.data} refused={refused} can={can} />
          ) : plan.error ? (
            <ErrorNote error={plan.error} />
          ) : (
            <Loading rows={3} label="Reading the applications" />
          )}
        </div>
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="At a time" hint="Number of applications at the same time, 1 to 50">
            <Input type="number" min={1} max={50} value={limit} onChange={(e) => setLimit(e.target.value)} />
          </Field>
          <Field label="Stop after failures" hint="The job then starts no further applications. Empty for never">
            <Input type="number" min={1} value={stopAfter} onChange={(e) => setStopAfter(e.target.value)} />
          </Field>
        </div>
        <Field label="Reason" hint="For the audit log, and for later readers">
          <Input value={reason} maxLength={1000} onChange={(e) => setReason(e.target.value)} />
        </Field>
        {action === "sync" && (
          <fieldset>
            <legend className="mb-1 text-sm font-medium">Options</legend>
            <div className="grid gap-2 sm:grid-cols-2">
              {options.map(([name, label, hint]) => (
                <Checkbox
                  key={name}
                  label={label}
                  hint={hint}
                  checked={on.has(name)}
                  onChange={(e) => {
                    const next = new Set(on);
                    if (e.target.checked) {
                      next.add(name);
                    } else {
                      next.delete(name);
                    }
                    setOn(next);
                  }}
                />
              ))}
            </div>
          </fieldset>
        )}
        {start.error && <ErrorNote error={start.error} />}
      </div>
    </Dialog>
  );
}

function Plan({ plan, refused, can }: { plan: Schemas["JobPlan"]; refused: Schemas["JobTarget"][]; can: number }) {
  const targets = plan.targets ?? [];
  const { total } = plan.job.counts;
  return (
    <div className="space-y-2">
      <p>
        {can === 0
          ? "You may not do this with any of these applications."
          : `Applies to ${plural(can, "application")}.`}{" "}
        {refused.length > 0 && (
          <span className="text-bad">{plural(refused.length, "application")} would be refused.</span>
        )}
      </p>
      {targets.length > 0 && (
        <Table
          label="Applications"
          className="max-h-44 rounded-md border"
          rowHeight={30}
          rows={[...refused, ...targets.filter((t) => t.state !== "refused")]}
          rowKey={(t) => t.application}
          columns={[
            { key: "application", title: "Application", width: "minmax(14rem, 1fr)", cell: (t) => t.application },
            {
              key: "state",
              title: "",
              width: "minmax(7rem, 1fr)",
              cell: (t) =>
                t.state === "refused" ? (
                  <span title={t.message}>
                    <Status status="refused" /> {t.message}
                  </span>
                ) : (
                  ""
                ),
            },
          ]}
        />
      )}
      {total > targets.length && <p className="text-sm text-muted">The first {targets.length} are listed.</p>}
    </div>
  );
}
