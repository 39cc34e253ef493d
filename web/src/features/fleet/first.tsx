import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { cn } from "@/lib/cn";
import { useMissing, usePartly } from "@/lib/session";
import { Button } from "@/ui/button";

// FirstRun is what there is to do where there are no applications yet: one step after the other.
export function FirstRun({ agents }: { agents: Schemas["Agent"][] }) {
  const partly = usePartly("application_view");
  const missingAgent = useMissing("agent_edit");
  const missingApp = useMissing("application_edit");
  const connected = agents.some((a) => a.status?.state === "Connected" || a.status?.state === "Degraded");
  return (
    <section aria-label="First steps" className="mx-auto max-w-2xl rounded-lg border bg-surface p-6">
      <h2 className="text-lg font-semibold">Welcome to Slipway</h2>
      <p className="mt-1 text-muted">
        Agents keep clusters in sync with Git, and report to this server. There are no applications
        {partly ? ` that you may see. ${partly}` : " yet."}
      </p>
      <ol className="mt-4 space-y-4">
        <Step n={1} done={connected} title="Connect an agent">
          <p className="text-muted">
            {connected
              ? "An agent is connected. Applications in its cluster appear here."
              : agents.length > 0
                ? "The agent is not connected. Open it, or connect another one."
                : "Install one in a cluster with one command. It dials out, so nothing needs access to the cluster."}
          </p>
          {!connected && (
            <div className="mt-2 flex flex-wrap gap-2">
              <Go to="/agents/connect" why={missingAgent} primary>
                Connect an agent
              </Go>
              {agents.length > 0 && <Go to="/agents">Agents</Go>}
            </div>
          )}
        </Step>
        <Step n={2} done={false} title="Create an application">
          <p className="text-muted">
            Choose a repository, a directory and a cluster, and preview what would be deployed.
          </p>
          <div className="mt-2">
            <Go to="/applications/new" why={connected ? missingApp : "Connect an agent first."} primary={connected}>
              Create an application
            </Go>
          </div>
        </Step>
        <Step n={3} done={false} title="See it here">
          <p className="text-muted">
            This page then shows what needs attention, the health of all applications, and what changed.
          </p>
        </Step>
      </ol>
    </section>
  );
}

function Go({
  to,
  why,
  primary,
  children,
}: {
  to: string;
  why?: string | undefined;
  primary?: boolean;
  children: ReactNode;
}) {
  if (why) {
    return <Button why={why}>{children}</Button>;
  }
  return (
    <Button asChild look={primary ? "primary" : "plain"}>
      <Link to={to}>{children}</Link>
    </Button>
  );
}

function Step({ n, done, title, children }: { n: number; done: boolean; title: string; children: ReactNode }) {
  return (
    <li className="flex gap-3">
      <span
        className={cn(
          "flex size-7 shrink-0 items-center justify-center rounded-full text-sm font-semibold",
          done ? "bg-ok-soft text-ok" : "bg-idle-soft text-idle",
        )}
      >
        {done ? <Check size={15} aria-label="Done" role="img" /> : n}
      </span>
      <div className="min-w-0 flex-1">
        <h3 className="font-medium">{title}</h3>
        {children}
      </div>
    </li>
  );
}
