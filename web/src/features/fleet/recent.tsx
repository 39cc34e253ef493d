import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { short } from "@/lib/format";
import { Ago } from "@/ui/ago";
import { Card } from "@/ui/page";
import { Loaded, Loading } from "@/ui/states";
import { StatusIcon } from "@/ui/status";
import { recentQuery } from "./data";

export function Recent() {
  const query = useQuery(recentQuery);
  return (
    <Card
      flush
      title="Changes in the last hour"
      actions={
        <Link to="/ledger" className="text-sm text-accent hover:underline">
          Ledger
        </Link>
      }
    >
      <Loaded query={query} loading={<Loading rows={3} />}>
        {(page) =>
          (page.items ?? []).length === 0 ? (
            <p className="px-4 py-3 text-muted">No operation ended in the last hour.</p>
          ) : (
            <ul className="divide-y">
              {(page.items ?? []).map((e) => (
                <li key={e.id} className="flex items-center gap-2 px-4 py-1.5">
                  <StatusIcon status={e.phase} />
                  <span className="min-w-0 flex-1 truncate" title={e.message}>
                    <Link
                      to="/applications/$agent/$namespace/$name/history"
                      params={{ agent: e.agent, namespace: e.namespace, name: e.name }}
                      className="hover:underline"
                    >
                      {e.name}
                    </Link>{" "}
                    <span className="text-muted">
                      {e.action} {short(e.revision)}{" "}
                      {e.actor && !e.automatic ? `by ${e.actor.replace(/^user:/, "")}` : ""}
                    </span>
                  </span>
                  <span className="text-sm text-muted">
                    <Ago at={e.finishedAt} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
