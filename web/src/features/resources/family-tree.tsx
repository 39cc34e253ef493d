import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { type App, detailQuery, liveKey, pathOf } from "@/lib/application";
import { events } from "@/lib/events";
import { plural } from "@/lib/format";
import { queryClient } from "@/lib/query";
import { KindIcon } from "@/ui/kind-icon";
import { Empty, Skeleton } from "@/ui/states";
import { Badge, Status } from "@/ui/status";
import { madeBy } from "./family";

const levels = 2; // that are open from the beginning

// Family is an app of apps: the Applications that one makes, and what these make in turn, each with its own state.
export function Family({ app }: { app: App }) {
  const { data: detail } = useQuery(detailQuery(app));
  const children = useMemo(() => madeBy(app, detail), [app, detail]);
  useEffect(
    () =>
      // What is not on the page is not read again: an unused query only becomes old.
      events.listen(({ object }) => {
        if (object.type === "application" && object.id !== app.id) {
          const [agent = "", namespace = "", name = ""] = object.id.split("/");
          void queryClient.invalidateQueries({
            queryKey: liveKey({ agent, namespace, name, id: object.id }, "detail"),
          });
        }
      }),
    [app.id],
  );
  if (children.length === 0) {
    return <Empty title="No applications">This application creates no other applications.</Empty>;
  }
  return (
    <div className="rounded-lg border bg-surface py-1">
      <Branch apps={children} above={[app.id]} label={`Applications of ${app.name}`} />
    </div>
  );
}

function Branch({ apps, above, label }: { apps: App[]; above: string[]; label: string }) {
  return (
    <ul aria-label={label} className={above.length > 1 ? "ml-5 border-l pl-1" : undefined}>
      {apps.map((app) => (
        <Member key={app.id} app={app} above={above} />
      ))}
    </ul>
  );
}

function Member({ app, above }: { app: App; above: string[] }) {
  const { data: detail, error } = useQuery(detailQuery(app));
  const children = useMemo(() => madeBy(app, detail, above), [app, detail, above]);
  const [open, setOpen] = useState(above.length < levels);
  const inside = useMemo(() => [...above, app.id], [above, app.id]);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <li>
      <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-0.5 px-2 py-1 hover:bg-idle-soft/60">
        {children.length > 0 ? (
          <button
            type="button"
            aria-expanded={open}
            aria-label={`Applications of ${app.name}`}
            onClick={() => setOpen(!open)}
            className="inline-flex size-6 items-center justify-center rounded text-muted hover:bg-idle-soft"
          >
            <Chevron size={14} aria-hidden />
          </button>
        ) : (
          <span className="inline-flex size-6 items-center justify-center">
            <KindIcon kind="Application" size={14} />
          </span>
        )}
        <Link
          to="/applications/$agent/$namespace/$name"
          params={pathOf(app)}
          className="min-w-0 flex-1 basis-40 truncate font-medium hover:text-accent hover:underline"
        >
          {app.name}
        </Link>
        {detail ? (
          <span className="flex flex-wrap items-center gap-x-3 max-sm:basis-full max-sm:pl-9">
            {detail.held && <Badge tone="held">Held</Badge>}
            <Status status={detail.health} asOf={detail.asOf} className="sm:w-32" />
            <Status status={detail.sync} asOf={detail.asOf} className="sm:w-32" />
            <span className="text-sm text-muted sm:w-32">
              {children.length > 0 && plural(children.length, "application")}
            </span>
          </span>
        ) : error ? (
          <span className="text-sm text-muted">It cannot be read, or does not exist yet.</span>
        ) : (
          <Skeleton className="w-40" />
        )}
      </div>
      {open && children.length > 0 && <Branch apps={children} above={inside} label={`Applications of ${app.name}`} />}
    </li>
  );
}
