import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BadgeCheck, EllipsisVertical, GitCommitHorizontal, RefreshCw, RotateCcw, Trash2 } from "lucide-react";
import type { App } from "@/lib/application";
import { externalLinks } from "@/lib/external";
import { useFavourites } from "@/lib/favourites";
import { infoQuery } from "@/lib/info";
import { clock, exact, known, useNow } from "@/lib/time";
import { Button, IconButton } from "@/ui/button";
import { copyText } from "@/ui/copy";
import { Links } from "@/ui/links";
import { Menu } from "@/ui/menu";
import { Star } from "@/ui/star";
import { Badge, Status } from "@/ui/status";
import { toast, toastError } from "@/ui/toast";
import { labelOf, useActions } from "./actions";
import { badgeOf } from "./badge";
import { useObjectFinder } from "./objects";
import { useOffers } from "./offers";
import { Reason } from "./reason";
import { beside, type Detail, type Resource } from "./resource";
import { linksQuery, useMay, whyQuery } from "./use";

// Header says which application it is, why it is as it is, and offers what follows from it.
export function Header({ app, detail, resource }: { app: App; detail: Detail; resource: Resource }) {
  const actions = useActions(app);
  const why = useQuery(whyQuery(app));
  const may = useMay(app);
  const favourites = useFavourites();
  const first = why.data?.reasons?.find((r) => r.actions?.length)?.actions?.[0];
  const primary = first && beside([first], resource)[0];
  const settings = useQuery({ ...linksQuery(app), enabled: !detail.agentAway }).data?.links;
  const links = externalLinks({
    annotations: resource.metadata.annotations,
    settings,
    served: resource.status?.summary?.externalURLs,
  });
  const info = useQuery(infoQuery).data;
  const copyBadge = () =>
    copyText(badgeOf(app, info?.publicURL || location.origin)).then(
      () => toast("Badge copied", "It is Markdown, for a README for example."),
      (error: unknown) => toastError(error, "The badge was not copied"),
    );
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
          <Links links={links} className="mt-1" />
        </div>
        <div className="flex flex-wrap items-center gap-2 max-sm:gap-1.5">
          <Star name={app.name} on={favourites.has(app.id)} onToggle={() => favourites.toggle(app.id)} />
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
              {
                label: "Copy badge",
                why: info?.badges ? undefined : "Badges are off. The settings of the server turn them on.",
                icon: <BadgeCheck size={15} aria-hidden />,
                run: () => void copyBadge(),
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
      <Reason
        app={app}
        detail={detail}
        query={why}
        actions={actions}
        resource={resource}
        primary={primary?.action === "sync" || refreshes ? undefined : primary}
      />
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
