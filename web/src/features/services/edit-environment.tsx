import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { create, update, useChoices } from "@/lib/entity";
import { agents, environments } from "@/lib/kinds";
import { useMissing, usePartly } from "@/lib/session";
import { IconButton } from "@/ui/button";
import { EntityForm } from "@/ui/entity-form";
import { Field, Input, Select } from "@/ui/field";
import { ErrorNote } from "@/ui/states";
import { useMeta } from "@/ui/meta";
import { toast } from "@/ui/toast";
import { type Environment, reread } from "./data";

type Cluster = Schemas["EnvironmentCluster"];

const keyOf = (c: Cluster): string => `${c.agent} ${c.cluster}`;

// EditEnvironment makes an environment, or changes one.
export function EditEnvironment({
  environment,
  onClose,
  onReload = () => undefined,
}: {
  environment?: Environment | undefined;
  onClose: () => void;
  // onReload reads it again, if another user changed it.
  onReload?: () => void;
}) {
  const [type, setType] = useState<"Production" | "PreProduction">(environment?.type ?? "PreProduction");
  const [region, setRegion] = useState(environment?.region ?? "");
  const [clusters, setClusters] = useState<Cluster[]>(environment?.clusters ?? []);
  const form = {
    value: environment,
    onClose,
    save: (body: unknown) =>
      environment
        ? update<Environment>(environments, environment.id ?? "", body)
        : create<Environment>(environments, body),
    readOnly: useMissing("environment_edit", environment?.scope),
    onReload,
    onDelete: undefined,
    whyNotDelete: undefined,
  };
  return (
    <EntityForm
      of={form}
      kind={environments}
      meta={useMeta(environment)}
      body={() => ({ type, region: region.trim(), clusters })}
      onSaved={(saved) => {
        void reread();
        toast(`The environment ${saved.name} is saved`);
        onClose();
      }}
    >
      {(wrong) => (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label="Type" error={wrong("type")}>
              <Select value={type} onChange={(e) => setType(e.target.value as typeof type)}>
                <option value="PreProduction">Pre-production</option>
                <option value="Production">Production</option>
              </Select>
            </Field>
            <Field label="Region" error={wrong("region")}>
              <Input value={region} maxLength={63} onChange={(e) => setRegion(e.target.value)} />
            </Field>
          </div>
          <Clusters clusters={clusters} onChange={setClusters} />
        </>
      )}
    </EntityForm>
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
    noAgents && `Agents' own clusters are not available. ${noAgents}`,
    noClusters && `Further clusters of agents are not available. ${noClusters}`,
    ...(left.length === 0 ? [someAgents, someClusters] : []),
  ].filter(Boolean);
  return (
    <div className="space-y-2">
      <Field
        label="Clusters"
        hint="Applications that deploy there belong to it, unless a label or a link sets another one"
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
