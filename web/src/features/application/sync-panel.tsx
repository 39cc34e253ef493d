import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { client, data } from "@/api/client";
import { type App, lookKey, useApp } from "@/lib/application";
import { plural } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { noPanel } from "@/lib/panel";
import { queryClient } from "@/lib/query";
import { one } from "@/lib/search";
import { useSettled } from "@/lib/settled";
import { Button } from "@/ui/button";
import { Drawer } from "@/ui/dialog";
import { ErrorNote, Failed, Loading } from "@/ui/states";
import { toast } from "@/ui/toast";
import { useActions } from "./actions";
import { type Choice, noChoice, requestOf } from "./plan";
import { nameOf, running, sourcesOf } from "./resource";
import { plannedKey } from "./sync";
import { SyncForm } from "./sync-form";
import { PlanView } from "./sync-plan";
import { operate, useDetail, useMay } from "./use";

function usePlan(app: App, request: ReturnType<typeof requestOf>) {
  // Who asks and for how often does not change what it does.
  const { reason: _, retry: __, ...rest } = request;
  const text = useSettled(JSON.stringify(rest), 400);
  return useQuery({
    queryKey: lookKey(app, "plan", text),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    queryFn: () =>
      data(
        client.POST("/api/v1/agents/{agent}/applications/{namespace}/{name}/plan", {
          params: { path: { agent: app.agent, namespace: app.namespace, name: app.name } },
          body: JSON.parse(text) as ReturnType<typeof requestOf>,
        }),
      ),
  });
}

// SyncPanel asks what to sync and how, and shows what that would do before it is asked for.
export default function SyncPanel() {
  const app = useApp();
  const [search, set] = useAddress();
  const { resource } = useDetail(app);
  const actions = useActions(app);
  const may = useMay(app);
  const targets = useMemo(() => sourcesOf(resource.spec).map((s) => s.targetRevision ?? ""), [resource.spec]);
  const [choice, setChoice] = useState<Choice>(() => ({
    ...noChoice,
    prune: one(search, "prune") === "1",
    objects:
      one(search, "objects") === "out"
        ? (resource.status?.resources ?? []).filter((o) => o.status === "OutOfSync").map(nameOf)
        : [],
  }));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const request = requestOf(choice, targets);
  const plan = usePlan(app, request);
  const close = () => set(noPanel);
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      const answer = await operate(app, "sync", request);
      if (plan.data && answer.request) {
        queryClient.setQueryData(plannedKey(app), { request: answer.request, plan: plan.data });
      }
      toast(choice.dryRun ? `Dry run of ${app.name} requested` : `Sync of ${app.name} requested`);
      actions.go("sync");
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const gone = !choice.dryRun && !plan.isPlaceholderData ? (plan.data?.counts.delete ?? 0) : 0;
  const under = running(resource);
  return (
    <Drawer
      open
      onClose={close}
      title={`Sync ${app.name}`}
      description="Brings the cluster to the desired state in Git. The plan below shows the effect now."
      footer={
        <>
          {under && <p className="mr-auto text-sm text-muted">An operation is running. This one begins after it.</p>}
          <Button onClick={close}>Cancel</Button>
          <Button look={gone > 0 ? "danger" : "primary"} busy={busy} why={may.sync} onClick={() => void start()}>
            {choice.dryRun ? "Dry run" : gone > 0 ? `Sync and delete ${plural(gone, "object")}` : "Sync"}
          </Button>
        </>
      }
    >
      <div className="space-y-4 p-4">
        <SyncForm resource={resource} choice={choice} onChange={setChoice} />
        {error != null && <ErrorNote error={error} />}
        <section aria-label="Plan" aria-busy={plan.isFetching} className="border-t pt-4">
          <h3 className="mb-2 font-semibold">Plan</h3>
          {plan.error != null ? (
            <Failed error={plan.error} retry={() => void plan.refetch()} />
          ) : plan.data ? (
            <div className={plan.isPlaceholderData ? "opacity-60" : ""}>
              <PlanView plan={plan.data} />
            </div>
          ) : (
            <Loading rows={5} label="Reading the plan from the agent" />
          )}
        </section>
      </div>
    </Drawer>
  );
}
