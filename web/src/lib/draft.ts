import { Document, isAlias, isCollection, isMap, isNode, isScalar, isSeq, parseDocument, YAMLSeq } from "yaml";

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
  const value = plain(draft, path);
  return Array.isArray(value) ? value.map((v) => (typeof v === "object" ? JSON.stringify(v) : String(v))) : [];
}

// tools are the blocks of a source, of which it has one at most.
export const tools = ["helm", "kustomize", "directory", "plugin"] as const;
export type Tool = (typeof tools)[number];

// change writes a value at a path; undefined removes what is there, and the maps that are empty around it then. An entry of a list
// stays, also an empty one: it was added to be filled.
export function change(draft: Draft, path: Path, value: unknown): Draft {
  return edited(draft, (doc) => {
    open(doc, path);
    if (value === undefined) {
      doc.deleteIn(path);
      prune(doc, path.slice(0, -1));
    } else {
      put(doc, path, value);
    }
  });
}

// put writes a value as people would: what was empty before, written {} or "", says nothing of how the rest is to be written.
function put(doc: Document, path: Path, value: unknown): void {
  const around: unknown = doc.getIn(path.slice(0, -1), true);
  if (isCollection(around) && around.items.length === 0) {
    around.flow = false;
  }
  const before: unknown = doc.getIn(path, true);
  if (isScalar(before) && before.value === "") {
    before.type = "PLAIN";
  }
  doc.setIn(path, typeof value === "object" ? doc.createNode(value) : value);
  const node: unknown = doc.getIn(path, true);
  if (isScalar(node) && typeof value === "string" && value.includes("\n")) {
    node.type = "BLOCK_LITERAL";
  }
}

// setList writes a list of texts. Those that stay keep what is written beside them.
export function setList(draft: Draft, path: Path, list: string[]): Draft {
  if (list.length === 0) {
    return change(draft, path, undefined);
  }
  return edited(draft, (doc) => {
    open(doc, [...path, 0]);
    const seq: unknown = doc.getIn(path);
    if (!isSeq(seq)) {
      doc.setIn(path, doc.createNode(list));
      return;
    }
    const left = [...seq.items];
    seq.items = list.map((text) => {
      const found = left.findIndex((node) => isScalar(node) && String(node.value) === text);
      return found < 0 ? doc.createNode(text) : left.splice(found, 1)[0];
    });
  });
}

// setMap writes a map. What stays in it keeps its place and what is written beside it.
export function setMap(draft: Draft, path: Path, value: object | undefined): Draft {
  if (value === undefined || Object.keys(value).length === 0) {
    return change(draft, path, undefined);
  }
  return edited(draft, (doc) => {
    open(doc, [...path, ""]);
    merge(doc, path, value);
  });
}

