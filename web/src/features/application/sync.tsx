import { useQuery } from "@tanstack/react-query";
import { type App, lookKey, useApp } from "@/lib/application";
import { sentence } from "@/lib/format";
import { known, between } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Card, Facts } from "@/ui/page";
import { Empty } from "@/ui/states";
import { Status } from "@/ui/status";
import { useActions } from "./actions";
import { Warnings } from "./dialog-parts";
import { useTimeline } from "./operation";
import type { Plan } from "./plan";
import { keyOf, type OperationState, person, type Resource, revisionsOf } from "./resource";
import { Revision } from "./revision";
import { Line, StateIcon, Verb, Waves } from "./steps";
import { stateOfAll, type Step } from "./timeline";
import { useDetail, useMay } from "./use";

// ApplicationSync is the last or running operation, step by step.
export default function ApplicationSync() {
  const app = useApp();
  const { resource } = useDetail(app);
  const actions = useActions(app);
  const may = useMay(app);
  const state = resource.status?.operationState;
  if (!state) {
    return (
      <Empty
        title={resource.operation ? "The sync has not begun yet" : "No sync yet"}
        action={
          !resource.operation && (
            <Button look="primary" why={may.sync} onClick={() => actions.sync()}>
              Sync…
            </Button>
          )
        }
      >
        {resource.operation
          ? "The agent starts it in a moment."
          : "A sync brings the cluster to the desired state in Git. A preview shows its effect."}
      </Empty>
    );
  }
  return <Operation app={app} state={state} resource={resource} />;
}

export interface Planned {
  request: string;
  plan: Plan;
}

// plannedKey is under which the panel leaves the plan that the user saw before starting the sync.
export const plannedKey = (app: App) => lookKey(app, "planned");

function Operation({ app, state, resource }: { app: App; state: OperationState; resource: Resource }) {
  const planned = useQuery<Planned | null>({
    queryKey: plannedKey(app),
    queryFn: () => null,
    staleTime: Infinity,
  }).data;
  const request = state.operation.info?.find((i) => i.name === "slipway-request")?.value;
  const plan = planned && planned.request === request ? planned.plan : undefined;
  const sync = state.operation.sync;
  const { timeline, warnings } = useTimeline(app, state, resource, plan);
  const revisions = revisionsOf(state.syncResult ?? sync);
  const options = [
    sync?.prune && "prune",
    sync?.dryRun && "dry run",
    sync?.resources?.length && `${sync.resources.length} objects only`,
    ...(sync?.syncOptions ?? []),
  ].filter((o): o is string => Boolean(o));
  const reason = state.operation.info?.find((i) => i.name === "reason")?.value;
  return (
    <div className="grid items-start gap-3 lg:grid-cols-[20rem_1fr]">
      <Card title={sync?.dryRun ? "Dry run" : "Operation"}>
        <Facts
          facts={[
            ["Phase", <Status key="phase" status={state.phase} />],
            ["Began", <Ago key="began" at={state.startedAt} />],
            ["Took", known(state.finishedAt) ? between(state.startedAt, state.finishedAt) : "running"],
            [
              "Started by",
              state.operation.initiatedBy?.automated
                ? "automatic: the sync policy"
                : person(state.operation.initiatedBy?.username ?? "unknown"),
            ],
            [
              "Revision",
              revisions.length === 0 ? "unknown" : revisions.map((r, i) => <Revision key={i} app={app} revision={r} />),
            ],
            ["Objects", `${timeline.done} of ${timeline.total}${timeline.failed ? `, ${timeline.failed} failed` : ""}`],
            ...(options.length > 0 ? ([["Options", options.join(", ")]] as [string, string][]) : []),
            ...(state.retryCount ? ([["Attempts before", state.retryCount]] as [string, number][]) : []),
            ...(reason ? ([["Reason", reason]] as [string, string][]) : []),
          ]}
        />
        {state.message && (
          <p className="mt-3 max-h-60 overflow-auto border-t pt-3 whitespace-pre-wrap break-words" tabIndex={0}>
            {sentence(state.message)}
          </p>
        )}
      </Card>
      <div className="min-w-0 space-y-3">
        {resource.operation && known(state.finishedAt) && (
          <p role="status" className="rounded-lg border bg-surface px-3 py-2">
            Another operation was requested and has not begun yet. Below is the previous one.
          </p>
        )}
        {state.phase !== "Succeeded" && <Warnings list={warnings} />}
        {timeline.total > 0 ? (
          <Waves<Step>
            label="Steps of the operation"
            phases={timeline.phases.map((p) => ({
              phase: p.phase,
              waves: p.waves.map((w) => ({ wave: w.wave, items: w.steps })),
            }))}
            mark={(steps) => <StateIcon state={stateOfAll(steps)} />}
            item={(step) => (
              <Line
                key={`${step.hook} ${keyOf(step)}`}
                object={step}
                note={step.message}
                bad={step.state === "failed"}
                before={
                  <span className="inline-flex items-center gap-2">
                    <StateIcon state={step.state} />
                    <Verb verb={step.verb} />
                  </span>
                }
              />
            )}
          />
        ) : (
          <Empty title={known(state.finishedAt) ? "It did nothing" : "It has done nothing yet"}>{state.message}</Empty>
        )}
      </div>
    </div>
  );
}
