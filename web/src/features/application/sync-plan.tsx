import { CircleAlert, CircleCheck, Hourglass, Snowflake } from "lucide-react";
import { type ReactNode, useState } from "react";
import { sentence } from "@/lib/format";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { DiffView } from "@/ui/diff-view";
import { Warnings } from "./dialog-parts";
import { type Plan, type PlanItem, summary } from "./plan";
import { keyOf, revisionsText } from "./resource";
import { Line, Verb, Waves } from "./steps";

// PlanView is what a sync would do, in order, and what would keep it from that.
export function PlanView({ plan }: { plan: Plan }) {
  const phases = (plan.phases ?? []).map((p) => ({
    phase: p.phase,
    waves: (p.waves ?? []).map((w) => ({ wave: w.wave, items: w.items ?? [] })),
  }));
  return (
    <div className="space-y-3">
      <p>
        {summary(plan)}
        {(plan.revisions?.length ?? 0) > 0 && (
          <span className="text-muted"> At {revisionsText(plan.revisions ?? [])}.</span>
        )}
      </p>
      {plan.refused && (
        <Gate icon={<CircleAlert size={15} aria-hidden className="text-bad" />} title="It would be refused">
          {sentence(plan.refused)}
        </Gate>
      )}
      {!plan.windows.allowed && (
        <Gate icon={<Snowflake size={15} aria-hidden className="text-held" />} title="A sync window holds it">
          {sentence((plan.windows.reason ?? "").replace(/^Cannot sync: Blocked by sync window: /, ""))} If you sync now,
          the operation waits until the window opens
          {known(plan.windows.until) && (
            <>
              {" "}
              (<Ago at={plan.windows.until} ahead />)
            </>
          )}
          .
        </Gate>
      )}
      {plan.guard.held ? (
        <Gate
          icon={<Hourglass size={15} aria-hidden className="text-held" />}
          title={`The deletion guard holds it: ${plan.guard.deletions} of ${plan.guard.total} objects would be deleted`}
        >
          {sentence(plan.guard.reason ?? "")} If you sync now, the operation waits until a user confirms it.
        </Gate>
      ) : (
        plan.counts.delete > 0 && (
          <Gate
            icon={<CircleCheck size={15} aria-hidden className="text-ok" />}
            title={`The deletion guard lets it delete ${plan.guard.deletions} of ${plan.guard.total} objects`}
          >
            {plan.guard.budget && `Budget of the ${plan.guard.of ?? "agent"}: ${plan.guard.budget}.`}
          </Gate>
        )
      )}
      <Warnings list={plan.warnings} />
      <Waves
        phases={phases}
        label="Steps of the sync, in order"
        item={(item) => <Item key={keyOf(item)} item={item} />}
      />
    </div>
  );
}

function Gate({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className="flex gap-2 rounded-md border px-3 py-2">
      <span className="mt-0.5">{icon}</span>
      <div className="min-w-0">
        <p className="font-medium break-words">{title}</p>
        <p className="text-sm break-words text-muted">{children}</p>
      </div>
    </div>
  );
}

function Item({ item }: { item: PlanItem }) {
  const [open, setOpen] = useState(false);
  return (
    <Line
      object={item}
      before={<Verb verb={item.verb} />}
      note={
        item.error
          ? sentence(item.error)
          : [item.confirm && "waits for confirmation", item.reason].filter(Boolean).join("; ")
      }
      bad={Boolean(item.error)}
    >
      {item.diff && (
        <>
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="ml-20 text-sm text-accent hover:underline"
          >
            {open ? "Hide the difference" : "Show the difference"}
          </button>
          {open && <DiffView text={item.diff} label={`Difference of ${item.kind} ${item.name}`} className="my-1" />}
        </>
      )}
    </Line>
  );
}
