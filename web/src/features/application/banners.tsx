import { useQuery } from "@tanstack/react-query";
import { Hourglass, Pin as PinIcon, PlugZap, Snowflake } from "lucide-react";
import type { ReactNode } from "react";
import type { App } from "@/lib/application";
import { cn } from "@/lib/cn";
import { sentence } from "@/lib/format";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { type Tone, toneSoft } from "@/ui/status";
import { useActions } from "./actions";
import { useTimeline } from "./operation";
import {
  conditionOf,
  type Detail,
  type OperationState,
  person,
  pinOf,
  type Resource,
  revisionsText,
  running,
} from "./resource";
import { useMay, whyQuery } from "./use";
import { heldText } from "./why-text";

function Banner({
  tone,
  icon,
  title,
  action,
  children,
}: {
  tone: Tone;
  icon: ReactNode;
  title: string;
  action?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <section
      aria-label={title}
      className="flex flex-wrap items-start gap-x-3 gap-y-2 rounded-lg border bg-surface px-3 py-2"
    >
      <span className={cn("mt-0.5 rounded p-1", toneSoft[tone])}>{icon}</span>
      <div className="min-w-0 flex-1 basis-64">
        <h2 className="font-medium">{title}</h2>
        {children && <div className="text-sm break-words text-muted">{children}</div>}
      </div>
      {action}
    </section>
  );
}

// Banners show what stops the automation of the application: a plan that is held, a rollback, a window.
export function Banners({ app, detail, resource }: { app: App; detail: Detail; resource: Resource }) {
  const actions = useActions(app);
  const may = useMay(app);
  const why = useQuery(whyQuery(app)).data;
  const reason = (...codes: string[]) => why?.reasons?.find((r) => codes.includes(r.code));
  const window = reason("HeldByWindow");
  const guard = reason("HeldByGuard", "WaitingForConfirm");
  const closed = why?.window;
  const held = conditionOf(resource, "Held");
  const pin = pinOf(resource, detail.unsupported);
  const deletion = reason("Deleting");
  const kept = conditionOf(resource, "ObjectsKept");
  // What helps first is the first button of the page: a banner does not repeat it.
  const first = why?.reasons?.find((r) => r.actions?.length)?.actions?.[0]?.action;
  // The reason that comes first says what it says: a banner does not repeat that either.
  const leads = (of: typeof guard) => of !== undefined && of === why?.reasons?.[0];
  return (
    <>
      {known(detail.staleSince) && (
        <Banner tone="warn" icon={<PlugZap size={15} aria-hidden />} title="The agent no longer reports it">
          The state is as of <Ago at={detail.staleSince} />. The application was deleted in its cluster, or the agent
          does not watch its namespace any more.
        </Banner>
      )}
      {deletion?.actions?.some((a) => a.action === "confirm") && (
        <Banner
          tone="held"
          icon={<Hourglass size={15} aria-hidden />}
          title="The deletion is held until a user confirms it"
          action={
            first !== "confirm" && (
              <Button why={may.as("confirm")} onClick={() => actions.open("confirm")}>
                Review and confirm…
              </Button>
            )
          }
        >
          {sentence(deletion.why ?? "")}
        </Banner>
      )}
      {kept && (
        <Banner tone="warn" icon={<PinIcon size={15} aria-hidden />} title="Objects stay in the cluster">
          {sentence(kept.message)}
        </Banner>
      )}
      {guard && !leads(guard) && (
        <Banner
          tone="held"
          icon={<Hourglass size={15} aria-hidden />}
          title={`${heldText(guard) ?? "The sync is held."} Review and confirm.`}
          action={
            first !== "confirm" && (
              <Button why={may.as("confirm")} onClick={() => actions.open("confirm")}>
                Review and confirm…
              </Button>
            )
          }
        />
      )}
      {(window || closed) && (
        <Banner
          tone="held"
          icon={<Snowflake size={15} aria-hidden />}
          title={window ? "A sync window holds the sync" : "A sync window is closed"}
        >
          {!leads(window) && <>{sentence(closed?.reason || window?.why || window?.what || "")} </>}
          {closed && (
            <>
              {closed.manual ? "A manual sync is still possible." : "A manual sync is not possible either."}{" "}
              {known(closed.until) ? (
                <>
                  It opens <Ago at={closed.until} ahead />.
                </>
              ) : (
                `It stays closed until the sync windows of project ${detail.argoProject} change.`
              )}
            </>
          )}
        </Banner>
      )}
      {held && !guard && !window && why && why.reasons?.[0]?.code !== "Held" && (
        <Banner tone="held" icon={<Hourglass size={15} aria-hidden />} title="The sync is held">
          {sentence(held.message)}
        </Banner>
      )}
      {pin && (
        <Banner
          tone="held"
          icon={<PinIcon size={15} aria-hidden />}
          title={`Rolled back to deployment ${pin.id}${pin.revisions?.length ? `, ${revisionsText(pin.revisions)}` : ""}`}
          action={
            first !== "unpin" && (
              <Button why={may.as("unpin")} onClick={() => actions.open("unpin")}>
                End the rollback…
              </Button>
            )
          }
        >
          {pin.by ? `By ${person(pin.by)} ` : ""}
          {pin.at && <Ago at={pin.at} />}
          {pin.reason ? `: ${pin.reason}` : ""}. Auto-sync does not deploy what Git had then
          {pin.quarantine?.revisions?.length ? ` (${revisionsText(pin.quarantine.revisions)})` : ""}, until a commit
          changes what this application renders.
        </Banner>
      )}
    </>
  );
}

// Progress is the operation that is under way.
export function Progress({ app, detail, resource }: { app: App; detail: Detail; resource: Resource }) {
  const state = running(resource);
  return state ? <Under app={app} old={Boolean(detail.agentAway)} state={state} resource={resource} /> : null;
}

function Under({ app, old, state, resource }: { app: App; old: boolean; state: OperationState; resource: Resource }) {
  const actions = useActions(app);
  const may = useMay(app);
  const { done, total, failed } = useTimeline(app, state, resource).timeline;
  const part = total > 0 ? Math.round((100 * done) / total) : 0;
  return (
    <section aria-label="Running operation" className="rounded-lg border bg-surface px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-medium">
          {old
            ? "A sync was running at the last report"
            : state.phase === "Terminating"
              ? "The sync is being terminated"
              : "A sync is running"}
        </h2>
        <span className="min-w-0 flex-1 truncate text-sm text-muted" title={state.message}>
          {state.message}
        </span>
        <span className="text-sm text-muted tabular-nums">
          {done}/{total}
          {failed > 0 && `, ${failed} failed`}, begun <Ago at={state.startedAt} />
        </span>
        <Button small onClick={() => actions.go("sync")}>
          Watch
        </Button>
        {state.phase !== "Terminating" && (
          <Button small why={may.sync} onClick={() => actions.open("terminate")}>
            Terminate…
          </Button>
        )}
      </div>
      <div
        role="progressbar"
        aria-label="Objects done"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={part}
        className="mt-2 h-1.5 overflow-hidden rounded-full bg-idle-soft"
      >
        <div
          className={cn(
            "h-full transition-[width]",
            old ? "bg-idle-fill" : failed > 0 ? "bg-bad-fill" : "bg-busy-fill",
          )}
          style={{ width: `${part}%` }}
        />
      </div>
    </section>
  );
}
