import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useId } from "react";
import { pathsQuery, refsQuery, registered, repositoriesQuery } from "@/lib/browse";
import { change, type Draft, get, has, isChart, type Path } from "@/lib/draft";
import { useMissing } from "@/lib/session";
import { useSettled } from "@/lib/settled";
import { IconButton } from "@/ui/button";
import { Field, Input, Select } from "@/ui/field";
import { Fold } from "@/ui/fold";
import { textOf } from "@/ui/states";
import type { Edit } from "./fields";
import { PathPicker } from "./path-picker";
import { Settings } from "./tools";

type Kind = "directory" | "chart" | "reference";

const kindOf = (draft: Draft, at: Path): Kind =>
  isChart(draft, at) ? "chart" : has(draft, [...at, "ref"]) && !has(draft, [...at, "path"]) ? "reference" : "directory";

// turn makes a source one of another kind, and keeps the rest of it.
export function turn(draft: Draft, at: Path, kind: Kind): Draft {
  const path = change(draft, [...at, "path"], kind === "directory" ? get(draft, [...at, "path"]) : undefined);
  const chart = change(path, [...at, "chart"], kind === "chart" ? get(path, [...at, "chart"]) : undefined);
  const newest = kind === "chart" && get(chart, [...at, "targetRevision"]) === "HEAD";
  const version = newest ? change(chart, [...at, "targetRevision"], "*") : chart;
  const head =
    kind !== "chart" && get(version, [...at, "targetRevision"]) === "*"
      ? change(version, [...at, "targetRevision"], "HEAD")
      : version;
  return kind === "reference" && get(head, [...at, "ref"]) === "" ? change(head, [...at, "ref"], "values") : head;
}

interface Props {
  agent: string;
  beside: boolean;
  edit: Edit;
  at: Path;
  // number of the source among several; undefined for the only one.
  number?: number | undefined;
  onRemove?: () => void;
}

