import { useMutation, useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { useChoices } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { useMissing, usePartly } from "@/lib/session";
import { Button, IconButton } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Field, Input, Select, Textarea } from "@/ui/field";
import { ErrorNote } from "@/ui/states";
import { toast } from "@/ui/toast";
import { type Environment, reread } from "./data";
import { nameHint, nameShape, scopeHint } from "./edit-service";

type Cluster = Schemas["EnvironmentCluster"];

const keyOf = (c: Cluster): string => `${c.agent} ${c.cluster}`;

// EditEnvironment makes an environment, or changes one.
export function EditEnvironment({ environment, onClose }: { environment?: Environment; onClose: () => void }) {
  const [name, setName] = useState(environment?.name ?? "");
  const [scope, setScope] = useState(environment?.scope ?? "account");
  const [displayName, setDisplayName] = useState(environment?.displayName ?? "");
  const [description, setDescription] = useState(environment?.description ?? "");
  const [type, setType] = useState<"Production" | "PreProduction">(environment?.type ?? "PreProduction");
  const [region, setRegion] = useState(environment?.region ?? "");
  const [clusters, setClusters] = useState<Cluster[]>(environment?.clusters ?? []);
  const bad = name !== "" && !nameShape.test(name);
  const save = useMutation({
    mutationFn: () => {
      const body = { displayName, description, type, region, clusters };
      return environment
        ? data(
            client.PUT("/api/v1/environments/{id}", {
              params: { path: { id: environment.id ?? "" }, query: {} },
              body: { ...environment, ...body },
            }),
          )
        : data(client.POST("/api/v1/environments", { params: { query: {} }, body: { name, scope, ...body } }));
    },
    onSuccess: async (saved) => {
      await reread();
      toast(`The environment ${saved.name} is saved`);
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={environment ? `Change ${environment.name}` : "New environment"}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="environment" busy={save.isPending} disabled={name === "" || bad}>
            Save
          </Button>
        </>
      }
    >
      <form
        id="environment"
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {!environment && (
          <>
            <Field label="Name" hint={nameHint} error={bad ? nameHint : undefined}>
              <Input value={name} autoComplete="off" spellCheck={false} onChange={(e) => setName(e.target.value)} />
            </Field>
            <Field label="Scope" hint={scopeHint}>
              <Input value={scope} autoComplete="off" spellCheck={false} onChange={(e) => setScope(e.target.value)} />
            </Field>
          </>
        )}
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Type">
            <Select value={type} onChange={(e) => setType(e.target.value as typeof type)}>
              <option value="PreProduction">Pre-production</option>
              <option value="Production">Production</option>
            </Select>
          </Field>
          <Field label="Region">
            <Input value={region} maxLength={63} onChange={(e) => setRegion(e.target.value)} />
          </Field>
        </div>
        <Clusters clusters={clusters} onChange={setClusters} />
        <Field label="Name for people">
          <Input value={displayName} maxLength={200} onChange={(e) => setDisplayName(e.target.value)} />
        </Field>
        <Field label="What it is for">
          <Textarea value={description} maxLength={2000} onChange={(e) => setDescription(e.target.value)} />
        </Field>
        {save.error && <ErrorNote error={save.error} />}
      </form>
    </Dialog>
  );
}

// Clusters chooses whose applications belong to the environment.
function Clusters({ clusters, onChange }: { clusters: Cluster[]; onChange: (clusters: Cluster[]) => void }) {
  const noClusters = useMissing("cluster_view");
  const someAgents = usePartly("agent_view");
  const someClusters = usePartly("cluster_view");
  const { missing: noAgents, query: all } = useChoices(agents);
  const known = useQuery({
    queryKey: ["cluster", "list", "names"],
    enabled: !noClusters,
    queryFn: ({ signal }) => data(client.GET("/api/v1/clusters", { params: { query: { limit: 1000 } }, signal })),
  });
  const options: Cluster[] = [
    ...(all.data ?? []).map((a) => ({ agent: a.id ?? "", cluster: "in-cluster" })),
    ...(known.data?.items ?? []).map((c) => ({ agent: c.agent, cluster: c.name })),
  ].filter((o, i, all) => all.findIndex((x) => keyOf(x) === keyOf(o)) === i);
  const left = options.filter((o) => !clusters.some((c) => keyOf(c) === keyOf(o)));
  const notOffered = [
    noAgents && `Clusters of agents themselves are not offered. ${noAgents}`,
    noClusters && `Further clusters of agents are not offered. ${noClusters}`,
    ...(left.length === 0 ? [someAgents, someClusters] : []),
  ].filter(Boolean);
  return (
    <div className="space-y-2">
      <Field
        label="Clusters"
        hint="Applications that deploy there belong to it, unless a label or a link says otherwise"
      >
        <Select
          value=""
          onChange={(e) => {
            const next = left.find((o) => keyOf(o) === e.target.value);
            if (next) {
              onChange([...clusters, next]);
            }
          }}
        >
          <option value="">
            {left.length > 0
              ? "Add a cluster"
              : `There is no other cluster${notOffered.length > 0 ? " that you may see" : ""}`}
          </option>
          {left.map((o) => (
            <option key={keyOf(o)} value={keyOf(o)}>
              {o.agent}: {o.cluster}
            </option>
          ))}
        </Select>
      </Field>
      {notOffered.map((why) => (
        <p key={why} className="text-sm text-muted">
          {why}
        </p>
      ))}
      {clusters.length > 0 && (
        <ul className="divide-y rounded-md border">
          {clusters.map((c) => (
            <li key={keyOf(c)} className="flex items-center gap-2 px-3 py-1">
              <span className="min-w-0 flex-1 truncate">
                {c.agent}: {c.cluster}
              </span>
              <IconButton
                small
                label={`Remove ${c.agent} ${c.cluster}`}
                onClick={() => onChange(clusters.filter((x) => x !== c))}
              >
                <X size={14} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {(all.error ?? known.error) != null && <ErrorNote error={all.error ?? known.error} />}
    </div>
  );
}
