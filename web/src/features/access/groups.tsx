import { useState } from "react";
import { ids, useAll } from "@/lib/entity";
import { Chips } from "@/ui/chips";
import { described, named, scoped } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Field, Input } from "@/ui/field";
import { useMeta } from "@/ui/meta";
import type { Column } from "@/ui/table";
import { type Group, groups, users } from "./kinds";

const groupColumns: Column<Group>[] = [
  named(),
  scoped(),
  { key: "members", title: "Members", width: "7rem", align: "right", cell: (g) => g.members?.length ?? 0 },
  { key: "claim", title: "Claim", width: "minmax(8rem,1fr)", cell: (g) => g.claim },
  described(),
];

function GroupForm(form: FormProps<Group>) {
  const { value, readOnly } = form;
  const meta = useMeta(value);
  const [members, setMembers] = useState(value?.members ?? []);
  const [claim, setClaim] = useState(value?.claim ?? "");
  const all = ids(useAll(users));
  const body = () => ({ members, claim: claim.trim() });
  return (
    <EntityForm of={form} kind={groups} meta={meta} body={body}>
      {(wrong) => (
        <>
          <Chips
            label="Members"
            hint="Names of users."
            values={members}
            onChange={setMembers}
            options={all}
            error={wrong("members")}
            disabled={Boolean(readOnly)}
          />
          <Field
            label="Claim of the identity provider"
            hint="A user with this value in the group claim is a member as long as their session lasts."
            error={wrong("claim")}
          >
            <Input value={claim} disabled={Boolean(readOnly)} onChange={(e) => setClaim(e.target.value)} />
          </Field>
        </>
      )}
    </EntityForm>
  );
}

export function Groups() {
  return (
    <Entities
      kind={groups}
      columns={groupColumns}
      Form={GroupForm}
      warn={(g) => (
        <p>
          Its {g.members?.length ?? 0} members lose the permissions from {g.id}.
        </p>
      )}
    >
      Groups give several people the same rights: name members, or a group of the identity provider.
    </Entities>
  );
}
