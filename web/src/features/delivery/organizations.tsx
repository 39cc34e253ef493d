import type { Schemas } from "@/api/client";
import { organizations } from "@/lib/kinds";
import { described, named, updated } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { metaBody, MetaFields, useMeta } from "@/ui/meta";

type Organization = Schemas["Organization"];

function Form(form: FormProps<Organization>) {
  const { value, readOnly } = form;
  const [meta, setMeta] = useMeta(value);
  return (
    <EntityForm of={form} kind={organizations} body={() => metaBody(meta)}>
      {(wrong) => (
        <MetaFields
          meta={meta}
          onChange={setMeta}
          there={Boolean(value)}
          wrong={wrong}
          scoped={false}
          disabled={Boolean(readOnly)}
        />
      )}
    </EntityForm>
  );
}

export function Organizations() {
  return (
    <Entities
      kind={organizations}
      columns={[named(), described(), updated()]}
      Form={Form}
      warn={() => <p>The organization goes, with its roles and bindings. Nothing goes from any cluster.</p>}
    >
      An organization holds projects, and is where rights are given for all of them.
    </Entities>
  );
}
