import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  syntaxHighlighting,
} from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { nonce } from "@/lib/csp";

const look = EditorView.theme({
  "&": { fontSize: "12.5px", backgroundColor: "var(--surface)", color: "var(--text)", height: "100%" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--idle-soft) 60%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent-soft)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--muted)" },
  ".cm-help, .cm-completionInfo": { maxWidth: "26rem", padding: "4px 8px", fontFamily: "var(--font-sans)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-changedLine": { backgroundColor: "color-mix(in srgb, var(--ok-soft) 70%, transparent) !important" },
  ".cm-deletedChunk": { backgroundColor: "color-mix(in srgb, var(--bad-soft) 70%, transparent) !important" },
  "&.cm-merge-a .cm-changedLine": {
    backgroundColor: "color-mix(in srgb, var(--bad-soft) 70%, transparent) !important",
  },
  // What differs inside a line has a ground of its own: a line below each letter is hard to read.
  "&.cm-merge-b .cm-changedText": { background: "color-mix(in srgb, var(--ok) 18%, transparent)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": {
    background: "color-mix(in srgb, var(--bad) 18%, transparent)",
  },
  ".cm-collapsedLines": { backgroundColor: "var(--idle-soft)", backgroundImage: "none", color: "var(--muted)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--busy)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--held)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.meta], color: "var(--accent)" },
]);

// setup is what every text is shown with.
export function setup(language: "yaml" | "text", editable: boolean, label: string): Extension[] {
  return [
    EditorView.cspNonce.of(nonce),
    lineNumbers(),
    foldGutter(),
    search({ top: true }),
    highlightSelectionMatches(),
    bracketMatching(),
    syntaxHighlighting(colours),
    syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
    EditorView.contentAttributes.of({
      "aria-label": label,
      ...(editable ? {} : { "aria-readonly": "true", tabindex: "0" }),
    }),
    ...(language === "yaml" ? [yaml()] : []),
    ...(editable
      ? [history(), highlightActiveLine(), keymap.of(historyKeymap)]
      : [EditorState.readOnly.of(true), EditorView.editable.of(false)]),
    keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap]),
    look,
  ];
}
