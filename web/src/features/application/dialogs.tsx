import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { plural } from "@/lib/format";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Dialog } from "@/ui/dialog";
import { Field, Input } from "@/ui/field";
import { Failed, Loading } from "@/ui/states";
import { toast } from "@/ui/toast";
import { useAddress } from "./address";
import { DeleteApplication } from "./delete";
import { conditionOf, keyOf, type Named, placeOf, planOf } from "./resource";
import { type Answer, type App, lookKey, operate, type Requests, useDetail } from "./use";

// The dialogs of the application: which one is open is in the address.
export function Dialogs({ app }: { app: App }) {
  const { get, set } = useAddress();
  const close = () => set({ do: "", id: "" }, true);
  switch (get("do")) {
    case "confirm":
      return <ConfirmPlan app={app} onClose={close} />;
    case "unpin":
      return <Asked app={app} verb="unpin" title="End the rollback" action="End the rollback" onClose={close} />;
    case "terminate":
      return (
        <Asked app={app} verb="terminate" title="Terminate the operation" action="Terminate" danger onClose={close} />
      );
    case "delete":
      return <DeleteApplication app={app} onClose={close} />;
    default:
      return null;
  }
}

// Reason is why somebody does something, for those who look at the application later.
export function Reason({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Field label="Reason" hint="For those who look at it later; it is kept in the ledger and the audit.">
      <Input value={value} maxLength={1000} onChange={(e) => onChange(e.target.value)} />
    </Field>
  );
}

// Objects names objects; beyond some it scrolls.
export function Objects({ objects, label }: { objects: Named[]; label: string }) {
  return (
    <ul
      aria-label={label}
      tabIndex={0}
      className="max-h-56 overflow-auto rounded-md border bg-ground p-2 font-mono text-sm"
    >
      {objects.map((o) => (
        <li key={keyOf(o)} className="break-all">
          {placeOf(o)}
        </li>
      ))}
    </ul>
  );
}

// sentence begins with a capital and ends with a stop, as what an agent says does not.
export function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return whole === "" || /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

// Asked asks for something after it was tried out: what the agent says that it would do is shown before.
function Asked({
  app,
  verb,
  title,
  action,
  danger = false,
  onClose,
}: {
  app: App;
  verb: "unpin" | "terminate";
  title: string;
  action: string;
  danger?: boolean;
  onClose: () => void;
}) {
  const [reason, setReason] = useState("");
  const tried = useQuery({
    queryKey: lookKey(app, "try", verb),
    gcTime: 0,
    queryFn: () => operate(app, verb, { dryRun: true }),
  });
  if (tried.data === undefined) {
    return <Trying title={title} error={tried.error} retry={() => void tried.refetch()} onClose={onClose} />;
  }
  return (
    <Confirm
      open
      onClose={onClose}
      title={title}
      action={action}
      danger={danger}
      onConfirm={() => ask(app, verb, reason ? { reason } : {})}
    >
      <p>{sentence(tried.data.message)}</p>
      {verb === "terminate" && <p>Hooks that run are deleted. What was applied stays.</p>}
      {verb === "unpin" && <p>What Git says is deployed again, also what is in quarantine now.</p>}
      <Warnings list={tried.data.warnings} />
      <Reason value={reason} onChange={setReason} />
    </Confirm>
  );
}

async function ask<V extends keyof Requests>(app: App, verb: V, body: Requests[V]): Promise<Answer> {
  const answer = await operate(app, verb, body);
  toast(sentence(answer.message));
  return answer;
}

// Trying is a dialog whose content is being asked for.
export function Trying({
  title,
  error,
  retry,
  onClose,
}: {
  title: string;
  error: unknown;
  retry: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog open onClose={onClose} title={title} footer={<Button onClick={onClose}>Cancel</Button>}>
      {error != null ? <Failed error={error} retry={retry} /> : <Loading rows={3} label="Asking the agent" />}
    </Dialog>
  );
}

// Warnings are what could not be looked at, or is not in force.
export function Warnings({ list }: { list: string[] | null | undefined }) {
  if (!list?.length) {
    return null;
  }
  return (
    <ul className="space-y-1 rounded-md bg-warn-soft px-3 py-2 text-sm">
      {list.map((w) => (
        <li key={w} className="break-words">
          {sentence(w)}
        </li>
      ))}
    </ul>
  );
}

// ConfirmPlan shows what a held sync or deletion would delete, and confirms just that.
function ConfirmPlan({ app, onClose }: { app: App; onClose: () => void }) {
  const { resource } = useDetail(app);
  const [reason, setReason] = useState("");
  const message = conditionOf(resource, "Held")?.message ?? resource.status?.operationState?.message ?? "";
  const tried = useQuery({
    queryKey: lookKey(app, "try", "confirm", planOf(message)),
    gcTime: 0,
    queryFn: () => operate(app, "confirm", { dryRun: true }),
  });
  const title = "Confirm what is deleted";
  if (tried.data === undefined) {
    return <Trying title={title} error={tried.error} retry={() => void tried.refetch()} onClose={onClose} />;
  }
  const { objects, plan } = tried.data;
  const list = objects ?? [];
  return (
    <Confirm
      open
      onClose={onClose}
      title={title}
      action={list.length > 0 ? `Delete ${plural(list.length, "object")}` : "Confirm"}
      onConfirm={() =>
        ask(app, "confirm", {
          ...(plan ? { plan } : message ? { message } : {}),
          ...(reason ? { reason } : {}),
        })
      }
    >
      <p className="break-words">{sentence(tried.data.message)}</p>
      {list.length > 0 && <Objects objects={list} label="Objects that are deleted" />}
      {plan && (
        <p className="text-sm text-muted">
          Only this set of objects is confirmed: plan <code className="break-all">{plan}</code>. Should it change, you
          are asked again.
        </p>
      )}
      <Warnings list={tried.data.warnings} />
      <Reason value={reason} onChange={setReason} />
    </Confirm>
  );
}
