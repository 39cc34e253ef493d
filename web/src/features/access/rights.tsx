import { useState } from "react";
import { ids, useAll } from "@/lib/entity";
import { matrix } from "@/lib/permissions";
import { contains } from "@/lib/session";
import { Chips } from "@/ui/chips";
import { named, scoped } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Field, Select, Textarea } from "@/ui/field";
import { metaBody, MetaFields, useMeta } from "@/ui/meta";
import { PermissionMatrix, usePermissions } from "@/ui/permissions";
import { Badge } from "@/ui/status";
import type { Column } from "@/ui/table";
import {
  type Binding,
  bindings,
  groups,
  type ResourceGroup,
  resourceGroups,
  type Role,
  roles,
  serviceAccounts,
  users,
} from "./kinds";

const builtIn = (value: { builtIn?: boolean }): string | undefined =>
  value.builtIn ? "It comes with the server and cannot be changed: make another one." : undefined;

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
  const [meta, setMeta] = useMeta(value);
  const [permissions, setPermissions] = useState<string[]>(value?.permissions ?? []);
  const known = usePermissions();
  const body = () => ({ ...metaBody(meta), permissions });
  return (
    <EntityForm
      of={form}
      kind={roles}
      looks={value?.builtIn}
      why={permissions.length === 0 ? "Choose at least one permission." : undefined}
      body={body}
    >
      {(wrong) => (
        <>
          {value?.builtIn && <p className="text-muted">{builtIn(value)}</p>}
          <MetaFields
            meta={meta}
            onChange={setMeta}
            there={Boolean(value)}
            wrong={wrong}
            disabled={Boolean(readOnly)}
          />
          <Chips
            label="Permissions"
            hint="Names, or * for all, application_* for all of a type, *_view for a verb of every type."
            values={permissions}
            onChange={setPermissions}
            options={known}
            error={wrong("permissions")}
            disabled={Boolean(readOnly)}
          />
          <PermissionMatrix
            label="What it allows"
            value={permissions}
            onChange={readOnly ? undefined : setPermissions}
          />
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
      warn={(r) => <p>Nobody can be given {r.id} any more.</p>}
    >
      A role is a set of permissions. Bindings give it to people.
    </Entities>
  );
}

const groupColumns: Column<ResourceGroup>[] = [
  named(),
  scoped(),
  {
    key: "what",
    title: "Objects",
    width: "minmax(14rem,3fr)",
    cell: (g) => {
      const types = (g.types ?? []).join(", ") || "all types";
      const which = g.all
        ? "all"
        : (g.ids ?? []).length > 0
          ? `${g.ids?.length} named`
          : `labels ${(g.selectors ?? []).join(" or ")}`;
      return (
        <span className="text-muted">
          {types}: {which}
        </span>
      );
    },
  },
  { key: "builtIn", title: "", width: "7rem", cell: (g) => g.builtIn && <Badge>Built in</Badge> },
];

type Which = "all" | "ids" | "selectors";

function ResourceGroupForm(form: FormProps<ResourceGroup>) {
  const { value, readOnly } = form;
  const [meta, setMeta] = useMeta(value);
  const [types, setTypes] = useState(value?.types ?? []);
  const [which, setWhich] = useState<Which>(
    value?.all ? "all" : (value?.ids ?? []).length > 0 ? "ids" : value ? "selectors" : "all",
  );
  const [named, setNamed] = useState(value?.ids ?? []);
  const [selectors, setSelectors] = useState((value?.selectors ?? []).join("\n"));
  const off = Boolean(readOnly);
  const known = usePermissions();
  const body = () => ({
    ...metaBody(meta),
    types,
    all: which === "all",
    ids: which === "ids" ? named : [],
    selectors:
      which === "selectors"
        ? selectors
            .split("\n")
            .map((s) => s.trim())
            .filter(Boolean)
        : [],
  });
  return (
    <EntityForm of={form} kind={resourceGroups} looks={value?.builtIn} body={body}>
      {(wrong) => (
        <>
          <MetaFields meta={meta} onChange={setMeta} there={Boolean(value)} wrong={wrong} disabled={off} />
          <Chips
            label="Types"
            hint="Types of the objects; all where none is named."
            values={types}
            onChange={setTypes}
            options={matrix(known).types}
            error={wrong("types")}
            disabled={off}
          />
          <Field label="Which of them">
            <Select value={which} disabled={off} onChange={(e) => setWhich(e.target.value as Which)}>
              <option value="all">All</option>
              <option value="ids">The named</option>
              <option value="selectors">Those with labels</option>
            </Select>
          </Field>
          {which === "ids" && (
            <Chips
              label="Ids"
              hint="An application is <agent>/<namespace>/<name>."
              placeholder="account.prod/argocd/shop"
              values={named}
              onChange={setNamed}
              error={wrong("ids")}
              disabled={off}
            />
          )}
          {which === "selectors" && (
            <Field
              label="Label selectors"
              hint="One to a line, as Kubernetes writes them: team=shop,tier in (web, api). One of them has to match."
              error={wrong("selectors")}
            >
              <Textarea
                className="font-mono"
                value={selectors}
                disabled={off}
                required
                spellCheck={false}
                onChange={(e) => setSelectors(e.target.value)}
              />
            </Field>
          )}
        </>
      )}
    </EntityForm>
  );
}

export function ResourceGroups() {
  return (
    <Entities
      kind={resourceGroups}
      columns={groupColumns}
      Form={ResourceGroupForm}
      changeable={builtIn}
      warn={(g) => <p>Bindings for {g.id} have nothing to count for any more.</p>}
    >
      A resource group is a set of objects, by type, name or label. A binding without one counts for all objects.
    </Entities>
  );
}

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
  const [meta, setMeta] = useMeta(value);
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
  const within = (e: { scope?: string }) => contains(e.scope || "account", meta.scope);
  const allRoles = ids(useAll(roles).filter(within));
  const allGroups = ids(useAll(resourceGroups).filter(within)).filter((id) => id !== "account.all");
  const body = () => ({
    ...metaBody(meta),
    principal: { type, id: who.trim() },
    role,
    resourceGroup: group,
  });
  return (
    <EntityForm
      of={form}
      kind={bindings}
      about="Gives somebody a role, for some objects or all, at a scope and below it."
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
          <Field label="Role" hint="A built-in one, or one of this scope or above." error={wrong("role")}>
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
          <MetaFields meta={meta} onChange={setMeta} there={Boolean(value)} wrong={wrong} disabled={off} />
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
          {b.principal.type} {b.principal.id} loses role {b.role} at {b.scope}, at once.
        </p>
      )}
    >
      Nobody may do anything until a binding says so: who, which role, for which objects, where.
    </Entities>
  );
}
