import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import type { Schemas } from "@/api/client";
import { isBeside } from "@/lib/engine";
import { useMissing } from "@/lib/session";
import { Checkbox, Field, Input, Select } from "@/ui/field";
import { textOf } from "@/ui/states";
import { change, type Draft, get, isChart, type Path, sourcePath } from "./draft";
import { PathPicker } from "./path-picker";
import { projectsQuery, refsQuery, repositoriesQuery } from "./queries";
import { type PartProps, Destination, Policy } from "./draft-parts";

interface Props {
  agents: Schemas["Agent"][];
  agent: string;
  onAgent: (agent: string) => void;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  problems: { field: string; message: string; level: string }[];
}

// DraftForm is what most applications say, as a form over the text of the draft.
export function DraftForm({ agents, agent, onAgent, draft, onDraft, problems }: Props) {
  const off = Boolean(draft.problem);
  const set = (path: Path, value: unknown) => onDraft(change(draft, path, value));
  const text = (path: Path) => ({ value: get(draft, path), disabled: off, spellCheck: false, autoComplete: "off" });
  const wrong = (path: Path) => problems.find((p) => p.level === "error" && p.field === path.join("."))?.message;
  const noProjects = useMissing("argoproject_view");
  const projects = useQuery(projectsQuery(agent, !noProjects));
  const name: Path = ["metadata", "name"];
  const project: Path = ["spec", "project"];
  return (
    <div className="space-y-4">
      {off && (
        <p role="alert" className="rounded-md bg-warn-soft px-3 py-2">
          The YAML has a mistake in line {draft.problem?.line}: fix it to return to the form.
        </p>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Name" error={wrong(name)}>
          <Input {...text(name)} autoFocus onChange={(e) => set(name, e.target.value)} />
        </Field>
        <Field label="Agent" hint="Runs in a cluster, and keeps the application in sync with Git.">
          <Select value={agent} onChange={(e) => onAgent(e.target.value)}>
            {agents.map((a) => (
              <option key={a.id} value={a.id}>
                {a.displayName || a.name} ({a.status?.state ?? "Never"})
              </option>
            ))}
          </Select>
        </Field>
        <Field
          label="Argo project"
          error={wrong(project)}
          hint={noProjects ? `Only default is available. ${noProjects}` : "Controls what may be deployed where."}
        >
          <Select value={get(draft, project)} disabled={off} onChange={(e) => set(project, e.target.value)}>
            {[...new Set(["default", ...(projects.data?.items ?? []).map((p) => p.name), get(draft, project)])]
              .filter(Boolean)
              .map((p) => (
                <option key={p}>{p}</option>
              ))}
          </Select>
        </Field>
      </div>
      <Source
        agent={agent}
        beside={isBeside(agents.find((a) => a.id === agent))}
        draft={draft}
        onDraft={onDraft}
        text={text}
        wrong={wrong}
        off={off}
      />
      <Destination agent={agent} draft={draft} onDraft={onDraft} text={text} wrong={wrong} off={off} />
      <Policy draft={draft} onDraft={onDraft} off={off} />
    </div>
  );
}

function Source({ agent, beside, draft, onDraft, text, wrong, off }: PartProps & { beside: boolean }) {
  const at = sourcePath(draft);
  const url: Path = [...at, "repoURL"];
  const revision: Path = [...at, "targetRevision"];
  const repoURL = get(draft, url);
  const argoProject = get(draft, ["spec", "project"]);
  const noRepositories = useMissing("repository_view");
  const refs = useQuery(refsQuery(agent, repoURL, argoProject, !noRepositories));
  const repositories = useQuery(repositoriesQuery(agent, !noRepositories));
  const list = useId();
  const known = useId();
  const chart = isChart(draft);
  const charts = refs.data?.charts ?? [];
  const offered = chart
    ? (charts.find((c) => c.name === get(draft, [...at, "chart"]))?.versions ?? [])
    : [...(refs.data?.branches ?? []), ...(refs.data?.tags ?? [])].map((r) => r.name);
  const setURL = (value: string) => onDraft(change(draft, url, value));
  const toggleChart = (on: boolean) =>
    onDraft(
      on
        ? change(change(draft, [...at, "path"], undefined), [...at, "chart"], "")
        : change(change(draft, [...at, "chart"], undefined), [...at, "path"], ""),
    );
  return (
    <fieldset className="space-y-3 rounded-md border p-3" disabled={off}>
      <legend className="px-1 font-medium">Source</legend>
      <Field
        label="Repository"
        error={wrong(url)}
        hint={
          noRepositories
            ? `It cannot be browsed here. ${noRepositories}`
            : refs.error
              ? textOf(refs.error)
              : refs.isFetching
                ? "Reading it"
                : beside
                  ? "Git, a Helm repository or an OCI registry"
                  : "A Git repository"
        }
      >
        <Input
          {...text(url)}
          list={known}
          placeholder="https://git.example.org/shop.git"
          onChange={(e) => setURL(e.target.value.trim())}
        />
      </Field>
      <datalist id={known}>
        {(repositories.data?.items ?? []).map((r) => (
          <option
            key={`${r.namespace}/${r.name}`}
            value={(r.resource as { fields?: { url?: string } } | undefined)?.fields?.url ?? ""}
          />
        ))}
      </datalist>
      {/* Slipway's own engine deploys no charts from registries; a draft that names one can be corrected. */}
      {(beside || chart) && (
        <Checkbox
          label="Chart of a Helm repository or registry"
          checked={chart}
          onChange={(e) => toggleChart(e.target.checked)}
        />
      )}
      {chart && (
        <Field label="Chart" error={wrong([...at, "chart"])}>
          <Input
            {...text([...at, "chart"])}
            list={`${list}-charts`}
            onChange={(e) => onDraft(change(draft, [...at, "chart"], e.target.value))}
          />
        </Field>
      )}
      <datalist id={`${list}-charts`}>
        {charts.map((c) => (
          <option key={c.name} value={c.name} />
        ))}
      </datalist>
      <Field
        label={chart ? "Version" : "Revision"}
        error={wrong(revision)}
        hint={
          chart
            ? "A version, or a range such as 1.x"
            : `A branch, tag or commit${refs.data?.default ? `; HEAD is ${refs.data.default} now` : ""}`
        }
      >
        <Input {...text(revision)} list={list} onChange={(e) => onDraft(change(draft, revision, e.target.value))} />
      </Field>
      <datalist id={list}>
        {offered.slice(0, 200).map((r) => (
          <option key={r} value={r} />
        ))}
      </datalist>
      {!chart && (
        <PathPicker
          agent={agent}
          repoURL={repoURL}
          revision={get(draft, revision)}
          argoProject={argoProject}
          ready={refs.isSuccess}
          path={get(draft, [...at, "path"])}
          error={wrong([...at, "path"])}
          onPath={(path) => onDraft(change(draft, [...at, "path"], path))}
        />
      )}
    </fieldset>
  );
}
