import { useState } from "react";
import { Chips } from "@/ui/chips";
import { Checkbox, Field, Input, Select, Textarea } from "@/ui/field";
import { Piece } from "./piece";

// Forms are the fields.
export function Forms() {
  const [members, setMembers] = useState(["ada", "grace", "a-rather-long-name-of-somebody@example.org"]);
  return (
    <Piece name="Fields">
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label="Empty" hint="What to write here.">
          <Input placeholder="Placeholder" />
        </Field>
        <Field label="Filled">
          <Input defaultValue="checkout" />
        </Field>
        <Field label="Wrong" error="Lower-case letters, digits and inner hyphens.">
          <Input defaultValue="Check Out" />
        </Field>
        <Field label="Disabled">
          <Input defaultValue="checkout" disabled />
        </Field>
        <Field label="Choice">
          <Select defaultValue="b">
            <option value="a">First</option>
            <option value="b">Second</option>
          </Select>
        </Field>
        <Field label="Choice, wrong" error="Choose one.">
          <Select defaultValue="">
            <option value="">None</option>
          </Select>
        </Field>
        <Field label="Long text" className="sm:col-span-2">
          <Textarea defaultValue={"One line\nand another"} />
        </Field>
        <div className="space-y-2">
          <Checkbox label="Off" />
          <Checkbox label="On" defaultChecked hint="What it means." />
          <Checkbox label="Some" ref={(box) => void (box && (box.indeterminate = true))} />
          <Checkbox label="Off, disabled" disabled />
          <Checkbox label="On, disabled" disabled defaultChecked />
          <label className="flex items-center gap-2">
            <input type="radio" name="one" defaultChecked className="size-4" /> Chosen
          </label>
          <label className="flex items-center gap-2">
            <input type="radio" name="one" className="size-4" /> Not chosen
          </label>
        </div>
        <Chips label="Members" hint="Names of users." values={members} onChange={setMembers} />
        <Chips label="Members, disabled" values={members} onChange={setMembers} disabled />
        <Chips label="Members, wrong" error="There is no user bob." values={["bob"]} onChange={() => undefined} />
      </div>
    </Piece>
  );
}
