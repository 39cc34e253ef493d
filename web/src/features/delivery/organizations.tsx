import type { Schemas } from "@/api/client";
import { organizations } from "@/lib/kinds";
import { described, named, updated } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { useMeta } from "@/ui/meta";

type Organization = Schemas["Organization"];

function Form(form: FormProps<Organization>) {
  return <EntityForm of={form} kind={organizations} meta={useMeta(form.value)} scoped={false} />;
}

export function Organizations() {
  return (
    <Entities
      kind={organizations}
      columns={[named(), described(), updated()]}
      Form={Form}
      warn={() => <p>The organization is deleted with its roles and bindings. Nothing is deleted from any cluster.</p>}
    >
      An organization contains projects. Permissions on it apply to all of them.
    </Entities>
  );
}