function merge(doc: Document, path: Path, value: unknown): void {
  const node: unknown = doc.getIn(path, true);
  if (isMap(node) && isObject(value)) {
    for (const name of node.items.map((p) => String(isScalar(p.key) ? p.key.value : p.key))) {
      if (!(name in value)) {
        doc.deleteIn([...path, name]);
      }
    }
    for (const [name, part] of Object.entries(value)) {
      merge(doc, [...path, name], part);
    }
  } else if (!isNode(node) || JSON.stringify(node.toJS(doc)) !== JSON.stringify(value)) {
    doc.setIn(path, isObject(value) || Array.isArray(value) ? doc.createNode(value) : value);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// add puts an entry at the end of a list, and makes the list where there is none.
export const add = (draft: Draft, path: Path, value: unknown): Draft =>
  change(draft, [...path, countOf(draft, path)], value);

// drop takes an entry out of a list, and the list with its last one.
export function drop(draft: Draft, path: Path, at: number): Draft {
  return edited(draft, (doc) => {
    open(doc, [...path, at]);
    doc.deleteIn([...path, at]);
    const list: unknown = doc.getIn(path);
    if (isSeq(list) && list.items.length === 0) {
      doc.deleteIn(path);
      prune(doc, path.slice(0, -1));
    }
  });
}

function edited(draft: Draft, edit: (doc: Document) => void): Draft {
  const doc = parseDocument(draft.text);
  edit(doc);
  return read(doc.toString({ lineWidth: 0 }));
}

// open makes what is on the way to a path something that can be changed: a copy in the place of an alias, nothing in the place of a
// text.
function open(doc: Document, path: Path): void {
  for (let depth = 1; depth < path.length; depth++) {
    const at = path.slice(0, depth);
    const node: unknown = doc.getIn(at, true);
    if (isAlias(node)) {
      doc.setIn(at, doc.createNode(node.toJS(doc, { maxAliasCount: 100 }) as unknown));
    } else if (node !== undefined && !isCollection(node)) {
      doc.deleteIn(at);
      return;
    }
  }
}

function prune(doc: Document, from: Path): void {
  for (let up = from; up.length > 1 && typeof up.at(-1) !== "number"; up = up.slice(0, -1)) {
    const around: unknown = doc.getIn(up);
    if (!isMap(around) || around.items.length > 0) {
      return;
    }
    doc.deleteIn(up);
  }
}

// plain is what is at a path, as an object.
export function plain(draft: Pick<Draft, "doc">, path: Path): unknown {
  const value: unknown = draft.doc.getIn(path, true);
  return isNode(value) ? (value.toJS(draft.doc, { maxAliasCount: 100 }) as unknown) : value;
}

// countOf is how many entries a list has.
export function countOf(draft: Draft, path: Path): number {
  const value: unknown = draft.doc.getIn(path);
  return isSeq(value) ? value.items.length : 0;
}

// resource is the Application as an object.
export function resource(draft: Draft): Record<string, unknown> {
  return (draft.doc.toJS({ maxAliasCount: 100 }) ?? {}) as Record<string, unknown>;
}

// sourcePaths are where the sources are: an Application has one source, or a list of them.
export const sourcePaths = (draft: Draft): Path[] =>
  has(draft, ["spec", "sources"])
    ? Array.from({ length: countOf(draft, ["spec", "sources"]) }, (_, i) => ["spec", "sources", i])
    : [["spec", "source"]];

// addSource adds a source. The one that there is becomes the first of the list, with its comments.
export function addSource(draft: Draft): Draft {
  const listed = edited(draft, (doc) => {
    const spec: unknown = doc.get("spec");
    const pair = isMap(spec) ? spec.items.find((p) => isScalar(p.key) && p.key.value === "source") : undefined;
    if (pair && isScalar(pair.key) && !doc.hasIn(["spec", "sources"])) {
      const list = new YAMLSeq();
      list.items.push(pair.value);
      pair.key.value = "sources";
      pair.value = list;
    }
  });
  return add(listed, ["spec", "sources"], { repoURL: "", targetRevision: "HEAD", path: "" });
}

// dropSource removes one of several sources. The last that is left is the only source again.
export function dropSource(draft: Draft, at: number): Draft {
  return edited(drop(draft, ["spec", "sources"], at), (doc) => {
    const spec: unknown = doc.get("spec");
    const pair = isMap(spec) ? spec.items.find((p) => isScalar(p.key) && p.key.value === "sources") : undefined;
    if (
      pair &&
      isScalar(pair.key) &&
      isSeq(pair.value) &&
      pair.value.items.length === 1 &&
      !doc.hasIn(["spec", "source"])
    ) {
      pair.key.value = "source";
      pair.value = pair.value.items[0];
    }
  });
}

// toolOf is the tool whose block a source has.
export const toolOf = (draft: Draft, source: Path): Tool | undefined =>
  tools.find((tool) => has(draft, [...source, tool]));

// setTool gives a source the block of one tool, or of none: the files then decide.
export function setTool(draft: Draft, source: Path, tool: Tool | undefined): Draft {
  const without = tools
    .filter((other) => other !== tool && has(draft, [...source, other]))
    .reduce((left, other) => change(left, [...source, other], undefined), draft);
  return tool && !has(without, [...source, tool]) ? change(without, [...source, tool], {}) : without;
}

const syncOptions: Path = ["spec", "syncPolicy", "syncOptions"];

// setOption sets a sync option such as CreateNamespace=true, and keeps all others; "" removes it.
export function setOption(draft: Draft, name: string, value: string): Draft {
  const list = listOf(draft, syncOptions);
  const found = list.findIndex((option) => option.startsWith(`${name}=`));
  if (found < 0) {
    return value === "" ? draft : add(draft, syncOptions, `${name}=${value}`);
  }
  return value === "" ? drop(draft, syncOptions, found) : change(draft, [...syncOptions, found], `${name}=${value}`);
}

// option is the value of a sync option; "" where it is not set.
export const option = (draft: Draft, name: string): string =>
  listOf(draft, syncOptions)
    .find((text) => text.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? "";

export const isChart = (draft: Draft, source: Path): boolean => has(draft, [...source, "chart"]);

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
  for (const at of sourcePaths(draft)) {
    const text = (field: string) => get(draft, [...at, field]).trim() !== "";
    need(text("repoURL"), [...at, "repoURL"], "Enter the address of the repository.");
    if (isChart(draft, at)) {
      need(text("chart"), [...at, "chart"], "Enter the name of the chart.");
    } else if (!text("ref")) {
      need(text("path"), [...at, "path"], "Choose a directory. A dot stands for the whole repository.");
    }
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
      return lineAt(draft.text, range[0]);
    }
  }
  return 1;
}

// lineAt is the line of a place in a text, from 1.
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;
