import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type AppField,
  differenceFields,
  leftOut,
  namespaceFields,
  otherFields,
  ownFields,
  retryFields,
  sourceFields,
  toolFields,
} from "./app-fields";
import { createNamespace, syncOptions } from "./app-options";
import { type Schema, schema } from "./schema";

// leaves are the fields of a part of the schema that hold values, as dotted paths; [] stands for each entry of a list.
function leaves(node: Schema, at: string): string[] {
  if (node.properties) {
    return Object.entries(node.properties).flatMap(([name, part]) => leaves(part, at ? `${at}.${name}` : name));
  }
  return node.items?.properties ? leaves(node.items, `${at}[]`) : [at];
}

const spread = (fields: AppField[], prefix: string): string[] =>
  fields.flatMap((f) => (f.columns ? spread(f.columns, `${prefix}${f.at}[].`) : [`${prefix}${f.at}`]));

const source = [
  ...spread(sourceFields, ""),
  ...Object.entries(toolFields).flatMap(([tool, { first, more }]) => spread([...first, ...more], `${tool}.`)),
  // One piece of the form writes both: the object where there is one, else the text.
  "helm.valuesObject",
];
const inForm = [
  ...spread([...retryFields, ...namespaceFields, ...differenceFields, ...otherFields, ...ownFields], ""),
  ...source.flatMap((field) => [`source.${field}`, `sources[].${field}`]),
];

describe("the form of an Application", () => {
  const spec = schema.properties?.spec ?? {};
  const known = leaves(spec, "");

  it("has every field of the schema, or a reason for its absence", () => {
    const excepted = (field: string) => Object.keys(leftOut).some((at) => field === at || field.startsWith(`${at}.`));
    expect(known.length).toBeGreaterThan(100);
    expect(known.filter((field) => !inForm.includes(field) && !excepted(field))).toEqual([]);
    // A reason for what is not in the schema is out of date.
    expect(Object.keys(leftOut).filter((at) => !known.some((f) => f === at || f.startsWith(`${at}.`)))).toEqual([]);
  });

  it("has no field that is not in the schema, and none twice", () => {
    expect(inForm.filter((field) => !known.includes(field))).toEqual([]);
    expect(new Set(inForm).size).toBe(inForm.length);
  });

  it("has the sync options that the engine reads, and no others", () => {
    const engine = readFileSync(new URL("../../../internal/engine/object/options.go", import.meta.url), "utf8");
    const read = [...engine.matchAll(/case (?:name == )?"([A-Z]\w+)"/g)].map((m) => m[1]);
    const byName = (a = "", b = "") => a.localeCompare(b);
    expect([createNamespace, ...syncOptions].map((o) => o.name).sort(byName)).toEqual([...new Set(read)].sort(byName));
  });
});
