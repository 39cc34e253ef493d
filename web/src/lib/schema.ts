import { isAlias, isMap, isPair, isScalar, isSeq, type Node } from "yaml";
import generated from "./application.gen.json";
import { type Draft, lineAt, type Path } from "./draft";

// Schema is what is used of the schema of an Application, here and in the editor.
export interface Schema {
  type?: string;
  description?: string;
  enum?: string[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: { type: string }[];
}

export const schema = generated as Schema;

// below is the schema of what a path leads to; undefined where it has none.
export function below(from: Schema, path: Path): Schema | undefined {
  let at: Schema | undefined = from;
  for (const part of path) {
    const others: Schema | undefined =
      typeof at?.additionalProperties === "object" ? at.additionalProperties : undefined;
    at = typeof part === "number" ? at?.items : (at?.properties?.[part] ?? others);
  }
  return at;
}

// typeText is how a type is called for people.
export function typeText(of: Schema): string {
  const words: Record<string, string> = {
    object: "a map",
    array: "a list",
    string: "a text",
    integer: "an integer",
    number: "a number",
    boolean: "true or false",
  };
  const types = of.anyOf?.map((a) => a.type) ?? (of.type ? [of.type] : []);
  return of.enum ? of.enum.join(", ") : types.map((t) => words[t] ?? t).join(" or ");
}

export interface SchemaProblem {
  line: number;
  field: string;
  message: string;
  level: "error" | "warning";
}

const most = 50; // problems that are reported

// violations are where a draft is not as the schema has it: another type, or a field that it does not know.
export function violations(draft: Draft): SchemaProblem[] {
  const out: SchemaProblem[] = [];
  if (!draft.problem) {
    check(draft.doc.contents as Node | null, schema, [], out, draft.text);
  }
  return out;
}

function check(node: Node | null, of: Schema, path: Path, out: SchemaProblem[], text: string): void {
  if (out.length >= most || node === null || isAlias(node)) {
    return; // an alias repeats what is checked where it stands
  }
  const report = (at: Node, message: string, level: "error" | "warning", field: Path = path) =>
    out.push({ line: lineAt(text, at.range?.[0] ?? 0), field: field.join("."), message, level });
  const types = of.anyOf?.map((a) => a.type) ?? (of.type ? [of.type] : []);
  const is = typeOf(node);
  const fits =
    is === "null" || types.length === 0 || types.includes(is) || (is === "integer" && types.includes("number"));
  if (!fits) {
    const quote = types.includes("string") && isScalar(node) ? ": put it in quotes" : "";
    report(node, `Enter ${typeText(of)} here, not ${typeText({ type: is })}${quote}.`, "error");
    return;
  }
  if (of.enum && isScalar(node) && !of.enum.includes(String(node.value))) {
    report(node, `Enter ${of.enum.join(" or ")}.`, "error");
  }
  if (isSeq(node) && of.items) {
    node.items.forEach((item, i) => check(item as Node, of.items as Schema, [...path, i], out, text));
  }
  if (isMap(node)) {
    for (const pair of node.items) {
      if (!isPair(pair) || !isScalar(pair.key)) {
        continue;
      }
      const name = String(pair.key.value);
      const part = below(of, [name]);
      if (part) {
        check(pair.value as Node | null, part, [...path, name], out, text);
      } else if (of.properties && path.length > 0 && path[0] !== "metadata" && name !== "<<") {
        report(pair.key, `${name} is not a field of ${path.join(".")}.`, "warning", [...path, name]);
      }
    }
  }
}

function typeOf(node: Node): string {
  if (isMap(node)) {
    return "object";
  }
  if (isSeq(node)) {
    return "array";
  }
  const value: unknown = isScalar(node) ? node.value : undefined;
  if (value === null || value === undefined) {
    return "null";
  }
  return Number.isInteger(value) || typeof value === "bigint" ? "integer" : typeof value;
}
