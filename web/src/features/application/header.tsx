import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { EllipsisVertical, GitCommitHorizontal, RefreshCw, RotateCcw, Trash2 } from "lucide-react";
import type { App } from "@/lib/application";
import { plural, repository, sentence } from "@/lib/format";
import { useHotkeys } from "@/lib/hotkeys";
import { safeLink } from "@/lib/links";
import { useCommands } from "@/lib/palette";
import { clock, exact, known, useNow } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button, IconButton } from "@/ui/button";
import { Copy } from "@/ui/copy";
import { ImageName } from "@/ui/image";
import { Menu } from "@/ui/menu";
import { Skeleton } from "@/ui/states";
import { Badge, Status } from "@/ui/status";
import { type Action, type Actions, labelOf, useActions } from "./actions";
import { partPath } from "./address";
import { useObjectFinder } from "./objects";
import { beside, type Detail, notesOf, type Resource, revisionsOf, running, type Source, sourcesOf } from "./resource";
import { CommitName } from "./revision";
import { SourceRevisions } from "./revisions";
import { useMay, whyQuery } from "./use";
import { stateText } from "./why-text";

// Header says what Git wants, what runs and why they differ, and offers what follows from it.
export function Header({ app, detail, resource }: { app: App; detail: Detail; resource: Resource }) {
  const actions = useActions(app);
  const why = useQuery(whyQuery(app));
  const may = useMay(app);
  const first = why.data?.reasons?.find((r) => r.actions?.length)?.actions?.[0];
  const primary = first && beside([first], resource)[0];
  const refreshes = primary?.action === "refresh" && !primary.hard; // the button that is always there does it
  useOffers(app, actions, resource, primary);
  useObjectFinder(app, actions.go);
  return (
    <header className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-64">
          <p className="truncate text-sm text-muted">
            <Link to="/applications" className="hover:underline">
              Applications
            </Link>{" "}
            / {app.agent} / {app.namespace}
          </p>
          <h1 className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xl font-semibold">
            <span className="min-w-0 break-words">{app.name}</span>
            <span className="flex flex-wrap items-center gap-x-3 text-base font-normal">
              <Status status={detail.health} asOf={detail.asOf} />
              <Status status={detail.sync} asOf={detail.asOf} />
              {known(detail.asOf) && <AsOf at={detail.asOf} />}
              {detail.held && <Badge tone="held">Held</Badge>}
              {resource.metadata.deletionTimestamp && <Badge tone="warn">Being deleted</Badge>}
            </span>
          </h1>
        </div>
        <div className="flex flex-wrap items-center gap-2 max-sm:gap-1.5">
          {primary && primary.action !== "sync" && !refreshes && (
            <Button look="primary" why={actions.why(primary)} onClick={() => actions.run(primary)}>
              {labelOf(primary)}
            </Button>
          )}
          <Button
            look={primary?.action === "sync" ? "primary" : "plain"}
            why={may.sync}
            onClick={() => (primary?.action === "sync" ? actions.run(primary) : actions.sync())}
          >
            {primary?.action === "sync" ? labelOf(primary) : "Sync…"}
          </Button>
          <Button why={may.refresh} look={refreshes ? "primary" : "plain"} onClick={() => actions.refresh(false)}>
            <RefreshCw size={14} aria-hidden className="max-sm:hidden" />
            Refresh
          </Button>
          <Menu
            trigger={
              <IconButton label="More">
                <EllipsisVertical size={16} aria-hidden />
              </IconButton>
            }
            items={[
              {
                label: "Hard refresh",
                why: may.refresh,
                icon: <RotateCcw size={15} aria-hidden />,
                run: () => actions.refresh(true),
              },
              {
                label: "Roll back…",
                why: may.sync,
                icon: <GitCommitHorizontal size={15} aria-hidden />,
                run: () => actions.go("history", { do: "rollback" }),
              },
              null,
              {
                label: `Delete ${app.name}…`,
                icon: <Trash2 size={15} aria-hidden />,
                danger: true,
                why: may.remove,
                run: () => actions.open("delete"),
              },
            ]}
          />
        </div>
      </div>
      {/* On narrow screens they are beside each other as well, and why comes first: what is below stays in sight. */}
      <div className="flex snap-x gap-3 overflow-x-auto *:shrink-0 *:basis-[min(88%,24rem)] *:snap-start lg:grid lg:grid-cols-3">
        <Wanted app={app} resource={resource} />
        <Runs app={app} detail={detail} resource={resource} />
        <section aria-label="Why" className="min-w-0 max-lg:order-first lg:min-h-28 rounded-lg border bg-surface p-3">
          <Reason app={app} query={why} actions={actions} resource={resource} />
        </section>
      </div>
    </header>
  );
}

