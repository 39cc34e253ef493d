import { Plus, Trash2 } from "lucide-react";
import { lazy, Suspense } from "react";
import { useApp } from "@/lib/application";
import { repository, short } from "@/lib/format";
import { linesOf } from "@/lib/form-text";
import { Button, IconButton } from "@/ui/button";
import { Field, Input, Textarea } from "@/ui/field";
import { Card, Facts } from "@/ui/page";
import { Empty, Loading } from "@/ui/states";
import { useDraft } from "./draft";
import { EditBar } from "./edit-bar";
import { type Resource, revisionsOf, type Source, sourcesOf } from "./resource";
import { useDetail } from "./use";

const Editor = lazy(() => import("@/ui/code").then((m) => ({ default: m.Code })));

type Change = (change: (source: Source) => void) => void;

// ApplicationParameters are what the sources are rendered with, to be read and changed.
export default function ApplicationParameters() {
  const app = useApp();
  const { resource } = useDetail(app);
  const { base, draft, set, reset } = useDraft(resource);
  const sources = sourcesOf(draft.spec);
  const revisions = revisionsOf(resource.status?.sync);
  const images = resource.status?.summary?.images ?? [];
  if (sources.length === 0) {
    return <Empty title="It has no source">Set one in its settings.</Empty>;
  }
  return (
    <div className="space-y-3">
      {sources.map((source, i) => (
        <SourceCard
          key={i}
          title={sources.length > 1 ? `Source ${i + 1}` : "Source"}
          source={source}
          type={typeOf(resource, source, i, sources.length)}
          revision={revisions[i] ?? ""}
          change={(change) =>
            set((next) => {
              const one = sourcesOf(next.spec)[i];
              if (one) {
                change(one);
              }
            })
          }
        />
      ))}
      <Card title="Images that run">
        {images.length === 0 ? (
          <p className="text-muted">None.</p>
        ) : (
          <ul className="max-h-64 overflow-auto font-mono text-sm" tabIndex={0} aria-label="Images that run">
            {images.map((image) => (
              <li key={image} className="break-all">
                {image}
              </li>
            ))}
          </ul>
        )}
      </Card>
      <EditBar app={app} draft={draft} base={base} onReset={reset} />
    </div>
  );
}

// typeOf is what renders a source: as the agent has found, else as the source says.
function typeOf(resource: Resource, source: Source, i: number, all: number): string {
  const found = all > 1 ? resource.status?.sourceTypes?.[i] : resource.status?.sourceType;
  return (
    found ||
    (source.chart || source.helm ? "Helm" : source.kustomize ? "Kustomize" : source.ref ? "Reference" : "Directory")
  );
}

function SourceCard({
  title,
  source,
  type,
  revision,
  change,
}: {
  title: string;
  source: Source;
  type: string;
  revision: string;
  change: Change;
}) {
  return (
    <Card title={`${title}: ${type}`}>
      <div className="space-y-4">
        <Facts
          facts={[
            ["Repository", repository(source.repoURL)],
            [
              source.chart ? "Chart" : "Path",
              source.chart ?? source.path ?? (source.ref ? `values as $${source.ref}` : "."),
            ],
            [
              "Revision",
              `${source.targetRevision || "HEAD"}${revision ? `, compared last at ${short(revision)}` : ""}`,
            ],
          ]}
        />
        {type === "Helm" && <Helm source={source} change={change} />}
        {type === "Kustomize" && <Kustomize source={source} change={change} />}
        {type === "Directory" && <p className="text-muted">Its files are applied unchanged: change them in Git.</p>}
      </div>
    </Card>
  );
}

function Helm({ source, change }: { source: Source; change: Change }) {
  const helm = source.helm ?? {};
  const set = (some: Partial<NonNullable<Source["helm"]>>) =>
    change((s) => {
      s.helm = { ...s.helm, ...some };
    });
  const parameters = helm.parameters ?? [];
  const edit = (i: number, some: Partial<(typeof parameters)[number]>) =>
    set({ parameters: parameters.map((p, n) => (n === i ? { ...p, ...some } : p)) });
  return (
    <div className="space-y-4">
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Release name" hint="Default: the name of the application">
          <Input value={helm.releaseName ?? ""} onChange={(e) => set({ releaseName: e.target.value || undefined })} />
        </Field>
        <Field label="Values files" hint="One per line, relative to the chart; $name/path refers to another source">
          <Textarea
            value={(helm.valueFiles ?? []).join("\n")}
            className="font-mono text-sm"
            spellCheck={false}
            onChange={(e) => set({ valueFiles: e.target.value === "" ? undefined : e.target.value.split("\n") })}
          />
        </Field>
      </div>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Parameters</legend>
        <ul className="space-y-1.5">
          {parameters.map((p, i) => (
            <li key={i} className="flex items-center gap-2">
              <Input
                aria-label={`Name of parameter ${i + 1}`}
                className="font-mono text-sm"
                value={p.name}
                onChange={(e) => edit(i, { name: e.target.value })}
              />
              <Input
                aria-label={`Value of ${p.name || `parameter ${i + 1}`}`}
                className="font-mono text-sm"
                value={p.value ?? ""}
                onChange={(e) => edit(i, { value: e.target.value })}
              />
              <IconButton
                small
                label={`Remove ${p.name || "the parameter"}`}
                onClick={() => set({ parameters: parameters.filter((_, n) => n !== i) })}
              >
                <Trash2 size={14} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
        <Button small className="mt-1.5" onClick={() => set({ parameters: [...parameters, { name: "", value: "" }] })}>
          <Plus size={14} aria-hidden />
          Add a parameter
        </Button>
      </fieldset>
      {helm.valuesObject === undefined ? (
        <div>
          <h3 className="mb-1 text-sm font-medium">Values</h3>
          <Suspense fallback={<Loading rows={4} />}>
            <Editor
              label="Values"
              value={helm.values ?? ""}
              className="h-56"
              onChange={(values) => values !== (helm.values ?? "") && set({ values: values || undefined })}
            />
          </Suspense>
        </div>
      ) : (
        <p className="text-muted">It has values as an object (valuesObject): change these in the settings, as YAML.</p>
      )}
    </div>
  );
}

function Kustomize({ source, change }: { source: Source; change: Change }) {
  const kustomize = source.kustomize ?? {};
  const set = (some: Partial<NonNullable<Source["kustomize"]>>) =>
    change((s) => {
      s.kustomize = { ...s.kustomize, ...some };
    });
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field
        label="Images"
        hint="One per line: name=new-name:tag, name:tag or name@digest. Overrides the kustomization."
      >
        <Textarea
          value={(kustomize.images ?? []).join("\n")}
          className="font-mono text-sm"
          spellCheck={false}
          onChange={(e) => set({ images: e.target.value === "" ? undefined : e.target.value.split("\n") })}
          onBlur={(e) => kustomize.images && set({ images: linesOf(e.target.value) })}
        />
      </Field>
      <div className="grid content-start gap-3">
        <Field label="Prefix of names">
          <Input
            value={kustomize.namePrefix ?? ""}
            onChange={(e) => set({ namePrefix: e.target.value || undefined })}
          />
        </Field>
        <Field label="Suffix of names">
          <Input
            value={kustomize.nameSuffix ?? ""}
            onChange={(e) => set({ nameSuffix: e.target.value || undefined })}
          />
        </Field>
      </div>
      {(kustomize.replicas?.length ?? 0) > 0 && (
        <Facts facts={(kustomize.replicas ?? []).map((r) => [`Replicas of ${r.name}`, String(r.count)])} />
      )}
    </div>
  );
}
