import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { cn } from "@/lib/cn";
import { assist } from "./code-assist";
import { setup } from "./code-theme";

export interface Problem {
  // line counts from 1
  line: number;
  message: string;
  level?: "error" | "warning";
}

interface Props {
  value: string;
  label: string;
  language?: "yaml" | "text";
  onChange?: (value: string) => void;
  problems?: Problem[];
  // schema completes and explains the fields of what is written.
  schema?: "application";
  className?: string;
}

function marks(problems: Problem[]) {
  return linter(
    (view) =>
      problems.map((p): Diagnostic => {
        const line = view.state.doc.line(Math.min(Math.max(1, p.line), view.state.doc.lines));
        return { from: line.from, to: line.to, severity: p.level ?? "error", message: p.message };
      }),
    { delay: 0 },
  );
}

export default function CodeEditor({ value, label, language = "yaml", onChange, problems, schema, className }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const told = useRef(onChange);
  told.current = onChange;
  const lint = useRef(new Compartment());
  const editable = onChange !== undefined;
  useEffect(() => {
    const editor = new EditorView({
      parent: host.current as HTMLDivElement,
      state: EditorState.create({
        doc: value,
        extensions: [
          ...setup(language, editable, label),
          ...(editable ? [lintGutter(), lint.current.of([])] : []),
          ...(editable && schema ? assist() : []),
          EditorView.updateListener.of((u) => u.docChanged && told.current?.(u.state.doc.toString())),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the text is put in below, the rest makes another editor
  }, [language, editable, label, schema]);
  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== value) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    }
  }, [value]);
  useEffect(() => {
    if (editable) {
      view.current?.dispatch({ effects: lint.current.reconfigure(marks(problems ?? [])) });
    }
  }, [problems, editable]);
  return <div ref={host} className={cn("h-96 min-h-0 overflow-hidden rounded-md border", className)} />;
}
