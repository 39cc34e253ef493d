import { Link } from "@tanstack/react-router";
import { CircleCheck, LoaderCircle } from "lucide-react";
import { useEffect, useState } from "react";
import { count } from "@/lib/format";
import { Button } from "@/ui/button";
import { Snippet } from "@/ui/copy";
import { Card } from "@/ui/page";
import { type Agent, stateOf, useApplications } from "./data";

// Live waits for the agent: events of it are shown as they come.
export function Live({ agent }: { agent: Agent }) {
  const id = agent.id ?? "";
  const state = stateOf(agent);
  const connected = state === "Connected" || state === "Degraded";
  const apps = useApplications(connected ? id : "");
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 60_000);
    return () => clearTimeout(timer);
  }, []);
  const namespace = agent.status?.namespace || agent.hosted?.namespace || "argocd";
  return (
    <Card title="3. It connects" className="max-w-4xl">
      <div role="status" aria-live="polite" className="space-y-3">
        {connected ? (
          <>
            <p className="flex items-center gap-2 text-lg font-semibold">
              <CircleCheck size={20} aria-hidden className="text-ok" /> {agent.name} is connected
            </p>
            <p>
              Version {agent.status?.version}, Kubernetes {agent.status?.kubernetes}, namespace {namespace}.{" "}
              {apps.data ? `${count(apps.data.total)} applications are known.` : "Its applications are being read."}
            </p>
          </>
        ) : (
          <p className="flex items-center gap-2">
            <LoaderCircle size={18} aria-hidden className="animate-spin text-busy" />
            Waiting for {agent.name} to connect. This page updates automatically.
          </p>
        )}
        {agent.hosted && !connected && (
          <p className="text-muted">
            The server runs it: {agent.hosted.state || "Waiting"}. {agent.hosted.message}
          </p>
        )}
        {!connected && late && <Help namespace={namespace} />}
      </div>
      {connected && (
        <div className="mt-3 flex flex-wrap gap-2">
          <Button asChild look="primary">
            <Link to="/applications/new" search={{ agent: id }}>
              Create an application
            </Link>
          </Button>
          <Button asChild>
            <Link to="/applications" search={{ agent: id }}>
              See its applications
            </Link>
          </Button>
          <Button asChild>
            <Link to="/agents/$agent" params={{ agent: id }}>
              Look at the agent
            </Link>
          </Button>
        </div>
      )}
    </Card>
  );
}

function Help({ namespace }: { namespace: string }) {
  return (
    <div className="rounded-md bg-warn-soft p-3">
      <p className="font-medium">It takes longer than a minute. Check the following:</p>
      <ol className="mt-1 list-decimal space-y-2 pl-5">
        <li>
          Check that its pod is running. An image that cannot be pulled shows here.
          <Snippet
            label="Look at its pod"
            text={`kubectl -n ${namespace} get pods -l app.kubernetes.io/name=slipway-agent`}
          />
        </li>
        <li>
          Read its log. It reports a refused token, an unknown certificate, or a name that it cannot resolve.
          <Snippet label="Read its log" text={`kubectl -n ${namespace} logs deployment/slipway-agent --tail 50`} />
        </li>
        <li>
          Does the cluster reach this server? Nothing but outgoing HTTPS to its address is needed; a proxy has to be
          named.
        </li>
        <li>Check the age of the token. It can be used once and expires soon: create another one above.</li>
      </ol>
    </div>
  );
}
