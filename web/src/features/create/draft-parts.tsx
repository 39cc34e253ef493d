import { useQuery } from "@tanstack/react-query";
import { useMissing } from "@/lib/session";
import { Checkbox, Field, Input, Select } from "@/ui/field";
import { change, type Draft, get, has, option, type Path, setOption } from "./draft";
import { clustersQuery } from "./queries";

export const inCluster = "https://kubernetes.default.svc";

export interface PartProps {
  agent: string;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  text: (path: Path) => { value: string; disabled: boolean; spellCheck: boolean; autoComplete: string };
  wrong: (path: Path) => string | undefined;
  off: boolean;
}

export function Destination({ agent, draft, onDraft, text, wrong, off }: PartProps) {
  const noClusters = useMissing("cluster_view");
  const clusters = useQuery(clustersQuery(agent, !noClusters));
  const at: Path = ["spec", "destination"];
  const namespace: Path = [...at, "namespace"];
  const value = has(draft, [...at, "name"])
    ? `name:${get(draft, [...at, "name"])}`
    : `server:${get(draft, [...at, "server"])}`;
  const names = (clusters.data?.items ?? []).map(
    (c) => (c.resource as { fields?: { name?: string } } | undefined)?.fields?.name || c.name,
  );
  const choose = (next: string) => {
    const [, kind = "", to = ""] = /^(name|server):(.*)$/.exec(next) ?? [];
    onDraft(change(change(draft, [...at, kind === "name" ? "server" : "name"], undefined), [...at, kind], to));
  };
  const choices = [...new Set([`server:${inCluster}`, ...names.map((n) => `name:${n}`), value])];
  return (
    <fieldset className="grid gap-3 rounded-md border p-3 sm:grid-cols-2" disabled={off}>
      <legend className="px-1 font-medium">Destination</legend>
      <Field
        label="Cluster"
        error={wrong([...at, "server"]) ?? wrong([...at, "name"])}
        hint={noClusters && `Only the agent's own is available. ${noClusters}`}
      >
        <Select value={value} onChange={(e) => choose(e.target.value)}>
          {choices.map((c) => (
            <option key={c} value={c}>
              {c === `server:${inCluster}` ? "The agent's own" : c.replace(/^(name|server):/, "")}
            </option>
          ))}
        </Select>
      </Field>
      <Field label="Namespace" error={wrong(namespace)} hint="For objects without a namespace">
        <Input {...text(namespace)} onChange={(e) => onDraft(change(draft, namespace, e.target.value))} />
      </Field>
    </fieldset>
  );
}

export function Policy({ draft, onDraft, off }: { draft: Draft; onDraft: (draft: Draft) => void; off: boolean }) {
  const at: Path = ["spec", "syncPolicy", "automated"];
  const automatic = has(draft, at);
  const flag = (name: string) => get(draft, [...at, name]) === "true";
  return (
    <fieldset className="grid gap-2 rounded-md border p-3 sm:grid-cols-2" disabled={off}>
      <legend className="px-1 font-medium">Syncing</legend>
      <Checkbox
        label="Auto-sync"
        hint="Deploy each commit automatically"
        checked={automatic}
        onChange={(e) => onDraft(change(draft, at, e.target.checked ? {} : undefined))}
      />
      <Checkbox
        label="Create the namespace"
        hint="If it does not exist"
        checked={option(draft, "CreateNamespace")}
        onChange={(e) => onDraft(setOption(draft, "CreateNamespace", e.target.checked))}
      />
      <Checkbox
        label="Prune"
        hint="Delete what Git no longer has"
        disabled={!automatic}
        checked={flag("prune")}
        onChange={(e) => onDraft(change(draft, [...at, "prune"], e.target.checked))}
      />
      <Checkbox
        label="Self-heal"
        hint="Revert changes made in the cluster"
        disabled={!automatic}
        checked={flag("selfHeal")}
        onChange={(e) => onDraft(change(draft, [...at, "selfHeal"], e.target.checked))}
      />
    </fieldset>
  );
}
