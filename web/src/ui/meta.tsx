import { useState } from "react";
import { InputError } from "@/lib/input";
import { readLabels, writeLabels } from "@/lib/labels";
import { Field, Input, Textarea } from "./field";
import { ScopeField, type Wrong } from "./form";

// Meta is what every entity has in common, as a form holds it.
export interface Meta {
  name: string;
  scope: string;
  displayName: string;
  description: string;
  labels: string;
}

interface Has {
  name?: string;
  scope?: string;
  displayName?: string;
  description?: string;
  labels?: Record<string, string> | null;
}

// useMeta holds the common fields of an entity.
export function useMeta(value: Has | undefined, scope = "account"): [Meta, (change: Partial<Meta>) => void] {
  const [meta, set] = useState<Meta>(() => ({
    name: value?.name ?? "",
    scope: value?.scope || scope,
    displayName: value?.displayName ?? "",
    description: value?.description ?? "",
    labels: writeLabels(value?.labels),
  }));
  return [meta, (change) => set((before) => ({ ...before, ...change }))];
}

// metaBody is what is sent of them; it throws what is wrong with the labels.
export function metaBody(meta: Meta) {
  const labels = readLabels(meta.labels);
  if (typeof labels === "string") {
    throw new InputError(labels);
  }
  return {
    name: meta.name.trim(),
    scope: meta.scope,
    displayName: meta.displayName.trim(),
    description: meta.description.trim(),
    labels,
  };
}

// MetaFields are the common fields of a form.
export function MetaFields({
  meta,
  onChange,
  there,
  wrong,
  scoped = true,
  disabled,
}: {
  meta: Meta;
  onChange: (change: Partial<Meta>) => void;
  // there is true for what has been made already: its name and scope never change.
  there: boolean;
  wrong: Wrong;
  scoped?: boolean;
  disabled?: boolean;
}) {
  return (
    <>
      <Field
        label="Name"
        hint={there ? "The name never changes." : "Lower-case letters, digits and inner hyphens; it never changes."}
        error={wrong("name")}
      >
        <Input
          value={meta.name}
          disabled={there}
          required
          maxLength={63}
          pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
          title="Lower-case letters, digits and inner hyphens"
          autoComplete="off"
          spellCheck={false}
          onChange={(e) => onChange({ name: e.target.value })}
        />
      </Field>
      {scoped && (
        <ScopeField
          value={meta.scope}
          fixed={there || disabled === true}
          error={wrong("scope")}
          onChange={(scope) => onChange({ scope })}
        />
      )}
      <Field label="Display name" error={wrong("displayName")}>
        <Input
          value={meta.displayName}
          disabled={disabled}
          maxLength={200}
          autoComplete="off"
          onChange={(e) => onChange({ displayName: e.target.value })}
        />
      </Field>
      <Field label="Description" error={wrong("description")}>
        <Textarea
          className="min-h-14"
          value={meta.description}
          disabled={disabled}
          maxLength={2000}
          onChange={(e) => onChange({ description: e.target.value })}
        />
      </Field>
      <Field label="Labels" hint="One key=value per line." error={wrong("labels")}>
        <Textarea
          className="min-h-14 font-mono"
          value={meta.labels}
          disabled={disabled}
          spellCheck={false}
          onChange={(e) => onChange({ labels: e.target.value })}
        />
      </Field>
    </>
  );
}
