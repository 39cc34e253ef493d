import { useState } from "react";
import { matrix } from "@/lib/permissions";
import { Chips } from "@/ui/chips";
import { named, scoped } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Field, Select, Textarea } from "@/ui/field";
import { useMeta } from "@/ui/meta";
import { usePermissions } from "@/ui/permissions";
import { Badge } from "@/ui/status";
import type { Column } from "@/ui/table";
import { builtIn, type ResourceGroup, resourceGroups } from "./kinds";

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
  const meta = useMeta(value);
  const [types, setTypes] = useState(value?.types ?? []);
  const [which, setWhich] = useState<Which>(
    value?.all ? "all" : (value?.ids ?? []).length > 0 ? "ids" : value ? "selectors" : "all",
  );
  const [named, setNamed] = useState(value?.ids ?? []);
  const [selectors, setSelectors] = useState((value?.selectors ?? []).join("\n"));
  const off = Boolean(readOnly);
  const known = usePermissions();
  const body = () => ({
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
    <EntityForm of={form} kind={resourceGroups} meta={meta} looks={value?.builtIn} body={body}>
      {(wrong) => (
        <>
          <Chips
            label="Types"
            hint="Types of the objects. Default: all."
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
              hint="One per line, in Kubernetes syntax: team=shop,tier in (web, api). An object must match one of them."
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
      warn={(g) => <p>Bindings for {g.id} no longer apply to any object.</p>}
    >
      A resource group is a set of objects, by type, name or label. A binding without one applies to all objects.
    </Entities>
  );
}
