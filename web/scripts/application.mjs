// Writes src/lib/application.gen.json, the JSON schema of an Application for forms and the editor: the structure is that of the
// CustomResourceDefinition, the texts are the comments of the Go types. With --check it only says whether that file is of today.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const types = new URL("../../api/argo/v1alpha1/", import.meta.url);
const target = new URL("../src/lib/application.gen.json", import.meta.url);

/** structs reads the fields of the Go types: their comments, and the type of each. */
function structs() {
  const out = {};
  for (const file of ["application", "source", "sync", "hydrator"]) {
    let type;
    let comment = [];
    for (const line of readFileSync(new URL(`${file}.go`, types), "utf8").split("\n")) {
      const text = /^\t\/\/ ?(.*)$/.exec(line)?.[1];
      const field = /^\t(\w+) +([\w.*[\]]+) +`json:"([^",]+)/.exec(line);
      const begins = /^type (\w+) struct \{/.exec(line);
      if (text !== undefined && !text.startsWith("+")) {
        comment.push(text);
      } else if (text === undefined) {
        if (begins) {
          type = out[begins[1]] = {};
        } else if (line === "}") {
          type = undefined;
        } else if (field && type) {
          type[field[3]] = {
            type: field[2].replace(/^.*[*\]]/, ""),
            text: said(field[1], field[3], comment.join(" ")),
          };
        }
        comment = [];
      }
    }
  }
  return out;
}

/** said is a comment as users read it: it begins with the name of the field in YAML. */
function said(goName, name, comment) {
  return comment.trim().replace(new RegExp(`^${goName}\\b`), name);
}

/** described is a part of the structure with the texts of its Go type. */
function described(node, type, all) {
  const { description: _, ...out } = node;
  if (node.properties) {
    out.properties = Object.fromEntries(
      Object.entries(node.properties).map(([name, part]) => {
        const field = all[type]?.[name];
        const below = described(part, field?.type, all);
        return [name, field?.text ? { description: field.text, ...below } : below];
      }),
    );
  }
  if (node.items) {
    out.items = described(node.items, type, all);
  }
  if (typeof node.additionalProperties === "object") {
    out.additionalProperties = described(node.additionalProperties, type, all);
  }
  return out;
}

const definition = parse(readFileSync(new URL("crd/applications.gen.yaml", types), "utf8"));
const { spec, operation } = definition.spec.versions[0].schema.openAPIV3Schema.properties;
const all = structs();
const texts = { type: "object", additionalProperties: { type: "string" } };
const schema = {
  type: "object",
  required: ["apiVersion", "kind", "metadata", "spec"],
  properties: {
    apiVersion: { type: "string", enum: ["argoproj.io/v1alpha1"] },
    kind: { type: "string", enum: ["Application"] },
    metadata: {
      type: "object",
      required: ["name"],
      "x-kubernetes-preserve-unknown-fields": true,
      properties: {
        name: { type: "string", description: "Name of the Application in its namespace. It never changes." },
        namespace: { type: "string", description: "Namespace of the Application, in which its agent looks for it." },
        labels: { ...texts, description: "slipway.io/service and slipway.io/environment link the Application." },
        annotations: { ...texts, description: "Annotations, such as links and subscriptions to notifications." },
        finalizers: {
          type: "array",
          items: { type: "string" },
          description: "resources-finalizer.argocd.argoproj.io deletes the objects with the Application.",
        },
      },
    },
    spec: described(spec, "ApplicationSpec", all),
    operation: described(operation, "Operation", all),
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

const text = `${JSON.stringify(schema)}\n`;
if (process.argv[2] === "--check") {
  if (readFileSync(target, "utf8") !== text) {
    console.error(`${fileURLToPath(target)} is not of today's types: run make generate`);
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
}