// SourceForm is one source: the repository, what of it at which revision, and the settings of its tool.
export function SourceForm({ agent, beside, edit, at, number, onRemove }: Props) {
  const { draft, onDraft, wrong, off } = edit;
  const ids = useId();
  const read = (name: string) => get(draft, [...at, name]);
  const [repoURL, revision, argoProject] = [read("repoURL"), read("targetRevision"), get(draft, ["spec", "project"])];
  const kind = kindOf(draft, at);
  const noRepositories = useMissing("repository_view");
  const repositories = useQuery(repositoriesQuery(agent, !noRepositories));
  const known = registered(repositories.data?.items);
  // What is written narrows a list that is longer than an answer.
  const narrowed = useSettled(kind === "chart" ? read("chart") : revision, 300);
  const ask = { agent, repoURL, argoProject, chart: kind === "chart" };
  const all = useQuery(refsQuery({ ...ask, search: "" }, !noRepositories));
  const more = useQuery(
    refsQuery({ ...ask, search: narrowed }, !noRepositories && all.data?.truncated === true && narrowed !== ""),
  );
  const charts = [...(all.data?.charts ?? []), ...(more.data?.charts ?? [])];
  const chart = charts.find((c) => c.name === read("chart"));
  const refs = [all, more].flatMap(({ data }) => [...(data?.branches ?? []), ...(data?.tags ?? [])]);
  const versions = chart?.versions ?? refs.map((r) => r.name);
  const plugin = useSettled(get(draft, [...at, "plugin", "name"]), 500);
  const here = useQuery(
    pathsQuery(agent, repoURL, revision, read("path"), argoProject, kind === "directory" && all.isSuccess, plugin),
  );
  const field = (name: string) => ({
    value: read(name),
    disabled: off,
    spellCheck: false,
    autoComplete: "off",
    onChange: (e: { target: { value: string } }) => {
      const optional = ["ref", "name", "tagPrefix"].includes(name) && !(name === "ref" && kind === "reference");
      onDraft(change(draft, [...at, name], e.target.value.trim() || (optional ? undefined : "")));
    },
  });
  const setRepository = (url: string) => {
    const next = change(draft, [...at, "repoURL"], url.trim());
    const type = known.find((r) => r.url === url)?.type;
    // A Helm repository has charts alone, and a Git repository none.
    const other =
      type === "helm" && kind === "directory" ? "chart" : type === "git" && kind === "chart" ? "directory" : kind;
    onDraft(other === kind ? next : turn(next, at, other));
  };
  const several = number !== undefined;
  const others = ["tagPrefix", ...(several ? [] : ["ref", "name"])];
  const names = (
    <>
      <Field
        label="Reference name"
        error={wrong([...at, "ref"])}
        hint={`Other sources reach its files as $${read("ref") || "name"}/`}
      >
        <Input {...field("ref")} />
      </Field>
      <Field label="Source name" error={wrong([...at, "name"])} hint="Addresses it in commands">
        <Input {...field("name")} />
      </Field>
    </>
  );
  return (
    <fieldset className="space-y-3 rounded-md border p-3" disabled={off}>
      <legend className="flex items-center gap-1 px-1 font-medium">
        {several ? `Source ${number}` : "Source"}
        {onRemove && (
          <IconButton small label={`Remove source ${number}`} onClick={onRemove}>
            <Trash2 size={14} aria-hidden />
          </IconButton>
        )}
      </legend>
      <div className="grid gap-3 sm:grid-cols-[1fr_11rem]">
        <Field
          label="Repository"
          error={wrong([...at, "repoURL"])}
          hint={
            noRepositories
              ? `It cannot be browsed here. ${noRepositories}`
              : all.error
                ? textOf(all.error)
                : all.isFetching
                  ? "Reading it"
                  : "Git, a Helm repository or an OCI registry"
          }
        >
          <Input
            {...field("repoURL")}
            list={`${ids}-repositories`}
            placeholder="https://git.example.org/shop.git"
            onChange={(e) => setRepository(e.target.value)}
          />
        </Field>
        <Field label="Deploys">
          <Select value={kind} disabled={off} onChange={(e) => onDraft(turn(draft, at, e.target.value as Kind))}>
            <option value="directory">A directory</option>
            <option value="chart">A chart</option>
            {(several || kind === "reference") && <option value="reference">Nothing: files only</option>}
          </Select>
        </Field>
      </div>
      <Options id={`${ids}-repositories`} of={known.map((r) => r.url)} />
      <div className="grid gap-3 sm:grid-cols-2">
        {kind === "chart" && (
          <Field label="Chart" error={wrong([...at, "chart"])} hint={chart?.description}>
            <Input {...field("chart")} list={`${ids}-charts`} />
          </Field>
        )}
        <Field
          label={kind === "chart" ? "Version" : "Revision"}
          error={wrong([...at, "targetRevision"])}
          hint={
            kind === "chart"
              ? "A version, or a range such as 1.x"
              : `A branch, tag or commit${all.data?.default ? `; HEAD is ${all.data.default} now` : ""}`
          }
        >
          <Input {...field("targetRevision")} list={`${ids}-versions`} />
        </Field>
        {several && names}
      </div>
      <Options id={`${ids}-charts`} of={charts.map((c) => c.name)} />
      <Options id={`${ids}-versions`} of={versions} />
      {kind === "directory" && (
        <PathPicker
          {...{ agent, repoURL, revision, argoProject }}
          ready={all.isSuccess}
          path={read("path")}
          error={wrong([...at, "path"])}
          onPath={(path) => onDraft(change(draft, [...at, "path"], path))}
        />
      )}
      {kind !== "reference" && (
        <Settings edit={edit} at={at} chart={kind === "chart"} beside={beside} found={here.data} />
      )}
      <Fold title="Names and tags" set={others.filter((name) => read(name) !== "").length}>
        <div className="grid gap-3 sm:grid-cols-2">
          {!several && names}
          <Field label="Tag prefix" error={wrong([...at, "tagPrefix"])} hint="Only such tags count for a range">
            <Input {...field("tagPrefix")} placeholder="web-" />
          </Field>
        </div>
      </Fold>
    </fieldset>
  );
}

function Options({ id, of }: { id: string; of: string[] }) {
  return (
    <datalist id={id}>
      {[...new Set(of)].slice(0, 300).map((text) => (
        <option key={text} value={text} />
      ))}
    </datalist>
  );
}
