import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { useAll } from "@/lib/entity";
import { organizations, projects } from "@/lib/kinds";
import { described, named, updated } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Field, Select } from "@/ui/field";
import { useMeta } from "@/ui/meta";
import type { Column } from "@/ui/table";

type Project = Schemas["Project"];

const columns: Column<Project>[] = [
  named(),
  { key: "organization", title: "Organization", width: "minmax(8rem,1fr)", cell: (p) => p.organization },
  described(),
  updated(),
];

function Form(form: FormProps<Project>) {
  const { value } = form;
  const meta = useMeta(value);
  const [organization, setOrganization] = useState(value?.organization ?? "");
  const all = useAll(organizations);
  return (
    <EntityForm of={form} kind={projects} meta={meta} metaLast scoped={false} body={() => ({ organization })}>
      {(wrong) => (
        <>
          <Field label="Organization" hint="It never changes." error={wrong("organization")}>
            <Select
              required
              disabled={Boolean(value)}
              value={organization}
              onChange={(e) => setOrganization(e.target.value)}
            >
              <option value="">Choose one</option>
              {value && <option value={organization}>{organization}</option>}
              {!value &&
                all.map((o) => (
                  <option key={o.id} value={o.id}>
                    {o.displayName || o.name}
                  </option>
                ))}
            </Select>
          </Field>
        </>
      )}
    </EntityForm>
  );
}

export function SlipwayProjects() {
  return (
    <Entities
      kind={projects}
      columns={columns}
      Form={Form}
      warn={() => <p>The project is deleted with its roles and bindings. Nothing is deleted from any cluster.</p>}
    >
      A project contains the applications of a team. It belongs to an organization:{" "}
      <Link to="/projects" search={{ tab: "organizations", open: "new" }} className="text-accent underline">
        make one first
      </Link>
      .
    </Entities>
  );
}
