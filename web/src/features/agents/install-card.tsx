import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { client, data } from "@/api/client";
import { useSettled } from "@/lib/settled";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Snippet } from "@/ui/copy";
import { Field, Input, Textarea } from "@/ui/field";
import { Card } from "@/ui/page";
import { ErrorNote, Loaded } from "@/ui/states";
import { type Agent, readManifest, type Registration } from "./data";
import { helmCommand, kubectlCommand, type Network, noNetwork, slipwayCommand } from "./install";

type Way = "kubectl" | "helm" | "slipway";

// Install shows the one command that installs an agent. Its token is only ever in this page.
export function Install({
  agent,
  made,
  namespace,
  onNamespace,
  onMade,
}: {
  agent: Agent;
  made: Registration | null;
  namespace: string;
  onNamespace: (namespace: string) => void;
  onMade: (registration: Registration) => void;
}) {
  const [way, setWay] = useState<Way>("kubectl");
  const [network, setNetwork] = useState(noNetwork);
  if (!made?.token) {
    return <NewToken agent={agent} namespace={namespace} onNamespace={onNamespace} onMade={onMade} />;
  }
  return (
    <Card title={`2. Install ${agent.name}: copy this command`} className="max-w-4xl">
      <div className="space-y-3">
        <div role="group" aria-label="Install with" className="flex flex-wrap gap-1">
          {(["kubectl", "helm", "slipway"] as const).map((each) => (
            <Button
              key={each}
              small
              look={each === way ? "primary" : "plain"}
              aria-pressed={each === way}
              onClick={() => setWay(each)}
            >
              {each}
            </Button>
          ))}
        </div>
        <Command agent={agent} token={made.token} way={way} namespace={namespace} network={network} />
        <p className="text-sm text-muted">
          Run it with a kubeconfig of the cluster. It contains a one-time token, which expires{" "}
          <Ago at={made.expiresAt} ahead />; it is not shown again.
        </p>
        <NetworkFields value={network} onChange={(change) => setNetwork({ ...network, ...change })} />
      </div>
    </Card>
  );
}

function Command({
  agent,
  token,
  way,
  namespace,
  network,
}: {
  agent: Agent;
  token: string;
  way: Way;
  namespace: string;
  network: Network;
}) {
  const id = agent.id ?? "";
  const options = useSettled(
    useMemo(() => ({ ...network, namespace }), [network, namespace]),
    250,
  );
  const format = way === "helm" ? ("helm" as const) : ("yaml" as const);
  const manifest = useQuery({
    queryKey: ["manifest", id, format, options],
    enabled: way !== "slipway",
    queryFn: () => readManifest(id, { format, ...options }),
  });
  const label = "Command that installs the agent";
  if (way === "slipway") {
    return <Snippet label={label} text={slipwayCommand(id, token, namespace, network)} />;
  }
  const make = !agent.namespaced && agent.engine !== "argocd";
  return (
    <Loaded query={manifest}>
      {(text) => (
        <Snippet
          label={label}
          className="max-h-72"
          text={
            way === "helm"
              ? helmCommand(text, token, options.namespace, make)
              : kubectlCommand(text, token, options.namespace)
          }
        />
      )}
    </Loaded>
  );
}

// NewToken makes another token for an agent that is there: who loads the page again has none to see.
function NewToken({
  agent,
  namespace,
  onNamespace,
  onMade,
}: {
  agent: Agent;
  namespace: string;
  onNamespace: (namespace: string) => void;
  onMade: (registration: Registration) => void;
}) {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    setError(null);
    try {
      onMade(await data(client.POST("/api/v1/agents/{id}/registration", { params: { path: { id: agent.id ?? "" } } })));
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={`2. Install ${agent.name}`} className="max-w-4xl">
      <div className="space-y-3">
        <p>
          A registration token is shown only once. Create one to see the command that installs this agent; its present
          key counts until the new token is used.
        </p>
        <Field
          label="Namespace"
          hint="Namespace of the agent and its Applications in the cluster."
          className="max-w-sm"
        >
          <Input value={namespace} autoComplete="off" onChange={(e) => onNamespace(e.target.value)} />
        </Field>
        {error != null && <ErrorNote error={error} />}
        <Button look="primary" busy={busy} onClick={() => void make()}>
          Create a registration token
        </Button>
      </div>
    </Card>
  );
}

// NetworkFields are for clusters that do not reach everything directly; the command follows what is written.
function NetworkFields({ value, onChange }: { value: Network; onChange: (change: Partial<Network>) => void }) {
  const text = (name: Exclude<keyof Network, "ca">) => ({
    value: value[name],
    autoComplete: "off",
    spellCheck: false,
    onChange: (e: { target: { value: string } }) => onChange({ [name]: e.target.value.trim() }),
  });
  return (
    <details className="rounded-md border">
      <summary className="cursor-pointer px-3 py-2 font-medium">
        A registry of your own, a proxy, or a certificate
      </summary>
      <div className="grid gap-3 border-t p-3 sm:grid-cols-2">
        <Field label="Image registry" hint="The image is pulled from there instead.">
          <Input {...text("registry")} placeholder="registry.example.org/mirror" />
        </Field>
        <Field label="Pull secret" hint="Secret of the namespace with the registry's credentials.">
          <Input {...text("pullSecret")} />
        </Field>
        <Field label="Proxy" hint="For connections out of the cluster. Without user and password.">
          <Input {...text("proxy")} placeholder="http://proxy.example.org:3128" />
        </Field>
        <Field label="Bypass the proxy for" hint="Hosts and networks, separated by commas.">
          <Input {...text("noProxy")} placeholder="git.example.org,10.0.0.0/8" />
        </Field>
        <Field
          label="Client certificate secret"
          hint="Secret of type kubernetes.io/tls with the certificate that the agent presents to the server."
        >
          <Input {...text("clientCertSecret")} />
        </Field>
        <Field
          label="Certificates that sign the server's"
          hint="PEM. Required if the cluster does not trust them, or a proxy inspects TLS."
          className="sm:col-span-2"
        >
          <Textarea
            className="font-mono text-sm"
            value={value.ca}
            spellCheck={false}
            onChange={(e) => onChange({ ca: e.target.value })}
          />
        </Field>
      </div>
    </details>
  );
}
