import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Star } from "lucide-react";
import { useEffect } from "react";
import { client, data } from "@/api/client";
import { useFavourites } from "@/lib/favourites";
import { patchOn, queryClient } from "@/lib/query";
import { StatusIcon } from "@/ui/status";
import { targetOf } from "./selection";
import type { Application } from "./window";

const keyOf = (id: string) => ["application", "favourite", id] as const;

// rowQuery is one application as lists have it; null for one that is gone, or that may no longer be seen.
const rowQuery = (id: string) => ({
  queryKey: keyOf(id),
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Application | null> => {
    const { agent, namespace, name } = targetOf(id);
    const query = { agent, namespace, search: name, limit: 100 };
    const page = await data(client.GET("/api/v1/fleet/applications", { params: { query }, signal }));
    return page.items?.find((a) => a.id === id) ?? null;
  },
});

// Favourites are the applications that the person who is signed in comes for, above the list and live as it is.
export function Favourites() {
  const { ids } = useFavourites();
  const rows = useQueries({ queries: ids.map(rowQuery), combine: (results) => results.map((r) => r.data ?? null) });
  useEffect(
    () =>
      patchOn("application", ({ object, data: row }) => {
        if (row && ids.includes(object.id)) {
          queryClient.setQueryData(keyOf(object.id), row as Application);
        }
        return false;
      }),
    [ids],
  );
  const shown = rows.filter((row) => row !== null);
  if (shown.length === 0) {
    return null;
  }
  return (
    <section aria-label="Favourites" className="flex items-center gap-1.5 overflow-x-auto px-3 pb-2">
      <span title="Favourites, stored in this browser" className="shrink-0 text-muted">
        <Star size={14} aria-hidden />
      </span>
      <ul className="flex gap-1.5">
        {shown.map((app) => (
          <li key={app.id} className="flex h-7 shrink-0 items-center gap-1.5 rounded-md border bg-surface px-2">
            <StatusIcon status={app.health} old={app.stale ?? false} />
            {app.sync !== "Synced" && <StatusIcon status={app.sync} old={app.stale ?? false} />}
            <Link
              to="/applications/$agent/$namespace/$name"
              params={targetOf(app.id)}
              className="font-medium hover:text-accent hover:underline"
            >
              {app.name}
            </Link>
          </li>
        ))}
      </ul>
      <span className="shrink-0 text-xs text-muted">stored in this browser</span>
    </section>
  );
}
