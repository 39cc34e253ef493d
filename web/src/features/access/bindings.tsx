import { useState } from "react";
import { ids, useAll } from "@/lib/entity";
import { contains } from "@/lib/session";
import { named, scoped } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Field, Select } from "@/ui/field";
import { useMeta } from "@/ui/meta";
import type { Column } from "@/ui/table";
import { type Binding, bindings, groups, resourceGroups, roles, serviceAccounts, users } from "./kinds";

const bindingColumns: Column<Binding>[] = [
  named(),
  {
    key: "who",
    title: "Who",
    width: "minmax(12rem,2fr)",
    cell: (b) => (
      <>
        <span className="text-muted">{b.principal.type}</span> {b.principal.id}
      </>
    ),
  },
  { key: "role", title: "Role", width: "minmax(10rem,1fr)", cell: (b) => b.role },
  {
    key: "on",
    title: "For",
    width: "minmax(10rem,1fr)",
    cell: (b) => (!b.resourceGroup || b.resourceGroup === "account.all" ? "all objects" : b.resourceGroup),
  },
  scoped(),
];

function BindingForm(form: FormProps<Binding>) {
  const { value, readOnly } = form;
  const meta = useMeta(value);
  const [{ scope }] = meta;
  const [type, setType] = useState(value?.principal.type ?? "user");
  const [who, setWho] = useState(value?.principal.id ?? "");
  const [role, setRole] = useState(value?.role ?? "account.viewer");
  const [group, setGroup] = useState(value?.resourceGroup ?? "");
  const off = Boolean(readOnly);
  const people = {
    user: ids(useAll(users)),
    group: ids(useAll(groups)),
    serviceaccount: ids(useAll(serviceAccounts)),
  }[type];
  const within = (e: { scope?: string }) => contains(e.scope || "account", scope);
  const allRoles = ids(useAll(roles).filter(within));
  const allGroups = ids(useAll(resourceGroups).filter(within)).filter((id) => id !== "account.all");
  const body = () => ({
    principal: { type, id: who.trim() },
    role,
    resourceGroup: group,
  });
  return (
    <EntityForm
      of={form}
      kind={bindings}
      meta={meta}
      metaLast
      about="Grants a role, for some objects or all, at a scope and below it."
      body={body}
    >
      {(wrong) => (
        <>
          <div className="grid gap-3 sm:grid-cols-[12rem_1fr]">
            <Field label="Kind">
              <Select
                value={type}
                disabled={off}
                onChange={(e) => {
                  setType(e.target.value);
                  setWho("");
                }}
              >
                <option value="user">User</option>
                <option value="group">Group</option>
                <option value="serviceaccount">Service account</option>
              </Select>
            </Field>
            <Field label="Who" error={wrong("principal") ?? wrong("principal.id")}>
              <Select value={who} disabled={off} required onChange={(e) => setWho(e.target.value)}>
                <option value="">Choose</option>
                {[...new Set([...(people ?? []), ...(who ? [who] : [])])].map((id) => (
                  <option key={id} value={id}>
                    {id}
                  </option>
                ))}
              </Select>
            </Field>
          </div>
          <Field label="Role" hint="A built-in role, or one of this scope or a scope above." error={wrong("role")}>
            <Select value={role} disabled={off} onChange={(e) => setRole(e.target.value)}>
              {[...new Set([...allRoles, role])].map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </Select>
          </Field>
          <Field label="For" error={wrong("resourceGroup")}>
            <Select value={group} disabled={off} onChange={(e) => setGroup(e.target.value)}>
              <option value="">All objects of the scope</option>
              {[...new Set([...allGroups, ...(group ? [group] : [])])].map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </Select>
          </Field>
        </>
      )}
    </EntityForm>
  );
}

export function Bindings() {
  return (
    <Entities
      kind={bindings}
      columns={bindingColumns}
      Form={BindingForm}
      warn={(b) => (
        <p>
          {b.principal.type} {b.principal.id} loses role {b.role} at {b.scope}, immediately.
        </p>
      )}
    >
      A binding gives a role to a user or group, for some objects in a scope. Without a binding, nothing is allowed.
    </Entities>
  );
}
