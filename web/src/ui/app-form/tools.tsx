import { useState } from "react";
import type { Schemas } from "@/api/client";
import { toolFields } from "@/lib/app-fields";
import { type Path, setTool, type Tool, toolOf, tools } from "@/lib/draft";
import { Field, Select } from "@/ui/field";
import { Fold } from "@/ui/fold";
import { anyWrong, countSet, type Edit, Fields, type Offers } from "./fields";

const words: Record<Tool, string> = {
  helm: "Helm",
  kustomize: "Kustomize",
  directory: "Plain files",
  plugin: "Plugin",
};

type Found = Schemas["RepositoryPaths"];

const detectedBy = (found: Found | undefined): Tool | undefined => {
  const name = found?.tool === "jsonnet" ? "directory" : found?.tool;
  return tools.find((tool) => tool === name);
};

function offersOf(found: Found | undefined): Offers {
  return {
    valueFiles: found?.valueFiles ?? [],
    parameters: (found?.details?.helm?.parameters ?? []).map((p) => p.name),
    plugins: found?.plugins ?? [],
    announced: (found?.details?.parameters ?? []).map((p) => p.name),
    images: (found?.details?.kustomize?.images ?? []).map((i) => `${i.name}:${i.newTag || "latest"}`),
  };
}

// Announced lists the parameters that a plugin has, with their defaults.
function Announced({ found }: { found: Found | undefined }) {
  const list = found?.details?.parameters ?? [];
  if (list.length === 0) {
    return null;
  }
  return (
    <dl aria-label="Parameters of the plugin" className="mb-3 grid gap-x-3 gap-y-1 text-sm sm:grid-cols-[auto_1fr]">
      {list.map((p) => (
        <div key={p.name} className="contents">
          <dt className="font-medium">
            {p.title || p.name}
            {p.required && " (required)"}
          </dt>
          <dd className="text-muted">{[p.title && p.name, p.tooltip, standard(p)].filter(Boolean).join(" · ")}</dd>
        </div>
      ))}
    </dl>
  );
}

// standard is the default of a parameter, as text.
function standard(p: Schemas["PluginParameter"]): string {
  const value =
    p.collectionType === "array"
      ? (p.array ?? []).join(", ")
      : p.collectionType === "map"
        ? Object.entries(p.map ?? {})
            .map(([key, text]) => `${key}=${text}`)
            .join(", ")
        : (p.string ?? "");
  return value && `default: ${value}`;
}

interface Props {
  edit: Edit;
  at: Path;
  chart: boolean;
  beside: boolean;
  // found is what the path has.
  found: Found | undefined;
}

// Settings are those of the tool that renders a source: the one that it names, else the one that its files are for.
export function Settings({ edit, at, chart, beside, found }: Props) {
  const { draft, onDraft, off } = edit;
  const explicit = toolOf(draft, at);
  // A tool that was chosen stays on the page when its last setting is removed.
  const [chosen, setChosen] = useState<Tool>();
  const detected = chart ? "helm" : detectedBy(found);
  const tool = explicit ?? chosen ?? detected;
  // An agent without plugins runs none; a draft that names one can be corrected.
  const offered = tools.filter(
    (t) => t !== "plugin" || beside || tool === "plugin" || (found?.plugins ?? []).length > 0,
  );
  const { first, more } = toolFields[tool ?? "directory"];
  const base: Path = [...at, tool ?? "directory"];
  const offers = offersOf(found);
  return (
    <>
      {!chart && (
        <Field label="Tool" hint={detected ? undefined : "Default: detected from the files of the path"}>
          <Select
            value={explicit ?? chosen ?? ""}
            disabled={off}
            onChange={(e) => {
              const next = tools.find((t) => t === e.target.value);
              setChosen(next);
              onDraft(setTool(draft, at, next));
            }}
          >
            <option value="">{detected ? `Detected: ${words[detected]}` : "Detected"}</option>
            {offered.map((t) => (
              <option key={t} value={t}>
                {words[t]}
              </option>
            ))}
          </Select>
        </Field>
      )}
      {tool && (
        <Fold
          key={tool}
          title={`${words[tool]} settings`}
          set={countSet(draft, base, [...first, ...more])}
          wrong={anyWrong(edit, base, [...first, ...more])}
        >
          {tool === "plugin" && <Announced found={found} />}
          <Fields edit={edit} base={base} fields={first} offers={offers} />
          {more.length > 0 && (
            <Fold title="More" set={countSet(draft, base, more)} wrong={anyWrong(edit, base, more)}>
              <Fields edit={edit} base={base} fields={more} offers={offers} />
            </Fold>
          )}
        </Fold>
      )}
    </>
  );
}
