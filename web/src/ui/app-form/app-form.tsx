import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { labelFields } from "@/lib/app-fields";
import { projectsQuery } from "@/lib/browse";
import { addSource, change, type Draft, dropSource, get, has, type Path, sourcePaths } from "@/lib/draft";
import { isBeside } from "@/lib/engine";
import { linkLabels } from "@/lib/labels";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Field, Input, Select } from "@/ui/field";
import { Fold } from "@/ui/fold";
import { Suggest } from "@/ui/suggest";
import { Destination } from "./destination";
import { countSet, type Edit, Fields } from "./fields";
import { Policy } from "./policy";
import { SourceForm } from "./source";

interface Props {
  // agent is the one that deploys it.
  agent: Schemas["Agent"] | undefined;
  // agentId is its id, also where the agent itself cannot be seen.
  agentId: string;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  problems: { field: string; message: string; level?: string }[];
  // created: the name cannot change any more.
  created?: boolean;
  // place is where it is made, for one that is new.
  place?: ReactNode;
}

// AppForm is the form of an Application, over the text of its draft.
export function AppForm({ agent, agentId, draft, onDraft, problems, created, place }: Props) {
  const off = Boolean(draft.problem);
  const at = (field: string) => field.replace(/\[(\d+)\]/g, ".$1");
  const wrong = (path: Path) => problems.find((p) => p.level !== "warning" && at(p.field) === path.join("."))?.message;
  const edit: Edit = { draft, onDraft, wrong, off };
  const sources = sourcePaths(draft);
  const beside = isBeside(agent);
  return (
    <div className="space-y-4">
      {off && (
        <p role="alert" className="rounded-md bg-warn-soft px-3 py-2">
          The YAML has a mistake in line {draft.problem?.line}: fix it to return to the form.
        </p>
      )}
      <Basics agent={agentId} edit={edit} created={created} place={place} />
      {has(draft, ["spec", "sourceHydrator"]) ? (
        <p className="rounded-md border p-3 text-muted">Its source is a hydrator: edit it in the YAML.</p>
      ) : (
        <>
          {sources.map((path, i) => (
            <SourceForm
              key={path.join(".")}
              agent={agentId}
              beside={beside}
              edit={edit}
              at={path}
              {...(has(draft, ["spec", "sources"]) && {
                number: i + 1,
                onRemove: () => onDraft(dropSource(draft, i)),
              })}
            />
          ))}
          <Button small disabled={off} onClick={() => onDraft(addSource(draft))}>
            <Plus size={13} aria-hidden /> Add source
          </Button>
        </>
      )}
      <Destination agent={agentId} edit={edit} />
      <Policy {...edit} />
      <Fold title="Labels and annotations" set={countSet(draft, ["metadata"], labelFields)}>
        <Fields edit={edit} base={["metadata"]} fields={labelFields} />
      </Fold>
    </div>
  );
}

function Basics({
  agent,
  edit,
  created,
  place,
}: {
  agent: string;
  edit: Edit;
  created: boolean | undefined;
  place: ReactNode;
}) {
  const { draft, onDraft, wrong, off } = edit;
  const noProjects = useMissing("argoproject_view");
  const projects = useQuery(projectsQuery(agent, !noProjects));
  const name: Path = ["metadata", "name"];
  const project: Path = ["spec", "project"];
  const link = (of: "service" | "environment", label: string) => {
    const id = get(draft, linkLabels[of]);
    return (
      <Field
        label={label}
        error={
          id.length > 63
            ? "A label holds 63 characters: link it on its page after it is created."
            : wrong(linkLabels[of])
        }
        hint={of === "service" ? "Optional: the service that it runs" : "Default: that of the cluster"}
      >
        <Suggest
          of={of}
          value={id}
          disabled={off}
          placeholder={of === "service" ? "org.acme.checkout" : "org.acme.production"}
          onChange={(text) => onDraft(change(draft, linkLabels[of], text.trim() || undefined))}
        />
      </Field>
    );
  };
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {!created && (
        <Field label="Name" error={wrong(name)}>
          <Input
            autoFocus
            disabled={off}
            spellCheck={false}
            autoComplete="off"
            value={get(draft, name)}
            onChange={(e) => onDraft(change(draft, name, e.target.value))}
          />
        </Field>
      )}
      {place}
      <Field
        label="Argo project"
        error={wrong(project)}
        hint={noProjects ? `Only default is available. ${noProjects}` : "Controls what may be deployed where."}
      >
        <Select
          value={get(draft, project)}
          disabled={off}
          onChange={(e) => onDraft(change(draft, project, e.target.value))}
        >
          {[...new Set(["default", ...(projects.data?.items ?? []).map((p) => p.name), get(draft, project)])]
            .filter(Boolean)
            .map((p) => (
              <option key={p}>{p}</option>
            ))}
        </Select>
      </Field>
      {/* On the page of an application, a card of its own links it. */}
      {!created && link("service", "Service")}
      {!created && link("environment", "Environment")}
    </div>
  );
}
