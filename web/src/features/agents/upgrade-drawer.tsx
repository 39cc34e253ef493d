import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { count, plural } from "@/lib/format";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Drawer } from "@/ui/dialog";
import { Facts } from "@/ui/page";
import { Loaded, Loading } from "@/ui/states";
import { Status } from "@/ui/status";
import { toastError } from "@/ui/toast";
import { stepOf } from "./upgrade-data";

type Plan = Schemas["UpgradePlan"];

const key = (id: string) => ["agent", "upgrade", id];

// UpgradeDrawer follows an upgrade: how far it is, each agent, and what can be done about it.
export function UpgradeDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery({
    queryKey: key(id),
    enabled: id !== "",
    queryFn: ({ signal }) => data(client.GET("/api/v1/agent-upgrades/{id}", { params: { path: { id } }, signal })),
    refetchInterval: (q) => (q.state.data?.upgrade.state === "running" ? 2000 : false),
  });
  const upgrade = query.data?.upgrade;
  return (
    <Drawer
      open={id !== ""}
      onClose={onClose}
      title={upgrade ? `Upgrade to ${upgrade.request.release || "the wanted versions"}` : "Upgrade"}
      description={upgrade?.request.reason || undefined}
      footer={upgrade ? <Foot upgrade={upgrade} /> : undefined}
    >
      <Loaded query={query} loading={<Loading />}>
        {(plan) => <Body plan={plan} />}
      </Loaded>
    </Drawer>
  );
}

function Body({ plan: { upgrade, targets } }: { plan: Plan }) {
  return (
    <div className="space-y-3 p-4">
      <div className="flex items-center justify-between gap-3" aria-live="polite">
        <Status status={upgrade.state} />
        <span className="tabular-nums">
          {count(upgrade.counts.done)} of {count(upgrade.counts.total)} upgraded, {stepOf(upgrade)}
        </span>
      </div>
      {upgrade.message && <p className="break-words text-warn">{upgrade.message}</p>}
      <Facts
        facts={[
          ["By", `${upgrade.by.type}:${upgrade.by.id}`],
          ["Begun", <Ago key="at" at={upgrade.createdAt} />],
          ["At a time", count(upgrade.request.maxUnavailable ?? 0)],
          ["Stays healthy for", `${upgrade.request.holdSeconds ?? 0} s`],
          ["Timeout", `${upgrade.request.timeoutSeconds ?? 0} s`],
        ]}
      />
      <ul aria-label="Agents" className="divide-y rounded-md border">
        {(targets ?? []).map((t) => (
          <li key={t.place} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
            <span className="grow font-medium">{t.agent}</span>
            <span className="text-sm text-muted">{t.step === 0 ? "canary" : `step ${t.step}`}</span>
            <span className="text-sm tabular-nums">
              {t.fromVersion || "unknown"} → {t.version}
            </span>
            <Status status={t.state} />
            {t.message && <p className="basis-full text-sm break-words text-muted">{t.message}</p>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Foot({ upgrade }: { upgrade: Schemas["Upgrade"] }) {
  const id = upgrade.id ?? "";
  const missing = useMissing("agent_edit", upgrade.request.scope ?? "account");
  const [asking, setAsking] = useState(false);
  const change = useMutation({
    mutationFn: async (what: "stop" | "resume" | "rollback") => {
      const path = { params: { path: { id } } };
      switch (what) {
        case "stop":
          return data(client.POST("/api/v1/agent-upgrades/{id}/stop", path));
        case "resume":
          return data(client.POST("/api/v1/agent-upgrades/{id}/resume", path));
        case "rollback":
          return data(client.POST("/api/v1/agent-upgrades/{id}/rollback", path));
      }
    },
    onError: toastError,
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["agent"] }),
  });
  const upgraded = upgrade.counts.done + upgrade.counts.underWay;
  const running = upgrade.state === "running";
  const resumable = (upgrade.state === "stopped" || upgrade.state === "failed") && upgrade.counts.waiting > 0;
  return (
    <>
      {running && !upgrade.stoppedBy && (
        <Button why={missing} busy={change.isPending} onClick={() => change.mutate("stop")}>
          Stop
        </Button>
      )}
      {resumable && (
        <Button why={missing} busy={change.isPending} onClick={() => change.mutate("resume")}>
          Resume
        </Button>
      )}
      {!upgrade.back && upgraded > 0 && (
        <Button look="danger" why={missing} busy={change.isPending} onClick={() => setAsking(true)}>
          Roll back
        </Button>
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Roll back the upgrade"
        action={`Roll back ${plural(upgraded, "agent")}`}
        onConfirm={() => change.mutateAsync("rollback")}
      >
        Each agent runs again what it ran before, the last ones first. It is away for some seconds while it restarts.
      </Confirm>
    </>
  );
}
