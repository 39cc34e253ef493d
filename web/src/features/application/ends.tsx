import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { App } from "@/lib/application";
import { cn } from "@/lib/cn";
import { plural, repository, short } from "@/lib/format";
import { safeLink } from "@/lib/links";
import { Ago } from "@/ui/ago";
import { Copy } from "@/ui/copy";
import { ImageName } from "@/ui/image";
import { type Detail, notesOf, type Resource, revisionsOf, type Source, sourcesOf } from "./resource";
import { CommitName } from "./revision";
import { SourceRevisions } from "./revisions";

// Ends are the two ends of a delivery: the desired and the live state. On a phone they are folded: why it is so comes first.
export function Ends({ app, detail, resource }: { app: App; detail: Detail; resource: Resource }) {
  const [open, setOpen] = useState(false);
  const runs = revisionsOf(resource.status?.history?.at(-1)).map(short).join(", ");
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <div className="rounded-lg border bg-surface">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex min-h-10 w-full items-center gap-2 px-3 text-left sm:hidden"
      >
        <Chevron size={14} aria-hidden className="shrink-0 text-muted" />
        Git and cluster
        <span className="min-w-0 flex-1 truncate text-right text-sm text-muted">
          {runs ? (
            <>
              <code>{runs}</code> runs
            </>
          ) : (
            "not deployed"
          )}
        </span>
      </button>
      <div
        className={cn(
          "grid divide-y border-t sm:border-t-0 lg:grid-cols-2 lg:divide-x lg:divide-y-0",
          !open && "max-sm:hidden",
        )}
      >
        <Wanted app={app} resource={resource} />
        <Runs app={app} detail={detail} resource={resource} />
      </div>
    </div>
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
    <section aria-label="Desired state in Git" className="min-w-0 p-4">
      <Heading>Desired in Git</Heading>
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
    <section aria-label="Live state" className="min-w-0 p-4">
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
        <p className="text-muted">Not deployed yet.</p>
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
