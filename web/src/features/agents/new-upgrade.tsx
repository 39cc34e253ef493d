import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { plural } from "@/lib/format";
import { queryClient } from "@/lib/query";
import { useSettled } from "@/lib/settled";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Checkbox, Field, Input, Select } from "@/ui/field";
import { ErrorNote } from "@/ui/states";
import { useReleases } from "./upgrade-data";

// labelsOf reads "ring=early, gpu".
function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean)
      .map((part) => [part.split("=")[0]?.trim() ?? "", part.split("=").slice(1).join("=").trim()]),
  );
}

// NewUpgrade asks what to upgrade, shows the order, and starts it.
export function NewUpgrade({
  open,
  onClose,
  onMade,
}: {
  open: boolean;
  onClose: () => void;
  onMade: (id: string) => void;
}) {
  const releases = useReleases(open);
  const [release, setRelease] = useState("");
  const [labels, setLabels] = useState("");
  const [canary, setCanary] = useState("1");
  const [unavailable, setUnavailable] = useState("3");
  const [reason, setReason] = useState("");
  const [downgrade, setDowngrade] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const request = useSettled(
    useMemo(
      (): Schemas["UpgradeRequest"] => ({
        ...(release && { release }),
        ...(labels && { selector: labelsOf(labels) }),
        canary: Number(canary) || 0,
        maxUnavailable: Number(unavailable) || 0,
        ...(downgrade && { allowDowngrade: true }),
        ...(reason && { reason }),
      }),
      [release, labels, canary, unavailable, downgrade, reason],
    ),
    250,
  );
  const plan = useQuery({
    queryKey: ["agent", "upgrade-plan", request],
    enabled: open,
    retry: false,
    queryFn: () => data(client.POST("/api/v1/agent-upgrades", { params: { query: { dryRun: true } }, body: request })),
  });
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      const made = await data(client.POST("/api/v1/agent-upgrades", { params: { query: {} }, body: request }));
      await queryClient.invalidateQueries({ queryKey: ["agent"] });
      onClose();
      onMade(made.upgrade.id ?? "");
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const waiting = plan.data?.upgrade.counts.waiting ?? 0;
  const skipped = (plan.data?.targets ?? []).filter((t) => t.state === "skipped");
  const order = (plan.data?.targets ?? []).filter((t) => t.state === "waiting");
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Upgrade agents"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={busy} disabled={waiting === 0} onClick={() => void start()}>
            {waiting > 0 ? `Upgrade ${plural(waiting, "agent")}` : "Upgrade"}
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <Field label="Version" hint="A release that was added, or the version that the rules say for each agent.">
          <Select value={release} onChange={(e) => setRelease(e.target.value)}>
            <option value="">As wanted by the rules</option>
            {(releases.data ?? []).map((r) => (
              <option key={r.version} value={r.version}>
                {r.version}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Labels" hint="Only agents with these labels, separated by commas. Empty: all.">
          <Input value={labels} placeholder="region=eu" onChange={(e) => setLabels(e.target.value)} />
        </Field>
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Canaries" hint="Agents that are upgraded first.">
            <Input type="number" min={1} value={canary} onChange={(e) => setCanary(e.target.value)} />
          </Field>
          <Field label="At a time" hint="Agents that may be under way.">
            <Input type="number" min={1} value={unavailable} onChange={(e) => setUnavailable(e.target.value)} />
          </Field>
        </div>
        <Field label="Reason" hint="For the audit log.">
          <Input value={reason} onChange={(e) => setReason(e.target.value)} />
        </Field>
        <Checkbox
          label="Allow older versions"
          hint="An agent takes an older version only by a statement that was signed after that of its own."
          checked={downgrade}
          onChange={(e) => setDowngrade(e.target.checked)}
        />
        {plan.error && <ErrorNote error={plan.error} />}
        {plan.data?.upgrade.message && <p className="text-muted first-letter:uppercase">{plan.data.upgrade.message}</p>}
        {order.length > 0 && (
          <details className="rounded-md border" open={order.length <= 8}>
            <summary className="cursor-pointer px-3 py-2">Order of {plural(order.length, "agent")}</summary>
            <ol aria-label="Order" className="max-h-48 space-y-1 overflow-auto border-t p-3 text-sm">
              {order.map((t) => (
                <li key={t.agent} className="flex flex-wrap gap-x-3">
                  <span className="grow font-medium">{t.agent}</span>
                  <span className="tabular-nums">
                    {t.fromVersion || "unknown"} → {t.version}
                  </span>
                  <span className="ml-auto text-muted">{t.step === 0 ? "canary" : `step ${t.step}`}</span>
                </li>
              ))}
            </ol>
          </details>
        )}
        {skipped.length > 0 && (
          <details className="rounded-md border">
            <summary className="cursor-pointer px-3 py-2">{plural(skipped.length, "agent")} left out</summary>
            <ul className="max-h-48 space-y-1 overflow-auto border-t p-3 text-sm">
              {skipped.map((t) => (
                <li key={t.agent}>
                  <span className="font-medium">{t.agent}</span>: {t.message}
                </li>
              ))}
            </ul>
          </details>
        )}
        {error != null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
