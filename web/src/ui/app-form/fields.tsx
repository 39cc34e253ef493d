import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useId } from "react";
import { stringify } from "yaml";
import type { AppField } from "@/lib/app-fields";
import {
  add,
  change,
  countOf,
  type Draft,
  drop,
  get,
  has,
  listOf,
  type Path,
  plain,
  setList,
  setMap,
} from "@/lib/draft";
import { linesOf, mapFrom, numberOf, pairsFrom, pairsOf } from "@/lib/form-text";
import { Button, IconButton } from "@/ui/button";
import { Checkbox, Field, Input, Textarea } from "@/ui/field";
import { Lines } from "@/ui/lines";

// Edit is what each piece of the form works on.
export interface Edit {
  draft: Draft;
  onDraft: (draft: Draft) => void;
  // wrong is what is wrong with the field at a path.
  wrong: (path: Path) => string | undefined;
  off: boolean;
}

// Offers are the names that were found in the repository, for the fields that take them.
export type Offers = Partial<Record<NonNullable<AppField["offers"]>, string[]>>;

export const pathOf = (base: Path, at: string): Path => [...base, ...at.split(".")];

// countSet is how many of some fields are set.
export const countSet = (draft: Draft, base: Path, fields: AppField[]): number =>
  fields.filter((f) => has(draft, pathOf(base, f.at))).length;

export const anyWrong = ({ wrong }: Edit, base: Path, fields: AppField[]): boolean =>
  fields.some((f) => wrong(pathOf(base, f.at)) !== undefined);

interface FieldsProps {
  edit: Edit;
  base: Path;
  fields: AppField[];
  offers?: Offers | undefined;
}

const wide = (as: AppField["as"]) => ["rows", "lines", "values", "area", "pairs", "switches"].includes(as);

// Fields shows fields in two columns, where there is room, with those that are large over both.
export function Fields({ edit, base, fields, offers }: FieldsProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {fields.map((field) => (
        <div key={field.at} className={wide(field.as) ? "min-w-0 sm:col-span-2" : "min-w-0"}>
          <One edit={edit} base={base} field={field} offers={offers} />
        </div>
      ))}
    </div>
  );
}

