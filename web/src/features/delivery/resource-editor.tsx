import { useState } from "react";
import { parse, stringify } from "yaml";
import { client, data } from "@/api/client";
import { finished } from "@/lib/command";
import { useAll } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Code } from "@/ui/code";
import { Field, Select } from "@/ui/field";
import { ErrorNote } from "@/ui/states";
import { toast } from "@/ui/toast";
import { placeOf } from "./items";
import type { SettingItem } from "./setting";
import { readable } from "./yaml";

interface Props {
  // noun is the part of the API's address, called one of them, type what events and permissions name it.
  noun: "argo-projects";
  called: string;
  type: string;
  item?: SettingItem;
  // template is what a new one begins with.
  template?: unknown;
  onDone: () => void;
}

// ResourceEditor makes or changes a resource of an agent's cluster as YAML. Unknown fields stay.
export function ResourceEditor({ noun, called, type, item, template, onDone }: Props) {
  const all = useAll(agents);
  const [agent, setAgent] = useState(item?.agent ?? "");
  const [text, setText] = useState(() => stringify(item ? readable(item.resource) : template));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const missing = useMissing(`${type}_edit`, item?.scope);
  const chosen = agent || all[0]?.id || "";
  let resource: unknown;
  let problem: { line: number; message: string } | undefined;
  try {
    resource = parse(text, { maxAliasCount: 100 });
  } catch (wrong) {
    const at = (wrong as { linePos?: { line: number }[] }).linePos?.[0]?.line ?? 1;
    problem = { line: at, message: wrong instanceof Error ? wrong.message : "Invalid YAML." };
  }
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      const version = (item?.resource as { metadata?: { resourceVersion?: string } } | undefined)?.metadata
        ?.resourceVersion;
      const wanted = resource as { metadata?: object };
      const body = item
        ? { resource: { ...wanted, metadata: { ...wanted.metadata, resourceVersion: version } }, base: item.resource }
        : { resource };
      finished(
        await data(
          item
            ? client.PUT(`/api/v1/agents/{agent}/${noun}/{namespace}/{name}`, { params: { path: placeOf(item) }, body })
            : client.POST(`/api/v1/agents/{agent}/${noun}`, { params: { path: { agent: chosen } }, body }),
        ),
      );
      toast(item ? `The ${called} was changed` : `The ${called} was added`);
      void queryClient.invalidateQueries({ queryKey: [type] });
      onDone();
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="space-y-3 p-4">
      {!item && (
        <Field label="Agent">
          <Select value={chosen} onChange={(e) => setAgent(e.target.value)}>
            {all.map((a) => (
              <option key={a.id} value={a.id}>
                {a.id}
              </option>
            ))}
          </Select>
        </Field>
      )}
      <Code
        value={text}
        label={`${called} as YAML`}
        onChange={setText}
        problems={problem ? [problem] : []}
        className="h-[55vh]"
      />
      {problem && (
        <p role="alert" className="text-bad">
          Line {problem.line}: {problem.message.split("\n")[0]}
        </p>
      )}
      {error != null && <ErrorNote error={error} />}
      <div className="flex gap-2">
        <Button
          look="primary"
          busy={busy}
          disabled={Boolean(problem) || (!item && !chosen)}
          why={missing}
          onClick={() => void save()}
        >
          {item ? "Save" : `Add ${called}`}
        </Button>
      </div>
    </div>
  );
}
