import { useEffect, useRef, useState } from "react";
import { parse, stringify } from "yaml";
import { Checkbox, Field, Input, Textarea } from "@/ui/field";
import type { Draft } from "./draft";
import { linesOf, pairsText, parsePairs, type Raw } from "./edit";
import { type Source, sourcesOf } from "./resource";

type Policy = NonNullable<Raw["spec"]["syncPolicy"]>;

// SettingsForm has the common things of an Application; all others are in the YAML.
export function SettingsForm({ edit }: { edit: Draft }) {
  const { draft, set } = edit;
  const { spec } = draft;
  const sources = sourcesOf(spec);
  const destination = spec.destination ?? {};
  const source = (i: number, some: Partial<Source>) =>
    set((d) => {
      const one = sourcesOf(d.spec)[i];
      if (one) {
        Object.assign(one, some);
      }
    });
  return (
    <div className="space-y-5">
      {sources.map((s, i) => (
        <fieldset key={i}>
          <legend className="mb-1 font-medium">{sources.length > 1 ? `Source ${i + 1}` : "Source"}</legend>
          <div className="grid gap-3 md:grid-cols-3">
            <Text label="Repository" value={s.repoURL} onChange={(repoURL) => source(i, { repoURL: repoURL ?? "" })} />
            {s.chart === undefined ? (
              <Text label="Path" value={s.path} onChange={(path) => source(i, { path })} />
            ) : (
              <Text label="Chart" value={s.chart} onChange={(chart) => source(i, { chart: chart ?? "" })} />
            )}
            <Text
              label="Target revision"
              value={s.targetRevision}
              placeholder="HEAD"
              onChange={(targetRevision) => source(i, { targetRevision })}
            />
          </div>
        </fieldset>
      ))}
      <fieldset>
        <legend className="mb-1 font-medium">Destination</legend>
        <div className="grid gap-3 md:grid-cols-3">
          <Text
            label={destination.name === undefined ? "Cluster, by address" : "Cluster, by name"}
            value={destination.name ?? destination.server}
            onChange={(v) =>
              set((d) => {
                d.spec.destination = { ...d.spec.destination, [destination.name === undefined ? "server" : "name"]: v };
              })
            }
          />
          <Text
            label="Namespace"
            value={destination.namespace}
            onChange={(namespace) =>
              set((d) => {
                d.spec.destination = { ...d.spec.destination, namespace };
              })
            }
          />
          <Text
            label="Argo project"
            value={spec.project}
            onChange={(project) =>
              set((d) => {
                d.spec.project = project ?? "";
              })
            }
          />
        </div>
      </fieldset>
      <SyncPolicy edit={edit} />
      <Differences edit={edit} />
      <Field label="Labels" hint="One per line, as name=value">
        <Lines
          value={pairsText(draft.metadata.labels)}
          onChange={(text) =>
            set((d) => {
              const labels = parsePairs(text);
              d.metadata.labels = Object.keys(labels).length > 0 ? labels : undefined;
            })
          }
        />
      </Field>
    </div>
  );
}

// Text is a field that leaves out of the resource what is empty.
function Text({
  label,
  value,
  placeholder,
  onChange,
}: {
  label: string;
  value: string | undefined;
  placeholder?: string;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <Field label={label}>
      <Input
        value={value ?? ""}
        placeholder={placeholder}
        spellCheck={false}
        onChange={(e) => onChange(e.target.value === "" ? undefined : e.target.value)}
      />
    </Field>
  );
}

// Lines keeps what is being written, also while it has no meaning yet. Without focus, it follows the value.
function Lines({ value, onChange, ...rest }: { value: string; onChange: (text: string) => void; id?: string }) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (document.activeElement !== field.current) {
      setText(value);
    }
  }, [value]);
  return (
    <Textarea
      {...rest}
      ref={field}
      value={text}
      className="font-mono text-sm"
      spellCheck={false}
      onChange={(e) => {
        setText(e.target.value);
        onChange(e.target.value);
      }}
    />
  );
}

function SyncPolicy({ edit: { draft, set } }: { edit: Draft }) {
  const policy: Policy = draft.spec.syncPolicy ?? {};
  const automated = policy.automated;
  const on = Boolean(automated) && automated?.enabled !== false;
  const change = (some: Partial<Policy>) =>
    set((d) => {
      d.spec.syncPolicy = { ...d.spec.syncPolicy, ...some };
    });
  const flag = (name: "prune" | "selfHeal" | "allowEmpty", label: string, hint: string) => (
    <Checkbox
      label={label}
      hint={hint}
      disabled={!on}
      checked={Boolean(automated?.[name])}
      onChange={(e) => change({ automated: { ...automated, [name]: e.target.checked } })}
    />
  );
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1 font-medium">Sync policy</legend>
      <div className="grid gap-x-4 gap-y-2 sm:grid-cols-2 lg:grid-cols-4">
        <Checkbox
          label="Auto-sync"
          hint="Deploy changes in Git automatically"
          checked={on}
          onChange={(e) => {
            const { enabled: _, ...rest } = automated ?? {};
            change({ automated: e.target.checked ? rest : automated ? { ...automated, enabled: false } : undefined });
          }}
        />
        {flag("prune", "Prune", "Delete what Git no longer has")}
        {flag("selfHeal", "Self-heal", "Revert changes in the cluster")}
        {flag("allowEmpty", "Allow empty", "Prune may delete all objects")}
      </div>
      <div className="grid gap-3 md:grid-cols-3">
        <Field label="Sync options" hint="One per line, such as CreateNamespace=true">
          <Lines
            value={(policy.syncOptions ?? []).join("\n")}
            onChange={(text) => {
              const options = linesOf(text);
              change({ syncOptions: options.length > 0 ? options : undefined });
            }}
          />
        </Field>
        <Field label="Retries after a failure" hint="Below 0 for no limit. Default: 5 with auto-sync">
          <Input
            type="number"
            value={policy.retry?.limit ?? ""}
            onChange={(e) =>
              change({ retry: e.target.value === "" ? undefined : { ...policy.retry, limit: Number(e.target.value) } })
            }
          />
        </Field>
        <Field label="Revision history limit" hint="Deployments in the history of the Application. Default: 10">
          <Input
            type="number"
            min={0}
            value={draft.spec.revisionHistoryLimit ?? ""}
            onChange={(e) =>
              set((d) => {
                d.spec.revisionHistoryLimit = e.target.value === "" ? undefined : Number(e.target.value);
              })
            }
          />
        </Field>
      </div>
    </fieldset>
  );
}

function Differences({ edit: { draft, set } }: { edit: Draft }) {
  const spec = draft.spec as Raw["spec"] & { ignoreDifferences?: unknown[] };
  const [wrong, setWrong] = useState("");
  return (
    <Field
      label="Ignored differences"
      hint="As YAML, a list of rules: kind, and jsonPointers, jqPathExpressions or managedFieldsManagers"
      error={wrong}
    >
      <Lines
        value={spec.ignoreDifferences?.length ? stringify(spec.ignoreDifferences) : ""}
        onChange={(text) => {
          let rules: unknown;
          try {
            rules = parse(text);
          } catch {
            setWrong("Invalid YAML. It is not saved.");
            return;
          }
          if (rules !== null && rules !== undefined && !Array.isArray(rules)) {
            setWrong("Not a list. It is not saved.");
            return;
          }
          setWrong("");
          set((d) => {
            (d.spec as typeof spec).ignoreDifferences = Array.isArray(rules) && rules.length > 0 ? rules : undefined;
          });
        }}
      />
    </Field>
  );
}
