import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { clustersQuery } from "@/lib/browse";
import { change, type Draft, get, has, type Path } from "@/lib/draft";
import { useAll } from "@/lib/entity";
import { environments } from "@/lib/kinds";
import { linkLabels } from "@/lib/labels";
import { useMissing } from "@/lib/session";
import { Field, Input, Select } from "@/ui/field";
import type { Edit } from "./fields";

const inCluster = "https://kubernetes.default.svc";
const at: Path = ["spec", "destination"];

type Kind = "server" | "name";

// to writes the destination as an address or as a name, never both.
const to = (draft: Draft, kind: Kind, value: string): Draft =>
  change(change(draft, [...at, kind === "name" ? "server" : "name"], undefined), [...at, kind], value);

// Destination is where it is deployed: a cluster of the agent, that of an environment, or another by name or address.
export function Destination({ agent, edit }: { agent: string; edit: Edit }) {
  const { draft, onDraft, wrong, off } = edit;
  const noClusters = useMissing("cluster_view");
  const clusters = useQuery(clustersQuery(agent, !noClusters));
  const seen = useAll(environments);
  const list = useId();
  const kind: Kind = has(draft, [...at, "name"]) ? "name" : "server";
  const value = `${kind}:${get(draft, [...at, kind])}`;
  const named = (clusters.data?.items ?? []).map((c) => {
    const fields = (c.resource as { fields?: { name?: string; server?: string } } | undefined)?.fields;
    return { name: fields?.name || c.name, server: fields?.server ?? "" };
  });
  const own = `server:${inCluster}`;
  const known = [...new Set([own, ...named.map((n) => `name:${n.name}`)])];
  const ofEnvironments = seen.flatMap((e) =>
    (e.clusters ?? [])
      .filter((c) => c.agent === agent)
      .map((c) => ({ id: e.id ?? "", label: `${e.displayName || e.name}: ${c.cluster}`, cluster: c.cluster })),
  );
  const destinationOf = (cluster: string): [Kind, string] =>
    cluster === "in-cluster" ? ["server", inCluster] : [/^https?:\/\//.test(cluster) ? "server" : "name", cluster];
  const written = known.includes(value) ? value : `${kind}?`;
  const choose = (next: string) => {
    if (next.startsWith("environment:")) {
      const of = ofEnvironments[Number(next.slice("environment:".length))];
      if (of) {
        onDraft(change(to(draft, ...destinationOf(of.cluster)), linkLabels.environment, of.id));
      }
    } else if (next.endsWith("?")) {
      onDraft(to(draft, next === "name?" ? "name" : "server", ""));
    } else {
      const [, of, text = ""] = /^(name|server):(.*)$/.exec(next) ?? [];
      onDraft(to(draft, of === "name" ? "name" : "server", text));
    }
  };
  const text = { disabled: off, spellCheck: false, autoComplete: "off" } as const;
  const namespace = [...at, "namespace"];
  return (
    <fieldset className="grid gap-3 rounded-md border p-3 sm:grid-cols-2" disabled={off}>
      <legend className="px-1 font-medium">Destination</legend>
      <Field
        label="Cluster"
        error={written === value ? (wrong([...at, "server"]) ?? wrong([...at, "name"]) ?? wrong(at)) : undefined}
        hint={noClusters && `Only the agent's own is available. ${noClusters}`}
      >
        <Select value={written} onChange={(e) => choose(e.target.value)}>
          <optgroup label="Clusters of the agent">
            {known.map((c) => (
              <option key={c} value={c}>
                {c === own ? "The agent's own" : c.slice("name:".length)}
              </option>
            ))}
          </optgroup>
          {ofEnvironments.length > 0 && (
            <optgroup label="Clusters of environments">
              {ofEnvironments.map((e, i) => (
                <option key={e.label} value={`environment:${i}`}>
                  {e.label}
                </option>
              ))}
            </optgroup>
          )}
          <optgroup label="Others">
            <option value="name?">By name</option>
            <option value="server?">By address</option>
          </optgroup>
        </Select>
      </Field>
      <Field label="Namespace" error={wrong(namespace)} hint="For objects without a namespace">
        <Input
          {...text}
          value={get(draft, namespace)}
          onChange={(e) => onDraft(change(draft, namespace, e.target.value.trim()))}
        />
      </Field>
      {written !== value && (
        <Field
          label={kind === "name" ? "Name of the cluster" : "Address of the cluster"}
          error={wrong([...at, kind]) ?? wrong(at)}
          className="sm:col-span-2"
        >
          <Input
            {...text}
            list={list}
            value={get(draft, [...at, kind])}
            placeholder={kind === "name" ? "production" : inCluster}
            onChange={(e) => onDraft(to(draft, kind, e.target.value.trim()))}
          />
        </Field>
      )}
      <datalist id={list}>
        {named
          .map((n) => n[kind])
          .filter(Boolean)
          .map((n) => (
            <option key={n} value={n} />
          ))}
      </datalist>
    </fieldset>
  );
}