// AsOf is the time that a state is of which may be out of date.
function AsOf({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exact(at)} className="text-sm text-muted">
      as of {clock(at, now)}
    </time>
  );
}

function Heading({ children }: { children: string }) {
  return <h2 className="mb-1 text-xs font-medium text-muted">{children}</h2>;
}

const shown = 3; // sources and images that there is room for

function SourceLine({
  app,
  source,
  index,
  revision,
  resource,
}: {
  app: App;
  source: Source;
  index: number;
  revision: string;
  resource: Resource;
}) {
  const link = safeLink(source.repoURL);
  // What was noted of a commit, for when the agent is away, was noted of those that were deployed.
  const notes = notesOf(resource);
  const made = resource.status?.history?.findLast((d) => revisionsOf(d).includes(revision));
  const text = repository(source.repoURL);
  return (
    <li className="min-w-0">
      <div className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
        {link ? (
          <a
            href={link}
            rel="noreferrer"
            target="_blank"
            className="max-w-full truncate text-accent hover:underline"
            title={source.repoURL}
          >
            {text}
          </a>
        ) : (
          <span className="max-w-full truncate">{text}</span>
        )}
        <span className="max-w-full truncate text-muted">
          {source.chart ? `chart ${source.chart}` : source.path || (source.ref ? `as $${source.ref}` : "")}
        </span>
      </div>
      <SourceRevisions
        app={app}
        index={index}
        target={source.targetRevision || "HEAD"}
        compared={revision}
        note={made ? notes[String(made.id)] : undefined}
      />
    </li>
  );
}

function Wanted({ app, resource }: { app: App; resource: Resource }) {
  const sources = sourcesOf(resource.spec);
  const revisions = revisionsOf(resource.status?.sync);
  return (
    <section aria-label="What Git wants" className="min-w-0 lg:min-h-28 rounded-lg border bg-surface p-3">
      <Heading>Git wants</Heading>
      <ul className="space-y-1.5">
        {sources.slice(0, shown).map((s, i) => (
          <SourceLine key={i} app={app} source={s} index={i} revision={revisions[i] ?? ""} resource={resource} />
        ))}
      </ul>
      {sources.length > shown && (
        <p className="mt-1 text-sm text-muted">{plural(sources.length - shown, "more source")} in Parameters</p>
      )}
      {sources.length === 0 && <p className="text-muted">No source is set. Set one in Settings.</p>}
    </section>
  );
}

function Runs({ app, detail, resource }: { app: App; detail: Detail; resource: Resource }) {
  const last = resource.status?.history?.at(-1);
  const images = resource.status?.summary?.images ?? [];
  return (
    <section aria-label="What runs" className="min-w-0 lg:min-h-28 rounded-lg border bg-surface p-3">
      <Heading>Runs</Heading>
      {last ? (
        <>
          <div className="flex flex-wrap items-center gap-x-2">
            {detail.version && !revisionsOf(last).includes(detail.version) && (
              <span className="font-medium">{detail.version}</span>
            )}
            {revisionsOf(last).map((r, i) => (
              <span key={i} className="inline-flex items-center">
                <CommitName app={app} revision={r} />
                <Copy text={r} label="Copy the revision that runs" />
              </span>
            ))}
            <span className="text-sm text-muted">
              deployed <Ago at={last.deployedAt} />
            </span>
          </div>
          <p className="truncate text-sm text-muted">to {detail.destination || "an unknown cluster"}</p>
        </>
      ) : (
        <p className="text-muted">Nothing was deployed yet.</p>
      )}
      <ul className="mt-1 font-mono text-xs">
        {images.slice(0, shown).map((image) => (
          <li key={image}>
            <ImageName image={image} />
          </li>
        ))}
        {images.length > shown && (
          <li className="font-sans text-muted">and {plural(images.length - shown, "more image")}</li>
        )}
      </ul>
    </section>
  );
}

// bannered are the actions that a banner below has, wherever they are not the first button of the page.
const bannered = ["confirm", "unpin"];

type WhyQuery = { data: import("@/api/client").Schemas["Why"] | undefined; error: unknown };

