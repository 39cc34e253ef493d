import { differenceFields, namespaceFields, otherFields, retryFields } from "@/lib/app-fields";
import { createNamespace, type SyncOption, syncOptions } from "@/lib/app-options";
import { change, type Draft, get, has, listOf, option, type Path, setOption } from "@/lib/draft";
import { Checkbox, Field, Select } from "@/ui/field";
import { Fold } from "@/ui/fold";
import { anyWrong, countSet, type Edit, Fields } from "./fields";

const spec: Path = ["spec"];
const automated: Path = ["spec", "syncPolicy", "automated"];

// turned switches auto-sync on or off, and keeps the switches that it has.
function turned(draft: Draft, on: boolean): Draft {
  if (on) {
    const enabled = has(draft, [...automated, "enabled"]) ? change(draft, [...automated, "enabled"], undefined) : draft;
    return has(enabled, automated) ? enabled : change(enabled, automated, {});
  }
  const kept = ["prune", "selfHeal", "allowEmpty"].some((name) => has(draft, [...automated, name]));
  return kept ? change(draft, [...automated, "enabled"], false) : change(draft, automated, undefined);
}

// Policy is when it syncs and how.
export function Policy(edit: Edit) {
  const { draft, onDraft, off } = edit;
  const automatic = has(draft, automated) && get(draft, [...automated, "enabled"]) !== "false";
  const flag = (name: string, label: string, hint: string) => (
    <Checkbox
      label={label}
      hint={hint}
      disabled={off || !automatic}
      checked={get(draft, [...automated, name]) === "true"}
      onChange={(e) => onDraft(change(draft, [...automated, name], e.target.checked))}
    />
  );
  const makes = option(draft, createNamespace.name) === "true";
  const options = syncOptions.filter((o) => option(draft, o.name) !== "").length;
  return (
    <fieldset className="space-y-3 rounded-md border p-3" disabled={off}>
      <legend className="px-1 font-medium">Sync policy</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        <Checkbox
          label="Auto-sync"
          hint="Deploy each commit automatically"
          disabled={off}
          checked={automatic}
          onChange={(e) => onDraft(turned(draft, e.target.checked))}
        />
        <Option edit={edit} of={createNamespace} />
        {flag("prune", "Prune", "Delete what Git no longer has")}
        {flag("selfHeal", "Self-heal", "Revert changes made in the cluster")}
        {automatic &&
          get(draft, [...automated, "prune"]) === "true" &&
          flag("allowEmpty", "Allow empty", "Prune may delete all objects")}
      </div>
      <Fold title="Sync options" set={options} wrong={edit.wrong([...spec, "syncPolicy", "syncOptions"]) !== undefined}>
        <div className="grid gap-3 sm:grid-cols-2">
          {syncOptions.map((o) => (
            <Option key={o.name} edit={edit} of={o} />
          ))}
        </div>
        <Unknown draft={draft} />
      </Fold>
      {(makes || countSet(draft, spec, namespaceFields) > 0) && (
        <Fold title="Labels and annotations of the namespace" set={countSet(draft, spec, namespaceFields)}>
          <Fields edit={edit} base={spec} fields={namespaceFields} />
        </Fold>
      )}
      <Fold title="Retries" set={countSet(draft, spec, retryFields)} wrong={anyWrong(edit, spec, retryFields)}>
        <Fields edit={edit} base={spec} fields={retryFields} />
      </Fold>
      <Fold
        title="Ignored differences"
        set={listOf(draft, ["spec", "ignoreDifferences"]).length}
        wrong={anyWrong(edit, spec, differenceFields)}
      >
        <Fields edit={edit} base={spec} fields={differenceFields} />
      </Fold>
      <Fold
        title="History and information"
        set={countSet(draft, spec, otherFields)}
        wrong={anyWrong(edit, spec, otherFields)}
      >
        <Fields edit={edit} base={spec} fields={otherFields} />
      </Fold>
    </fieldset>
  );
}

// Option is one sync option: a switch where there is one choice, a list where there are more.
function Option({ edit: { draft, onDraft, off }, of }: { edit: Edit; of: SyncOption }) {
  const value = option(draft, of.name);
  const values = Object.keys(of.values);
  const [only = ""] = values;
  if (values.length === 1 && (value === "" || value === only)) {
    // An option whose one choice is to turn something off is shown as that something.
    const inverse = only === "false";
    return (
      <Checkbox
        label={of.label}
        hint={of.hint}
        disabled={off}
        checked={(value === only) !== inverse}
        onChange={(e) => onDraft(setOption(draft, of.name, e.target.checked === inverse ? "" : only))}
      />
    );
  }
  return (
    <Field label={of.label} hint={of.hint}>
      <Select value={value} disabled={off} onChange={(e) => onDraft(setOption(draft, of.name, e.target.value))}>
        <option value="">Default</option>
        {[...new Set([...values, value])].filter(Boolean).map((v) => (
          <option key={v} value={v}>
            {of.values[v] ?? v}
          </option>
        ))}
      </Select>
    </Field>
  );
}

// Unknown names the options of the draft that the form does not have.
function Unknown({ draft }: { draft: Draft }) {
  const known = [createNamespace, ...syncOptions].map((o) => o.name);
  const others = listOf(draft, ["spec", "syncPolicy", "syncOptions"]).filter(
    (text) => !known.includes(text.split("=")[0] ?? ""),
  );
  return others.length > 0 && <p className="text-sm text-warn">Only in the YAML: {others.join(", ")}</p>;
}
