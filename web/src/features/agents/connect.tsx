import { type FormEvent, useState } from "react";
import { create, useEntity } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { useAddress } from "@/lib/navigate";
import { queryClient } from "@/lib/query";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Checkbox, Field, Input, Select } from "@/ui/field";
import { ScopeField, wrongOf } from "@/ui/form";
import { Card, Page } from "@/ui/page";
import { ErrorNote, Loaded, NoPermission } from "@/ui/states";
import { type Registration, stateOf, useHosts } from "./data";
import { Install } from "./install-card";
import { Live } from "./connect-live";

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

export function Create({
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
    <Card title="1. Name the agent" className="max-w-2xl">
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
        <Field label="Mode" error={wrong("engine") ?? wrong("hosted")}>
          <Select value={kind} onChange={(e) => setKind(e.target.value as typeof kind)}>
            <option value="slipway">In a cluster, with its own engine</option>
            <option value="argocd">Beside an existing Argo CD</option>
            {hosts && <option value="hosted">Run by this server, for a cluster that its operator offers</option>}
          </Select>
        </Field>
        {kind === "hosted" ? (
          <Field
            label="Cluster"
            hint="Name that the operator of the server gave it. Leave it empty for the only one."
            error={wrong("hosted.cluster")}
          >
            <Input value={cluster} maxLength={63} autoComplete="off" onChange={(e) => setCluster(e.target.value)} />
          </Field>
        ) : (
          <>
            <Field label="Namespace" hint="Namespace of the agent and its Applications in the cluster.">
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
              label="Restrict it to its own namespace"
              hint="Roles of the namespace instead of the cluster. The namespace and the resource definitions must exist."
              checked={namespaced}
              onChange={(e) => setNamespaced(e.target.checked)}
            />
          </>
        )}
        <Checkbox
          label="Create services and environments automatically"
          hint="For its applications without one, from their labels and names."
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
