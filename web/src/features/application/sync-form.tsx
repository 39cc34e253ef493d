import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { cn } from "@/lib/cn";
import { plural, repository } from "@/lib/format";
import { Button } from "@/ui/button";
import { Checkbox, Field, Input, Textarea } from "@/ui/field";
import { Badge } from "@/ui/status";
import { Reason } from "./dialog-parts";
import type { Choice } from "./plan";
import { keyOf, nameOf, type OwnObject, placeOf, type Resource, sourcesOf } from "./resource";

interface Props {
  resource: Resource;
  choice: Choice;
  onChange: (choice: Choice) => void;
}

const flags: {
  name: "prune" | "dryRun" | "force" | "replace" | "applyOnly" | "serverSide";
  label: string;
  hint: string;
}[] = [
  { name: "prune", label: "Prune", hint: "Delete what Git no longer has" },
  { name: "dryRun", label: "Dry run", hint: "The API server checks it; nothing is written" },
  { name: "applyOnly", label: "Apply only", hint: "Run no hooks" },
  { name: "force", label: "Force", hint: "Recreate objects that cannot be changed in place" },
  { name: "replace", label: "Replace", hint: "Replace objects instead of merging" },
  { name: "serverSide", label: "Server side", hint: "Use server-side apply, even if the application does not" },
];

// SyncForm is what can be chosen for one sync.
export function SyncForm({ resource, choice, onChange }: Props) {
  const set = (change: Partial<Choice>) => onChange({ ...choice, ...change });
  const [more, setMore] = useState(false);
  const sources = sourcesOf(resource.spec);
  return (
    <div className="space-y-4">
      <div className="grid gap-3 sm:grid-cols-2">
        {sources.map((source, i) => (
          <Field
            key={i}
            label={sources.length > 1 ? `Revision of source ${i + 1}` : "Revision"}
            hint={`${repository(source.repoURL)} ${source.chart ?? source.path ?? ""}`}
          >
            <Input
              value={choice.revisions[i] ?? ""}
              placeholder={source.targetRevision || "HEAD"}
              spellCheck={false}
              onChange={(e) =>
                set({ revisions: sources.map((_, n) => (n === i ? e.target.value : (choice.revisions[n] ?? ""))) })
              }
            />
          </Field>
        ))}
      </div>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Options</legend>
        <div className="grid gap-x-4 gap-y-2 sm:grid-cols-3">
          {flags.map((f) => (
            <Checkbox
              key={f.name}
              label={f.label}
              hint={f.hint}
              checked={choice[f.name]}
              onChange={(e) => set({ [f.name]: e.target.checked })}
            />
          ))}
        </div>
      </fieldset>
      <Picker
        own={(resource.status?.resources ?? []).filter((o) => !o.hook)}
        chosen={choice.objects}
        onChange={(objects) => set({ objects })}
      />
      <Button small look="ghost" className="-ml-2" aria-expanded={more} onClick={() => setMore(!more)}>
        <ChevronRight size={14} aria-hidden className={cn("transition-transform", more && "rotate-90")} />
        {more ? "Fewer options" : "Sync options and retry"}
      </Button>
      {more && <More resource={resource} choice={choice} set={set} />}
      <Reason value={choice.reason} onChange={(reason) => set({ reason })} />
    </div>
  );
}

function More({ resource, choice, set }: { resource: Resource; choice: Choice; set: (c: Partial<Choice>) => void }) {
  const own = (resource.spec.syncPolicy?.syncOptions ?? []).join("\n");
  const retry = choice.retry ?? { limit: "", duration: "", factor: "", maxDuration: "" };
  const field = (name: keyof typeof retry, label: string, placeholder: string) => (
    <Field label={label}>
      <Input
        value={retry[name]}
        placeholder={placeholder}
        onChange={(e) => set({ retry: { ...retry, [name]: e.target.value } })}
      />
    </Field>
  );
  return (
    <div className="space-y-3">
      <Field label="Sync options" hint="One per line, instead of the application's own, such as PruneLast=true.">
        <Textarea
          value={choice.options ?? own}
          className="font-mono text-sm"
          spellCheck={false}
          onChange={(e) => set({ options: e.target.value === own ? undefined : e.target.value })}
        />
      </Field>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {field("limit", "Retries", "0")}
        {field("duration", "First wait", "5s")}
        {field("factor", "Times", "2")}
        {field("maxDuration", "Longest wait", "3m")}
      </div>
    </div>
  );
}

const most = 100; // objects that are listed; a search finds the others

function Picker({
  own,
  chosen,
  onChange,
}: {
  own: OwnObject[];
  chosen: Choice["objects"];
  onChange: (objects: Choice["objects"]) => void;
}) {
  const [search, setSearch] = useState("");
  const [some, setSome] = useState(chosen.length > 0);
  const keys = new Set(chosen.map(keyOf));
  const out = own.filter((o) => o.status === "OutOfSync");
  const found = own.filter((o) => placeOf(o).toLowerCase().includes(search.toLowerCase()));
  const toggle = (o: OwnObject) =>
    onChange(keys.has(keyOf(o)) ? chosen.filter((c) => keyOf(c) !== keyOf(o)) : [...chosen, nameOf(o)]);
  const radio = (value: boolean, label: string) => (
    <label className="flex items-center gap-2">
      <input
        type="radio"
        name="which"
        checked={some === value}
        className="accent-accent"
        onChange={() => {
          setSome(value);
          onChange(value ? out.map(nameOf) : []);
        }}
      />
      {label}
    </label>
  );
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm font-medium">Objects</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {radio(
          false,
          own.length === 1 ? "The only object, with hooks" : `All ${plural(own.length, "object")}, with hooks`,
        )}
        {radio(true, "Only some, without hooks")}
      </div>
      {some && (
        <div className="rounded-md border">
          <div className="flex flex-wrap items-center gap-2 border-b p-2">
            <Input
              aria-label="Search objects"
              placeholder="Search"
              value={search}
              className="h-7 flex-1"
              onChange={(e) => setSearch(e.target.value)}
            />
            <Button small onClick={() => onChange(out.map(nameOf))}>
              Out of sync ({out.length})
            </Button>
            <Button small onClick={() => onChange([])}>
              None
            </Button>
          </div>
          <ul className="max-h-56 overflow-auto p-2" tabIndex={0} aria-label="Objects to choose from">
            {found.slice(0, most).map((o) => (
              <li key={keyOf(o)}>
                <Checkbox
                  checked={keys.has(keyOf(o))}
                  onChange={() => toggle(o)}
                  label={
                    <span className="break-all">
                      {placeOf(o)} {o.status === "OutOfSync" && <Badge tone="warn">Out of sync</Badge>}
                    </span>
                  }
                />
              </li>
            ))}
            {found.length > most && (
              <li className="text-sm text-muted">and {found.length - most} more: search for some of them</li>
            )}
          </ul>
          <p className="border-t px-2 py-1 text-sm text-muted" role="status">
            {chosen.length > 0 ? `${plural(chosen.length, "object")} chosen` : "None selected: all are synced"}
          </p>
        </div>
      )}
    </fieldset>
  );
}