function Reason({
  app,
  query,
  actions,
  resource,
}: {
  app: App;
  query: WhyQuery;
  actions: Actions;
  resource: Resource;
}) {
  const first = query.data?.reasons?.[0];
  if (!first) {
    return (
      <>
        <Heading>Why</Heading>
        {query.error != null ? (
          <p className="text-muted">The reason could not be read. Open the tab Why to try again.</p>
        ) : (
          <div className="space-y-2" role="status" aria-label="Loading">
            <Skeleton className="w-full" />
            <Skeleton className="w-2/3" />
          </div>
        )}
      </>
    );
  }
  const more = (query.data?.reasons?.length ?? 1) - 1;
  return (
    <>
      <Heading>{query.data ? stateText(query.data.state) : "Why"}</Heading>
      <p className="line-clamp-3 break-words">
        {sentence(first.what)}{" "}
        {first.since && (
          <span className="text-sm text-muted">
            <Ago at={first.since} none="" />
          </span>
        )}
      </p>
      {first.why && <p className="line-clamp-2 text-sm break-words text-muted">{sentence(first.why)}</p>}
      <p className="mt-1 flex flex-wrap gap-x-3 text-sm">
        {beside((first.actions ?? []).slice(1), resource)
          .filter(({ action }) => !bannered.includes(action))
          .slice(0, 2)
          .map((action: Action, i) => (
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
        <Link
          to={partPath("why")}
          params={{ agent: app.agent, namespace: app.namespace, name: app.name } as never}
          className="text-accent hover:underline"
        >
          {more > 0 ? plural(more, "more reason") : first.code === "Done" ? "Details" : "What to do next"}
        </Link>
      </p>
    </>
  );
}

// useOffers has the actions in the palette and on keys.
function useOffers(app: App, actions: Actions, resource: Resource, primary: Action | undefined): void {
  const may = useMay(app);
  const group = app.name;
  const under = running(resource) !== undefined;
  useCommands([
    ...(primary && primary.action !== "sync" && primary.action !== "refresh"
      ? [
          {
            id: "application.next",
            title: `${labelOf(primary).replace("…", "")}: what helps now`,
            group,
            disabled: actions.why(primary),
            run: () => actions.run(primary),
          },
        ]
      : []),
    {
      id: "application.sync",
      title: `Sync ${app.name}`,
      group,
      shortcut: "s",
      disabled: may.sync,
      run: () => actions.sync(),
    },
    {
      id: "application.refresh",
      title: `Refresh ${app.name}`,
      group,
      shortcut: "r",
      disabled: may.refresh,
      run: () => actions.refresh(false),
    },
    {
      id: "application.hard",
      title: `Hard refresh ${app.name}`,
      group,
      disabled: may.refresh,
      run: () => actions.refresh(true),
    },
    {
      id: "application.rollback",
      title: `Roll back ${app.name}`,
      group,
      disabled: may.sync,
      run: () => actions.go("history", { do: "rollback" }),
    },
    ...(under
      ? [
          {
            id: "application.terminate",
            title: `Terminate the operation of ${app.name}`,
            group,
            disabled: may.sync,
            run: () => actions.open("terminate"),
          },
        ]
      : []),
    {
      id: "application.diff",
      title: "Show differences",
      group,
      shortcut: "d",
      keywords: "drift",
      run: () => actions.go("diff"),
    },
    { id: "application.history", title: "Show the history", group, shortcut: "h", run: () => actions.go("history") },
    { id: "application.why", title: "Show why it is like this", group, shortcut: "w", run: () => actions.go("why") },
    { id: "application.settings", title: `Edit ${app.name}`, group, shortcut: "e", run: () => actions.go("settings") },
    {
      id: "application.delete",
      title: `Delete ${app.name}`,
      group,
      disabled: may.remove,
      run: () => actions.open("delete"),
    },
  ]);
  useHotkeys([
    { keys: "s", what: "Sync", run: () => !may.sync && actions.sync() },
    { keys: "r", what: "Refresh", run: () => !may.refresh && actions.refresh(false) },
    { keys: "d", what: "Differences", run: () => actions.go("diff") },
    { keys: "h", what: "History", run: () => actions.go("history") },
    { keys: "w", what: "Why", run: () => actions.go("why") },
    { keys: "e", what: "Settings of the application", run: () => actions.go("settings") },
  ]);
}
