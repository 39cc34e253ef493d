import { useState } from "react";
import { Ago } from "@/ui/ago";
import { described, named, scoped } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Checkbox } from "@/ui/field";
import { useMeta } from "@/ui/meta";
import { Badge } from "@/ui/status";
import type { Column } from "@/ui/table";
import { type ServiceAccount, serviceAccounts } from "./kinds";
import { Tokens } from "@/ui/tokens";

const accountColumns: Column<ServiceAccount>[] = [
  named(),
  scoped(),
  {
    key: "state",
    title: "State",
    width: "8rem",
    cell: (a) => (a.disabled ? <Badge tone="bad">Disabled</Badge> : <Badge tone="ok">Active</Badge>),
  },
  described(),
  { key: "created", title: "Created", width: "9.5rem", cell: (a) => <Ago at={a.createdAt} /> },
];

function AccountForm(form: FormProps<ServiceAccount>) {
  const { value, readOnly } = form;
  const meta = useMeta(value);
  const [disabled, setDisabled] = useState(Boolean(value?.disabled));
  const body = () => ({ disabled });
  return (
    <EntityForm of={form} kind={serviceAccounts} meta={meta} body={body}>
      {() => (
        <>
          {value && (
            <Checkbox
              label="Disabled"
              hint="Its tokens are invalid while this is set."
              checked={disabled}
              disabled={Boolean(readOnly)}
              onChange={(e) => setDisabled(e.target.checked)}
            />
          )}
          {value?.id && <Tokens owner={{ type: "serviceaccount", id: value.id }} />}
        </>
      )}
    </EntityForm>
  );
}

export function ServiceAccounts() {
  return (
    <Entities
      kind={serviceAccounts}
      columns={accountColumns}
      Form={AccountForm}
      warn={(a) => <p>Its tokens are revoked immediately: programs that use {a.id} are refused.</p>}
    >
      Programs, such as a pipeline, use the API as a service account with its own tokens.
    </Entities>
  );
}
