import { Document, isMap, parseDocument } from "yaml";

// A draft is the text of an Application. The form and the YAML beside it are two views of this one text, so that comments and
// fields that the form does not know survive whatever is changed in the form.

export type Path = (string | number)[];

export const begin = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: ""
  namespace: argocd
spec:
  project: default
  source:
    repoURL: ""
    targetRevision: HEAD
    path: ""
  destination:
    server: https://kubernetes.default.svc
    namespace: ""
`;

export interface Draft {
  text: string;
  doc: Document;
  // problem is what is wrong with the YAML; the form cannot be used until it is fixed.
  problem?: { line: number; message: string };
}

// read makes a draft of a text. Aliases are limited, so that a small text cannot become a large one.
export function read(text: string): Draft {
  const doc = parseDocument(text, { prettyErrors: true });
  const error = doc.errors[0];
  if (error) {
    return {
      text,
      doc,
      problem: { line: error.linePos?.[0].line ?? 1, message: error.message.split("\n")[0] ?? "Invalid YAML." },
    };
  }
  if (!isMap(doc.contents)) {
    return {
      text,
      doc,
      problem: { line: 1, message: "Not an Application: begin with apiVersion, kind, metadata and spec." },
    };
  }
  return { text, doc };
}

// get is the text at a path; "" for none.
export function get(draft: Pick<Draft, "doc">, path: Path): string {
  const value: unknown = draft.doc.getIn(path);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

// standing is those of the problems found in a resource whose fields have in the draft what they had there: a field that was
// changed since is not wrong until it is looked at again.
export function standing<P extends { field: string }>(found: P[], resource: unknown, draft: Draft): P[] {
  const checked = { doc: new Document(resource) };
  return found.filter(({ field }) => get(checked, field.split(".")) === get(draft, field.split(".")));
}

export const has = (draft: Draft, path: Path): boolean => draft.doc.hasIn(path);

// listOf is the texts at a path.
export function listOf(draft: Draft, path: Path): string[] {
  const value: unknown = draft.doc.getIn(path);
  const plain: unknown =
    value && typeof value === "object" && "toJSON" in value ? (value as { toJSON: () => unknown }).toJSON() : value;
  return Array.isArray(plain) ? plain.map(String) : [];
}

// change writes a value at a path; undefined removes what is there, and what then is empty around it.
export function change(draft: Draft, path: Path, value: unknown): Draft {
  const doc = parseDocument(draft.text);
  if (value === undefined) {
    doc.deleteIn(path);
    for (let up = path.slice(0, -1); up.length > 1; up = up.slice(0, -1)) {
      const around: unknown = doc.getIn(up);
      if (isMap(around) && around.items.length === 0) {
        doc.deleteIn(up);
      }
    }
  } else {
    doc.setIn(path, typeof value === "object" ? doc.createNode(value) : value);
  }
  return read(doc.toString({ lineWidth: 0 }));
}

// resource is the Application as an object.
export function resource(draft: Draft): Record<string, unknown> {
  return (draft.doc.toJS({ maxAliasCount: 100 }) ?? {}) as Record<string, unknown>;
}

// sourcePath is where the first source is: an Application has one source, or a list of them.
export const sourcePath = (draft: Draft): Path =>
  has(draft, ["spec", "sources"]) ? ["spec", "sources", 0] : ["spec", "source"];

// setOption sets a sync option such as CreateNamespace=true, and keeps all others.
export function setOption(draft: Draft, name: string, on: boolean): Draft {
  const path = ["spec", "syncPolicy", "syncOptions"];
  const rest = listOf(draft, path).filter((option) => !option.startsWith(`${name}=`));
  const next = on ? [...rest, `${name}=true`] : rest;
  return change(draft, path, next.length > 0 ? next : undefined);
}

export const option = (draft: Draft, name: string): boolean =>
  listOf(draft, ["spec", "syncPolicy", "syncOptions"]).includes(`${name}=true`);

// kindOfSource is what the address of a repository stands for.
export const isChart = (draft: Draft): boolean => has(draft, [...sourcePath(draft), "chart"]);

// lacking is what an Application needs to be of use and a draft does not say yet, by field, in the order of the form.
export function lacking(draft: Draft): { field: string; message: string; level: "error" }[] {
  if (draft.problem) {
    return [];
  }
  const out: { field: string; message: string; level: "error" }[] = [];
  const need = (ok: boolean, path: Path, message: string) =>
    !ok && out.push({ field: path.join("."), message, level: "error" });
  const name: Path = ["metadata", "name"];
  need(
    /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(get(draft, name)),
    name,
    "Enter a name of lower-case letters, digits, hyphens and dots.",
  );
  if (has(draft, ["spec", "sourceHydrator"])) {
    return out;
  }
  const at = sourcePath(draft);
  const text = (field: string) => get(draft, [...at, field]).trim() !== "";
  need(text("repoURL"), [...at, "repoURL"], "Enter the address of the repository.");
  if (isChart(draft)) {
    need(text("chart"), [...at, "chart"], "Enter the name of the chart.");
  } else if (!has(draft, [...at, "ref"])) {
    need(text("path"), [...at, "path"], "Choose a directory. A dot stands for the whole repository.");
  }
  return out;
}

// lineOf is in which line of the text a field is, from 1; that of what is around it where it is missing.
export function lineOf(draft: Draft, field: string): number {
  const path = field
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  for (let at: Path = path; at.length > 0; at = at.slice(0, -1)) {
    const node: unknown = draft.doc.getIn(at, true);
    const range =
      node && typeof node === "object" && "range" in node ? (node.range as [number] | undefined) : undefined;
    if (range) {
      return draft.text.slice(0, range[0]).split("\n").length;
    }
  }
  return 1;
}
