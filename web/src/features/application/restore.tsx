import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type App, lookKey } from "@/lib/application";
import { plural, sentence } from "@/lib/format";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Dialog } from "@/ui/dialog";
import { Checkbox } from "@/ui/field";
import { toast } from "@/ui/toast";
import { Reason, Trying, Warnings } from "./dialog-parts";
import { keyOf, nameOf, placeOf } from "./resource";
import { operate } from "./use";

// Restore brings back objects that an earlier deployment had and that are gone.
export function Restore({ app, onClose }: { app: App; onClose: () => void }) {
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [reason, setReason] = useState("");
  const tried = useQuery({
    queryKey: lookKey(app, "try", "restore"),
    gcTime: 0,
    queryFn: () => operate(app, "restore", { dryRun: true }),
  });
  const title = "Restore deleted objects";
  if (tried.data === undefined) {
    return <Trying title={title} error={tried.error} retry={() => void tried.refetch()} onClose={onClose} />;
  }
  const list = tried.data.objects ?? [];
  if (list.length === 0) {
    return (
      <Dialog open onClose={onClose} title={title} footer={<Button onClick={onClose}>Close</Button>}>
        <p>{sentence(tried.data.message)}</p>
        <p className="mt-2 text-muted">No object of earlier deployments is missing.</p>
        <Warnings list={tried.data.warnings} />
      </Dialog>
    );
  }
  const toggle = (key: string) => {
    const next = new Set(chosen);
    if (!next.delete(key)) {
      next.add(key);
    }
    setChosen(next);
  };
  const objects = list.filter((o) => chosen.has(keyOf(o)));
  return (
    <Confirm
      open
      onClose={onClose}
      title={title}
      danger={false}
      action={objects.length > 0 ? `Restore ${plural(objects.length, "object")}` : `Restore all ${list.length}`}
      onConfirm={async () => {
        const answer = await operate(app, "restore", {
          objects: (objects.length > 0 ? objects : list).map(nameOf),
          ...(reason ? { reason } : {}),
        });
        toast(sentence(answer.message));
      }}
    >
      <p>
        They are applied as in their last deployment, and protected from pruning. The application stays out of sync
        until Git contains them. Other contents, such as data of a volume, are not restored.
      </p>
      <ul className="max-h-64 overflow-auto rounded-md border p-2" tabIndex={0} aria-label="Missing objects">
        {list.map((o) => (
          <li key={keyOf(o)}>
            <Checkbox
              checked={chosen.has(keyOf(o))}
              onChange={() => toggle(keyOf(o))}
              label={<span className="break-all">{placeOf(o)}</span>}
              hint={o.deployment !== undefined && `last in deployment ${o.deployment}`}
            />
          </li>
        ))}
      </ul>
      <Warnings list={tried.data.warnings} />
      <Reason value={reason} onChange={setReason} />
    </Confirm>
  );
}
