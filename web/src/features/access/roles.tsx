import { useState } from "react";
import { Chips } from "@/ui/chips";
import { named, scoped } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { useMeta } from "@/ui/meta";
import { PermissionMatrix, usePermissions } from "@/ui/permissions";
import { Badge } from "@/ui/status";
import type { Column } from "@/ui/table";
import { builtIn, type Role, roles } from "./kinds";

const roleColumns: Column<Role>[] = [
  named(),
  scoped(),
  {
    key: "permissions",
    title: "Allows",
    width: "minmax(14rem,3fr)",
    cell: (r) => <span className="text-muted">{(r.permissions ?? []).join(", ")}</span>,
  },
  { key: "builtIn", title: "", width: "7rem", cell: (r) => r.builtIn && <Badge>Built in</Badge> },
];

function RoleForm(form: FormProps<Role>) {
  const { value, readOnly } = form;
  const meta = useMeta(value);
  const [permissions, setPermissions] = useState<string[]>(value?.permissions ?? []);
  const known = usePermissions();
  const body = () => ({ permissions });
  return (
    <EntityForm
      of={form}
      kind={roles}
      meta={meta}
      looks={value?.builtIn}
      why={permissions.length === 0 ? "Choose at least one permission." : undefined}
      body={body}
    >
      {(wrong) => (
        <>
          {value?.builtIn && <p className="text-muted">{builtIn(value)}</p>}
          <Chips
            label="Permissions"
            hint="Names, or * for all, application_* for all of a type, *_view for a verb of every type."
            values={permissions}
            onChange={setPermissions}
            options={known}
            error={wrong("permissions")}
            disabled={Boolean(readOnly)}
          />
          <PermissionMatrix label="Permissions" value={permissions} onChange={readOnly ? undefined : setPermissions} />
        </>
      )}
    </EntityForm>
  );
}

export function Roles() {
  return (
    <Entities
      kind={roles}
      columns={roleColumns}
      Form={RoleForm}
      changeable={builtIn}
      warn={(r) => <p>{r.id} can no longer be granted.</p>}
    >
      A role is a set of permissions. Bindings give it to people.
    </Entities>
  );
}
