import { Link } from "@tanstack/react-router";
import {
  CircleAlert,
  CircleCheck,
  CircleHelp,
  GitCompareArrows,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import type { App } from "@/lib/application";
import { cn } from "@/lib/cn";
import { plural, sentence } from "@/lib/format";
import { useMissing } from "@/lib/session";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Skeleton } from "@/ui/states";
import { type Tone, toneSoft } from "@/ui/status";
import { type Action, type Actions, labelOf } from "./actions";
import { partPath } from "./address";
import { beside, type Detail, type Resource } from "./resource";
import { heldText, reasonTone, stateText } from "./why-text";

const icons: Record<Tone, LucideIcon> = {
  ok: CircleCheck,
  busy: LoaderCircle,
  warn: GitCompareArrows,
  bad: CircleAlert,
  held: Hourglass,
  idle: CircleHelp,
};

const edges: Partial<Record<Tone, string>> = {
  bad: "shadow-[inset_3px_0_0_var(--bad-fill)]",
  held: "shadow-[inset_3px_0_0_var(--held-fill)]",
  warn: "shadow-[inset_3px_0_0_var(--warn-fill)]",
};

// bannered are the actions that a banner below has, wherever they are not the first button of the page.
const bannered = ["confirm", "unpin"];

interface Props {
  app: App;
  detail: Detail;
  query: { data: Schemas["Why"] | undefined; error: unknown };
  actions: Actions;
  resource: Resource;
  // primary is what helps first, where no other button of the page does it.
  primary: Action | undefined;
}

// Reason is why the application is as it is, and what helps: the first and heaviest of the page, and one quiet line where there is
// nothing to do.
export function Reason({ app, detail, query, actions, resource, primary }: Props) {
  const first = query.data?.reasons?.[0];
  const away = detail.agentAway === true;
  const mayAgent = useMissing("agent_view") === undefined;
  const calm = !away && first?.code === "Done";
  const tone = away ? "bad" : first ? reasonTone(first) : "idle";
  const Icon = icons[tone];
  return (
    <section
      aria-label="Why"
      className={cn(
        "flex min-w-0 items-start gap-3 rounded-lg border bg-surface px-3 max-sm:flex-wrap sm:px-4",
        calm ? "py-2.5" : "py-3.5",
        edges[tone],
      )}
    >
      <span className={cn("shrink-0 rounded-md", calm ? "mt-0.5 text-ok" : cn("p-1.5", toneSoft[tone]))}>
        <Icon size={calm ? 16 : 20} aria-hidden className={cn(tone === "busy" && "animate-spin")} />
      </span>
      <div className="min-w-0 flex-1 basis-60">
        {away ? (
          <Away app={app} detail={detail} why={query.data} />
        ) : first && query.data ? (
          <Said app={app} why={query.data} first={first} actions={actions} resource={resource} primary={primary} />
        ) : query.error != null ? (
          <p className="text-muted">The reason could not be read. Open the tab Why to try again.</p>
        ) : (
          <div className="space-y-2" role="status" aria-label="Loading">
            <Skeleton className="w-full max-w-lg" />
            <Skeleton className="w-2/3 max-w-sm" />
          </div>
        )}
      </div>
      {away && mayAgent && (
        <Button asChild className="mt-0.5 max-sm:w-full">
          <Link to="/agents/$agent" params={{ agent: app.agent }}>
            Open the agent
          </Link>
        </Button>
      )}
      {primary && !away && (
        <Button
          look="primary"
          className="mt-0.5 max-sm:w-full"
          why={actions.why(primary)}
          onClick={() => actions.run(primary)}
        >
          {labelOf(primary)}
        </Button>
      )}
    </section>
  );
}

// Away is the reason while the agent is away: what else is known of the application is old, so nothing else leads the page.
function Away({ app, detail, why }: { app: App; detail: Detail; why: Schemas["Why"] | undefined }) {
  const more = (why?.reasons ?? []).filter((reason) => reason.code !== "AgentAway").length;
  return (
    <>
      <p className="text-sm text-muted">
        Last heard {known(detail.asOf) ? <Ago at={detail.asOf} /> : "before it was registered again"}
      </p>
      <p className="text-lg font-semibold break-words">The agent {app.agent} is away</p>
      <p className="mt-0.5 break-words text-muted">
        States and objects are as of then, and actions are off until the agent is back. Check that the agent runs in its
        cluster and reaches this server. It reconnects without help.
      </p>
      <p className="mt-1 text-sm">
        <WhyLink app={app}>{more > 0 ? plural(more, "more reason") : "What to do next"}</WhyLink>
      </p>
    </>
  );
}

function WhyLink({ app, children }: { app: App; children: ReactNode }) {
  return (
    <Link
      to={partPath("why")}
      params={{ agent: app.agent, namespace: app.namespace, name: app.name } as never}
      className="text-accent hover:underline"
    >
      {children}
    </Link>
  );
}

function Said({
  app,
  why,
  first,
  actions,
  resource,
  primary,
}: Omit<Props, "query" | "detail"> & { why: Schemas["Why"]; first: Schemas["WhyReason"] }) {
  const more = (why.reasons?.length ?? 1) - 1;
  const held = heldText(first);
  const calm = first.code === "Done";
  const detail = !held && first.why ? sentence(first.why) : "";
  const link = (
    <WhyLink app={app}>{more > 0 ? plural(more, "more reason") : calm ? "Details" : "What to do next"}</WhyLink>
  );
  if (calm) {
    return (
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-medium">{sentence(first.what)}</span>
        <span className="min-w-0 text-muted max-sm:hidden">{stateText(why.state)}</span>
        <span className="text-sm text-muted">{known(first.since) && <Ago at={first.since} />}</span>
        <span className="text-sm">{link}</span>
      </p>
    );
  }
  const others = beside((first.actions ?? []).slice(1), resource).filter(
    (action) => !bannered.includes(action.action) && action !== primary,
  );
  return (
    <>
      <p className="text-sm text-muted">
        {stateText(why.state)}
        {known(first.since) && (
          <>
            {" · "}
            <Ago at={first.since} />
          </>
        )}
      </p>
      <p className="line-clamp-3 text-lg font-semibold break-words">
        {held ? `${held} Review and confirm.` : sentence(first.what)}
      </p>
      {detail && <p className="mt-0.5 line-clamp-2 break-words text-muted">{detail}</p>}
      <p className="mt-1 flex flex-wrap gap-x-3 text-sm">
        {others.slice(0, 2).map((action, i) => (
          <button
            key={i}
            type="button"
            disabled={Boolean(actions.why(action))}
            onClick={() => actions.run(action)}
            className="text-accent hover:underline disabled:text-muted"
          >
            {labelOf(action)}
          </button>
        ))}
        {link}
      </p>
    </>
  );
}
