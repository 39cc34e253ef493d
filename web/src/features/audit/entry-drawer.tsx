import type { Tone } from "@/ui/status";
import { useQuery } from "@tanstack/react-query";
import { client, data } from "@/api/client";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Code, CodeDiff } from "@/ui/code";
import { Copy } from "@/ui/copy";
import { Drawer } from "@/ui/dialog";
import { Facts } from "@/ui/page";
import { Failed, Loading } from "@/ui/states";
import { Badge } from "@/ui/status";
import { type Entry, pretty } from "./data";

export const tones: Record<string, Tone> = { succeeded: "ok", failed: "bad", denied: "warn" };

export function EntryDrawer({
  id,
  entry,
  onClose,
  onRequest,
}: {
  id: string;
  entry: Entry | undefined;
  onClose: () => void;
  onRequest: (request: string) => void;
}) {
  // A link may lead to an entry that the list has not read.
  const found = useQuery({
    queryKey: ["audit", "one", id],
    enabled: !entry,
    queryFn: ({ signal }) => data(client.GET("/api/v1/audit/{id}", { params: { path: { id: Number(id) } }, signal })),
  });
  const e = entry ?? found.data;
  return (
    <Drawer
      open
      onClose={onClose}
      title={e ? `${e.action} ${e.object?.id ?? ""}` : `Entry ${id}`}
      description={`Entry ${id}`}
    >
      {!e ? (
        found.error ? (
          <Failed error={found.error} retry={() => void found.refetch()} />
        ) : (
          <Loading />
        )
      ) : (
        <div className="space-y-4 p-4">
          <Facts
            facts={[
              [
                "Outcome",
                <Badge key="o" tone={tones[e.outcome] ?? "idle"}>
                  {e.outcome}
                </Badge>,
              ],
              ["When", <Ago key="w" at={e.at} />],
              ["Actor", `${e.actor.type} ${e.actor.id}`],
              ["From", [e.ip, e.userAgent].filter(Boolean).join(" · ") || "the server itself"],
              ["Reason", e.reason || "none given"],
              ...(e.message ? ([["Message", e.message]] as [string, string][]) : []),
              [
                "Request",
                e.requestId ? (
                  <span key="r" className="inline-flex flex-wrap items-center gap-1">
                    <code className="break-all">{e.requestId}</code>
                    <Copy text={e.requestId} label="Copy the request id" />
                    <Button small look="ghost" onClick={() => onRequest(e.requestId ?? "")}>
                      All of this request
                    </Button>
                  </span>
                ) : (
                  "none"
                ),
              ],
              [
                "Hash",
                <code key="h" className="text-sm break-all">
                  {e.hash}
                </code>,
              ],
            ]}
          />
          {(e.before !== undefined || e.after !== undefined) && (
            <section aria-label="Before and after" className="space-y-1">
              <h3 className="font-semibold">
                {e.before === undefined ? "After" : e.after === undefined ? "Before" : "Before and after"}
              </h3>
              {e.before === undefined || e.after === undefined ? (
                <Code label="Object" value={pretty(e.before ?? e.after)} />
              ) : (
                <CodeDiff label="Changes" before={pretty(e.before)} after={pretty(e.after)} unified />
              )}
            </section>
          )}
        </div>
      )}
    </Drawer>
  );
}
