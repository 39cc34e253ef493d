import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type App, lookKey } from "@/lib/application";
import { plural, sentence } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Confirm } from "@/ui/confirm";
import { toast } from "@/ui/toast";
import { DeleteApplication } from "./delete";
import { Objects, Reason, Trying, Warnings } from "./dialog-parts";
import { askedOf, planOf } from "./resource";
import { type Answer, operate, type Requests, useDetail } from "./use";

// The dialogs of the application: which one is open is in the address.
export function Dialogs({ app }: { app: App }) {
  const [search, set] = useAddress();
  const close = () => set({ do: "", id: "" });
  switch (one(search, "do")) {
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
      {verb === "terminate" && <p>Running hooks are deleted. Applied objects stay.</p>}
      {verb === "unpin" && <p>Git is deployed again, including the revision that is now in quarantine.</p>}
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

// ConfirmPlan shows what a held sync or deletion would delete, and confirms just that.
function ConfirmPlan({ app, onClose }: { app: App; onClose: () => void }) {
  const { resource } = useDetail(app);
  const [reason, setReason] = useState("");
  const message = askedOf(resource);
  const tried = useQuery({
    queryKey: lookKey(app, "try", "confirm", planOf(message)),
    gcTime: 0,
    queryFn: () => operate(app, "confirm", { dryRun: true }),
  });
  const title = "Confirm the deletions";
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
          Only this set of objects is confirmed: plan <code className="break-all">{plan}</code>. If it changes, you must
          confirm again.
        </p>
      )}
      <Warnings list={tried.data.warnings} />
      <Reason value={reason} onChange={setReason} />
    </Confirm>
  );
}