function One({ edit, base, field, offers }: { edit: Edit; base: Path; field: AppField; offers?: Offers | undefined }) {
  const { draft, onDraft, wrong, off } = edit;
  const list = useId();
  const path = pathOf(base, field.at);
  const offered = field.offers ? (offers?.[field.offers] ?? []) : [];
  const set = (value: unknown) => onDraft(change(draft, path, value));
  const some = { disabled: off, spellCheck: false, autoComplete: "off" } as const;
  const named = (control: Parameters<typeof Field>[0]["children"]) => (
    <Field label={field.label} hint={field.hint} error={wrong(path)}>
      {control}
    </Field>
  );
  const placed = field.placeholder === undefined ? {} : { placeholder: field.placeholder };
  switch (field.as) {
    case "flag":
      return (
        <Checkbox
          label={field.label}
          hint={field.hint}
          disabled={off}
          checked={get(draft, path) === "true"}
          onChange={(e) => set(e.target.checked ? true : undefined)}
        />
      );
    case "number":
    case "count":
      return named(
        <Input
          {...some}
          {...placed}
          inputMode="numeric"
          value={get(draft, path)}
          onChange={(e) => set(numberOf(e.target.value))}
        />,
      );
    case "lines":
      return (
        <>
          {named(
            <Lines
              {...placed}
              disabled={off}
              value={listOf(draft, path).join("\n")}
              onChange={(text) => onDraft(setList(draft, path, linesOf(text)))}
            />,
          )}
          <Found
            names={offered.filter((name) => !listOf(draft, path).includes(name))}
            off={off}
            onAdd={(name) => onDraft(add(draft, path, name))}
          />
        </>
      );
    case "pairs":
    case "switches":
      return named(
        <Lines
          {...placed}
          disabled={off}
          value={pairsOf(plain(draft, path))}
          onChange={(text) => onDraft(setMap(draft, path, pairsFrom(text, field.as === "switches")))}
        />,
      );
    case "area":
      return named(
        <Textarea
          {...some}
          className="font-mono text-sm"
          value={get(draft, path)}
          onChange={(e) => set(e.target.value === "" ? undefined : e.target.value)}
        />,
      );
    case "values":
      return <Values edit={edit} base={base} field={field} />;
    case "rows":
      return <Rows edit={edit} base={path} field={field} offers={offers} />;
    default:
      return (
        <>
          {named(
            <Input
              {...some}
              {...placed}
              {...(offered.length > 0 && { list })}
              value={get(draft, path)}
              onChange={(e) => set(e.target.value === "" ? undefined : e.target.value)}
            />,
          )}
          {offered.length > 0 && (
            <datalist id={list}>
              {offered.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          )}
        </>
      );
  }
}

// Found are names of the repository that one press adds to a list.
function Found({ names, off, onAdd }: { names: string[]; off: boolean; onAdd: (name: string) => void }) {
  return (
    names.length > 0 && (
      <ul aria-label="Found in the repository" className="mt-1 flex max-h-28 flex-wrap gap-1 overflow-auto">
        {names.slice(0, 40).map((name) => (
          <li key={name}>
            <Button small disabled={off} onClick={() => onAdd(name)}>
              <Plus size={12} aria-hidden /> {name}
            </Button>
          </li>
        ))}
      </ul>
    )
  );
}

// Rows is a list of things with fields of their own.
function Rows({ edit, base, field, offers }: { edit: Edit; base: Path; field: AppField; offers?: Offers | undefined }) {
  const { draft, onDraft, off } = edit;
  const one = field.one ?? "entry";
  const entries: ReactNode[] = Array.from({ length: countOf(draft, base) }, (_, i) => (
    <fieldset key={i} className="flex gap-2 rounded-md border p-2">
      <legend className="px-1 text-sm text-muted">
        {one.charAt(0).toUpperCase() + one.slice(1)} {i + 1}
      </legend>
      <div className="min-w-0 flex-1">
        <Fields edit={edit} base={[...base, i]} fields={field.columns ?? []} offers={offers} />
      </div>
      <IconButton small disabled={off} label={`Remove ${one} ${i + 1}`} onClick={() => onDraft(drop(draft, base, i))}>
        <Trash2 size={14} aria-hidden />
      </IconButton>
    </fieldset>
  ));
  return (
    <div role="group" aria-label={field.label} className="space-y-2">
      <p className="text-sm font-medium">{field.label}</p>
      {field.hint && <p className="text-sm text-muted">{field.hint}</p>}
      {entries}
      <Button small disabled={off} onClick={() => onDraft(add(draft, base, {}))}>
        <Plus size={13} aria-hidden /> Add {one}
      </Button>
    </div>
  );
}

// Values are the values of a chart: the object where the source has one, else the text.
function Values({ edit: { draft, onDraft, off, wrong }, base, field }: { edit: Edit; base: Path; field: AppField }) {
  const object = pathOf(base, "valuesObject");
  const text = pathOf(base, field.at);
  const asObject = has(draft, object);
  const value = asObject ? stringify(plain(draft, object), { lineWidth: 0 }) : get(draft, text);
  return (
    <Field label={field.label} hint={field.hint} error={wrong(asObject ? object : text)}>
      <Lines
        disabled={off}
        className="min-h-28"
        value={value}
        onChange={(next) => {
          if (!asObject || next.trim() === "") {
            onDraft(change(draft, asObject ? object : text, next.trim() === "" ? undefined : next));
            return;
          }
          const values = mapFrom(next);
          if (values) {
            onDraft(setMap(draft, object, values));
          }
        }}
      />
    </Field>
  );
}
