import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import { syncOptions, createNamespace } from "@/lib/app-options";
import { below, schema, type Schema, typeText } from "@/lib/schema";
import { placeAt } from "@/lib/yaml-place";

// assist completes fields and values of an Application, and explains the field under the pointer.
export function assist(): Extension[] {
  return [
    autocompletion({ override: [complete], icons: false, activateOnTyping: true }),
    hoverTooltip((view, pos) => {
      const line = view.state.doc.lineAt(pos);
      const place = placeAt(view.state.doc.toString(), line.to);
      const key = /^[\s-]*([\w.-]+|"[^"]*")\s*:/.exec(line.text);
      const start = key ? line.from + line.text.indexOf(key[1] ?? "") : 0;
      const name = key?.[1]?.replaceAll('"', "") ?? "";
      const of = key && pos <= start + name.length && below(schema, [...place.parent, name]);
      return of ? { pos: start, end: start + name.length, create: () => ({ dom: card(name, of) }) } : null;
    }),
  ];
}

function card(name: string, of: Schema): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-help";
  const head = dom.appendChild(document.createElement("strong"));
  head.textContent = `${name}: ${typeText(of)}`;
  if (of.description) {
    dom.appendChild(document.createElement("p")).textContent = of.description;
  }
  return dom;
}

export function complete(context: CompletionContext): CompletionResult | null {
  const place = placeAt(context.state.doc.toString(), context.pos);
  if (place.words || (place.typed === "" && !context.explicit && place.key === undefined && !place.item)) {
    return null;
  }
  const from = context.pos - place.typed.length;
  if (place.key !== undefined) {
    return values(below(schema, [...place.parent, place.key]), from);
  }
  const of = below(schema, place.parent);
  if (place.parent.at(-2) === "syncOptions") {
    const options = [createNamespace, ...syncOptions].flatMap((o) =>
      Object.keys(o.values).map((value) => ({ label: `${o.name}=${value}`, info: o.hint ?? o.label })),
    );
    return { from, options, validFor: /^[\w=]*$/ };
  }
  const options = Object.entries(of?.properties ?? {})
    .filter(([name]) => !place.siblings.includes(name) && name !== "status" && name !== "operation")
    .map(([name, part]) => ({
      label: name,
      detail: typeText(part),
      ...(part.description && { info: part.description }),
      apply: `${name}:${part.type === "object" || part.type === "array" ? "" : " "}`,
    }));
  return options.length > 0 ? { from, options, validFor: /^[\w.-]*$/ } : null;
}

function values(of: Schema | undefined, from: number): CompletionResult | null {
  const labels = of?.type === "boolean" ? ["true", "false"] : (of?.enum ?? []);
  return labels.length > 0 ? { from, options: labels.map((label) => ({ label })), validFor: /^[\w./]*$/ } : null;
}
