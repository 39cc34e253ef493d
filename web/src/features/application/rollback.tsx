import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type App, lookKey, useLack } from "@/lib/application";
import { plural, sentence, short } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Confirm } from "@/ui/confirm";
import { Field, Select } from "@/ui/field";
import { ErrorNote, Loading } from "@/ui/states";
import { toast } from "@/ui/toast";
import { differenceQuery } from "./compare";
import { Objects, Reason, Warnings } from "./dialog-parts";
import { momentOf, type Past } from "./past";
import { automated, revisionsText } from "./resource";
import { operate, useDetail } from "./use";

// Rollback shows the effect of a rollback before it starts.
export function Rollback({ app, history, onClose }: { app: App; history: Past[]; onClose: () => void }) {
  const { resource } = useDetail(app);
  // Beside an Argo CD, which has no pin.
  const beside = useLack(app)("application.unpin") !== undefined;
  const [search] = useAddress();
  const [id, setId] = useState(one(search, "id"));
  const [reason, setReason] = useState("");
  const choices = history.filter((p) => p.deployment !== undefined);
  const which: { id?: number } = id === "" ? {} : { id: Number(id) };
  const tried = useQuery({
    queryKey: lookKey(app, "try", "rollback", id),
    gcTime: 0,
    queryFn: () => operate(app, "rollback", { ...which, dryRun: true }),
  });
  // Without an id, and until the agent has answered, it is not known which one.
  const deployment = tried.data?.deployment ?? which.id;
  const past = deployment === undefined ? undefined : choices.find((p) => p.deployment === deployment);
  const by = automated(resource);
  const to = revisionsText(tried.data?.revisions ?? past?.revisions ?? []);
  const kept = revisionsText(tried.data?.quarantine ?? []);
  const run = async () => {
    const answer = await operate(app, "rollback", {
      ...(deployment === undefined ? {} : { id: deployment }),
      ...(reason ? { reason } : {}),
    });
    toast(sentence(answer.message));
  };
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Roll ${app.name} back`}
      action={tried.data && to ? `Roll back to ${to}` : "Roll back"}
      danger={false}
      onConfirm={run}
    >
      <Field label="Back to">
        <Select value={id} onChange={(e) => setId(e.target.value)}>
          <option value="">The previous deployment</option>
          {choices.map((p) => (
            <option key={p.key} value={p.deployment} disabled={p.current && !p.quarantined}>
              {`${p.deployment}: ${p.revisions.map(short).join(", ")} ${p.subject}${p.current ? " (current)" : ""}`}
            </option>
          ))}
        </Select>
      </Field>
      {tried.error != null ? (
        <ErrorNote error={tried.error} />
      ) : tried.data === undefined ? (
        <Loading rows={3} label="Reading the plan from the agent" />
      ) : (
        <div className="space-y-2" aria-live="polite">
          <ul className="list-disc space-y-1 pl-5">
            <li>
              {deployment === undefined ? "The previous deployment" : `Deployment ${deployment}`}
              {to && (
                <>
                  , <code>{to}</code>
                  {past?.subject ? ` (${past.subject})` : ""},
                </>
              )}{" "}
              is deployed again, with its waves{beside ? " and without hooks" : " and hooks"}.
            </li>
            {by ? (
              <>
                <li>The application is pinned to it. Auto-sync stays on, and keeps the objects at that deployment.</li>
                <li>
                  {kept ? (
                    <>
                      The present revision in Git, <code>{kept}</code>, is skipped
                    </>
                  ) : (
                    "The present revision in Git is skipped"
                  )}{" "}
                  until a commit changes what this application renders. That commit is deployed automatically.
                </li>
              </>
            ) : (
              <li>Auto-sync is off, so there is no pin. The next sync deploys the present revision in Git.</li>
            )}
            {beside ? (
              <li>Argo CD does the rollback, and deletes objects that did not exist then.</li>
            ) : (
              <li>The deletion guard and sync windows apply, as for any sync.</li>
            )}
          </ul>
          {past && <Consequences app={app} past={past} />}
          <Warnings list={tried.data.warnings} />
        </div>
      )}
      <Reason value={reason} onChange={setReason} />
    </Confirm>
  );
}

// now is a time in the near future, rounded so that it is the same question for a while.
const now = (): string => new Date((Math.floor(Date.now() / 60_000) + 1) * 60_000).toISOString();

// Consequences are the objects that come and go with a rollback, as the ledger knows them.
function Consequences({ app, past }: { app: App; past: Past }) {
  const [until] = useState(now);
  const query = useQuery(differenceQuery(app, momentOf(past), until, false));
  const objects = (change: string) => (query.data?.differences ?? []).filter((d) => d.change === change);
  const goes = objects("added");
  const comes = objects("removed");
  const changes = objects("changed").length;
  if (!query.data) {
    return null;
  }
  if (query.data.warnings?.length) {
    return (
      <p className="text-muted">
        The objects that a rollback changes are not known. {sentence(query.data.warnings.join("; "))}
      </p>
    );
  }
  return (
    <div className="space-y-2">
      <p>
        {goes.length + comes.length + changes === 0
          ? "As far as the ledger knows, no object differs between then and now."
          : `Since then ${plural(changes, "object")} changed, ${plural(goes.length, "object")} came and ${plural(comes.length, "object")} went.`}
      </p>
      {goes.length > 0 && (
        <div>
          <p className="mb-1 text-sm">Did not exist then, and are deleted if prune is allowed:</p>
          <Objects objects={goes} label="Objects that are deleted" />
        </div>
      )}
      {comes.length > 0 && (
        <div>
          <p className="mb-1 text-sm">Existed then, and are created again:</p>
          <Objects objects={comes} label="Objects that are created again" />
        </div>
      )}
    </div>
  );
}
