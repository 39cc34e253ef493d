import { useQuery } from "@tanstack/react-query";
import type { App } from "@/lib/application";
import { Ago } from "@/ui/ago";
import { Empty, Loaded } from "@/ui/states";
import { Badge } from "@/ui/status";
import type { Node } from "./model";
import { eventsQuery, refFrom } from "./object-query";

// ObjectEvents are what Kubernetes says of an object, the newest first.
export function ObjectEvents({ app, node }: { app: App; node: Node }) {
  const query = useQuery(eventsQuery(app, refFrom(node)));
  return (
    <Loaded query={query}>
      {({ events }) =>
        !events?.length ? (
          <Empty title="No events">Kubernetes keeps events for about an hour, and has none for this object.</Empty>
        ) : (
          <ul className="divide-y rounded-md border">
            {[...events].reverse().map((event, i) => (
              <li key={`${event.reason} ${event.last} ${i}`} className="grid gap-x-3 px-3 py-2 sm:grid-cols-[1fr_auto]">
                <div className="min-w-0">
                  <span className="flex flex-wrap items-center gap-2">
                    <Badge tone={event.type === "Warning" ? "warn" : "idle"}>{event.type}</Badge>
                    <span className="font-medium">{event.reason}</span>
                    {event.count > 1 && <span className="text-sm text-muted">{event.count} times</span>}
                  </span>
                  <p className="break-words whitespace-pre-wrap">{event.message}</p>
                </div>
                <p className="text-sm text-muted sm:text-right">
                  <Ago at={event.last} none="" />
                  {event.source && <span className="block">{event.source}</span>}
                </p>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
