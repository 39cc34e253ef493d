import { Link } from "@tanstack/react-router";
import { CircleCheck, LoaderCircle } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { create, useEntity } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { count } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { queryClient } from "@/lib/query";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Snippet } from "@/ui/copy";
import { Checkbox, Field, Input, Select } from "@/ui/field";
import { ScopeField, wrongOf } from "@/ui/form";
import { Card, Page } from "@/ui/page";
import { ErrorNote, Loaded, NoPermission } from "@/ui/states";
import { type Agent, type Registration, stateOf, useApplications, useHosts } from "./data";
import { Install } from "./install-card";

// Connect leads from nothing to an agent that is connected. The token is only ever in this page: who loads it again makes
// a new one.
export default function Connect() {
  const [search, set] = useAddress();
  const missing = useMissing("agent_edit");
  const [made, setMade] = useState<Registration | null>(null);
  const id = one(search, "agent");
  const agent = useEntity(agents, id || undefined);
  const [written, setNamespace] = useState<string>();
  const namespace = written ?? (one(search, "namespace") || agent.data?.status?.namespace || "argocd");
  return (
    <Page title="Connect an agent" about="An agent runs in a cluster and dials out to this server; nothing dials in.">
      {missing ? (
        <NoPermission why={missing} />
      ) : !id ? (
        <Create
          namespace={namespace}
          onNamespace={setNamespace}
          onMade={(registration) => {
            setMade(registration);
            set({ agent: registration.agent.id ?? "", namespace }, false);
          }}
        />
      ) : (
        <Loaded query={agent}>
          {(value) => (
            <div className="space-y-4">
              {!value.hosted && (stateOf(value) !== "Connected" || one(search, "again")) && (
                <Install
                  agent={value}
                  made={made}
                  namespace={namespace}
                  onNamespace={setNamespace}
                  onMade={(registration) => {
                    setMade(registration);
                    set({ namespace });
                  }}
                />
              )}
              <Live agent={value} />
            </div>
          )}
        </Loaded>
      )}
    </Page>
  );
}

function Create({
  namespace,
  onNamespace,
  onMade,
}: {
  namespace: string;
  onNamespace: (namespace: string) => void;
  onMade: (registration: Registration) => void;
}) {
  const [name, setName] = useState("");
  const hosts = useHosts();
  const [scope, setScope] = useState("account");
  const [kind, setKind] = useState<"slipway" | "argocd" | "hosted">("slipway");
  const [cluster, setCluster] = useState("");
  const [namespaced, setNamespaced] = useState(false);
  const [autoCreate, setAutoCreate] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const wrong = wrongOf(error);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const registration = await create<Registration>(agents, {
        name: name.trim(),
        scope,
        autoCreate,
        ...(kind === "argocd" ? { engine: "argocd" } : {}),
        ...(kind === "hosted" ? { hosted: cluster.trim() ? { cluster: cluster.trim() } : {} } : { namespaced }),
      });
      void queryClient.invalidateQueries({ queryKey: ["agent"] });
      onMade(registration);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title="1. What it is called" className="max-w-2xl">
      <form className="space-y-4" onSubmit={(event) => void submit(event)}>
        <Field
          label="Name"
          hint="Lower-case letters, digits and inner hyphens; it never changes."
          error={wrong("name")}
        >
          <Input
            value={name}
            required
            autoFocus
            maxLength={63}
            pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
            title="Lower-case letters, digits and inner hyphens"
            placeholder="prod"
            autoComplete="off"
            onChange={(e) => setName(e.target.value)}
          />
        </Field>
        <ScopeField value={scope} onChange={setScope} error={wrong("scope")} />
        <Field label="How it works" error={wrong("engine") ?? wrong("hosted")}>
          <Select value={kind} onChange={(e) => setKind(e.target.value as typeof kind)}>
            <option value="slipway">In a cluster, with its own engine</option>
            <option value="argocd">Beside an Argo CD that stays as it is</option>
            {hosts && <option value="hosted">Run by this server, for a cluster that its operator offers</option>}
          </Select>
        </Field>
        {kind === "hosted" ? (
          <Field
            label="Cluster"
            hint="As the operator of the server calls it; empty for the only one."
            error={wrong("hosted.cluster")}
          >
            <Input value={cluster} maxLength={63} autoComplete="off" onChange={(e) => setCluster(e.target.value)} />
          </Field>
        ) : (
          <>
            <Field label="Namespace" hint="Where the agent and its Applications are in the cluster.">
              <Input
                value={namespace}
                required
                maxLength={63}
                pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
                autoComplete="off"
                onChange={(e) => onNamespace(e.target.value)}
              />
            </Field>
            <Checkbox
              label="It may touch its own namespace only"
              hint="Roles of the namespace in place of the cluster's. The namespace and the resource definitions have to be there."
              checked={namespaced}
              onChange={(e) => setNamespaced(e.target.checked)}
            />
          </>
        )}
        <Checkbox
          label="Make services and environments by itself"
          hint="For its applications that belong to none, from their labels and names."
          checked={autoCreate}
          onChange={(e) => setAutoCreate(e.target.checked)}
        />
        {error != null && <ErrorNote error={error} />}
        <Button type="submit" look="primary" busy={busy}>
          Create agent
        </Button>
      </form>
    </Card>
  );
}

// Live waits for the agent: events of it are shown as they come.
function Live({ agent }: { agent: Agent }) {
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
            Waiting for {agent.name} to connect. This page shows it at once.
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
      <p className="font-medium">It takes longer than a minute. Look at this:</p>
      <ol className="mt-1 list-decimal space-y-2 pl-5">
        <li>
          Does its pod run? An image that cannot be pulled shows here.
          <Snippet
            label="Look at its pod"
            text={`kubectl -n ${namespace} get pods -l app.kubernetes.io/name=slipway-agent`}
          />
        </li>
        <li>
          What does it say? A refused token, a certificate it does not know and a name it cannot resolve are in its log.
          <Snippet label="Read its log" text={`kubectl -n ${namespace} logs deployment/slipway-agent --tail 50`} />
        </li>
        <li>
          Does the cluster reach this server? Nothing but outgoing HTTPS to its address is needed; a proxy has to be
          named.
        </li>
        <li>Is the token too old? It counts once and ends soon: make another one above.</li>
      </ol>
    </div>
  );
}
