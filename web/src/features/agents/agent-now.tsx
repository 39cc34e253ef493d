import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isBeside } from "@/lib/engine";
import { useEntity } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { count, plural } from "@/lib/format";
import { known } from "@/lib/time";
import { Ago, Lasting } from "@/ui/ago";
import { Copy } from "@/ui/copy";
import { Facts } from "@/ui/page";
import { Badge, Status } from "@/ui/status";
import { type Agent, connected, heardEvery, stateOf, useApplications } from "./data";

export function Now({ agent }: { agent: Agent }) {
  const apps = useApplications(agent.id ?? "");
  // Events report all that is shown here but when it was heard last, and its lag.
  useEntity(agents, agent.id, heardEvery(agent));
  const status = agent.status;
  const hosted = agent.hosted;
  return (
    <Facts
      facts={[
        [
          "State",
          <span key="s" className="inline-flex flex-wrap items-center gap-2">
            <Status status={stateOf(agent)} />
            {known(status?.since) && (
              <span>
                for <Lasting since={status.since} />
              </span>
            )}
          </span>,
        ],
        ["Last seen", <Ago key="h" at={status?.lastHeartbeatAt} />],
        [
          "Lag",
          status?.pending
            ? `${plural(status.pending, "change")}, the oldest ${(status.lagSeconds ?? 0).toFixed(1)} s old`
            : connected(agent)
              ? "none: up to date"
              : "unknown until the agent is back",
        ],
        [
          "Applications",
          apps.missing ?? (
            <Link key="a" to="/applications" search={{ agent: agent.id }} className="text-accent hover:underline">
              {apps.data ? count(apps.data.total) : "…"}
            </Link>
          ),
        ],
        ["Version", status?.version || "not known yet"],
        ["Engine", isBeside(agent) ? "Argo CD" : "Slipway"],
        ["Kubernetes", status?.kubernetes || "not known yet"],
        ["Namespace", status?.namespace || hosted?.namespace || "not known yet"],
        ["Access", agent.namespaced ? "its own namespace only" : "the whole cluster"],
        ["Scope", agent.scope],
        [
          "ID",
          <span key="i" className="inline-flex items-center gap-1">
            <code className="break-all">{agent.id}</code>
            <Copy text={agent.id ?? ""} label="Copy the ID" />
          </span>,
        ],
        [
          "Cluster",
          <code key="c" className="break-all">
            {status?.clusterUID || "not known yet"}
          </code>,
        ],
        ["Registered", <Ago key="r" at={status?.registeredAt} />],
        ...(hosted
          ? ([
              [
                "Run by",
                <span key="b">
                  the server{hosted.server && ` on ${hosted.server}`}: <Badge>{hosted.state}</Badge> {hosted.message}
                  {Boolean(hosted.restarts) && ` (${hosted.restarts} restarts)`}
                </span>,
              ],
            ] as [ReactNode, ReactNode][])
          : []),
      ]}
    />
  );
}
