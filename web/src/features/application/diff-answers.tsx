import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type App, lookKey } from "@/lib/application";
import { plural, repository, sentence } from "@/lib/format";
import { queryClient } from "@/lib/query";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Snippet } from "@/ui/copy";
import { Dialog } from "@/ui/dialog";
import { Field, Input, Select } from "@/ui/field";
import { toast } from "@/ui/toast";
import { reversed } from "@/lib/diff-text";
import { Objects, Reason, Trying, Warnings } from "./dialog-parts";
import { type ObjectDiff, text, untils } from "./drift";
import { nameOf, placeOf, sourcesOf } from "./resource";
import { operate, useDetail } from "./use";

// The three answers to drift: put it back, take it over into Git, or let it be for a while.

const again = (app: App): void => void queryClient.invalidateQueries({ queryKey: lookKey(app, "diff") });

interface Props {
  app: App;
  onClose: () => void;
}

// RevertDrift puts objects back to what was deployed.
export function RevertDrift({ app, items, all, onClose }: Props & { items: ObjectDiff[]; all: boolean }) {
  const [reason, setReason] = useState("");
  const which = all ? {} : { objects: items.map(nameOf) };
  const tried = useQuery({
    queryKey: lookKey(app, "try", "revert", JSON.stringify(which)),
    gcTime: 0,
    queryFn: () => operate(app, "revert", { ...which, dryRun: true }),
  });
  const title = all ? "Revert all drift" : `Revert ${placeOf(items[0] as ObjectDiff)}`;
  if (tried.data === undefined) {
    return <Trying title={title} error={tried.error} retry={() => void tried.refetch()} onClose={onClose} />;
  }
  const objects = tried.data.objects ?? [];
  return (
    <Confirm
      open
      onClose={onClose}
      title={title}
      action={`Revert ${plural(objects.length || items.length, "object")}`}
      danger={false}
      onConfirm={async () => {
        const answer = await operate(app, "revert", { ...which, ...(reason ? { reason } : {}) });
        toast(sentence(answer.message));
        again(app);
      }}
    >
      <p>The last deployment is applied again to these objects, without hooks. Manual changes are lost.</p>
      <Objects objects={objects.length > 0 ? objects : items} label="Objects that are reverted" />
      <Warnings list={tried.data.warnings} />
      <Reason value={reason} onChange={setReason} />
    </Confirm>
  );
}

// local is a time as a field of the browser takes it.
function local(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// AllowDrift lets an object be as it is, until a time.
export function AllowDrift({ app, item, onClose }: Props & { item: ObjectDiff }) {
  const [span, setSpan] = useState(String(untils[1]?.ms));
  const [at, setAt] = useState(() => local(new Date(Date.now() + 4 * 3_600_000)));
  const [reason, setReason] = useState("");
  const run = async () => {
    const until = span === "" ? new Date(at) : new Date(Date.now() + Number(span));
    const answer = await operate(app, "allow", {
      object: nameOf(item),
      until: until.toISOString(),
      ...(reason ? { reason } : {}),
    });
    toast(sentence(answer.message));
    again(app);
  };
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Allow the drift of ${placeOf(item)}`}
      action="Allow it"
      danger={false}
      onConfirm={run}
    >
      <p>
        Self-heal ignores the object until then, and reverts it at that time. The application stays out of sync, so the
        drift stays visible. Changes of the object in Git are still applied.
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="For">
          <Select value={span} onChange={(e) => setSpan(e.target.value)}>
            {untils.map((u) => (
              <option key={u.ms} value={u.ms}>
                {u.label}
              </option>
            ))}
            <option value="">Until a time…</option>
          </Select>
        </Field>
        {span === "" && (
          <Field label="Until">
            <Input type="datetime-local" value={at} min={local(new Date())} onChange={(e) => setAt(e.target.value)} />
          </Field>
        )}
      </div>
      <Reason value={reason} onChange={setReason} />
    </Confirm>
  );
}

// Adopt shows what to commit, so that Git says what the cluster has.
export function Adopt({ app, item, onClose }: Props & { item: ObjectDiff }) {
  const { resource } = useDetail(app);
  const fields = (item.fields ?? []).filter((f) => !f.ignored);
  const where = sourcesOf(resource.spec)
    .map((s) => `${repository(s.repoURL)} ${s.chart ? `(chart ${s.chart})` : (s.path ?? "")}`.trim())
    .join(", ");
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Adopt ${placeOf(item)} in Git`}
      footer={<Button onClick={onClose}>Close</Button>}
      className="max-w-3xl"
    >
      <div className="space-y-3">
        <p>
          Commit this to <span className="break-all">{where || "the source of the application"}</span>: Git then matches
          the cluster, and nothing is reverted. This is the rendered manifest: if it comes from a chart or an overlay,
          change the values there.
        </p>
        {item.kind === "Secret" ? (
          <p>The values of a Secret are not shown. Take them from the source of the change.</p>
        ) : (
          <Snippet text={reversed(item.diff)} label="Patch from Git to the cluster" />
        )}
        {fields.length > 0 && item.kind !== "Secret" && (
          <Snippet text={fields.map((f) => `${f.path}: ${text(f.live) || "(not there)"}`).join("\n")} label="Values" />
        )}
      </div>
    </Dialog>
  );
}
