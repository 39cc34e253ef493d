import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { cn } from "@/lib/cn";
import { setup } from "./code-theme";

interface Props {
  // before is on the left or struck out, after on the right.
  before: string;
  after: string;
  label: string;
  language?: "yaml" | "text";
  unified?: boolean;
  className?: string;
}

const collapse = { margin: 3, minSize: 6 };

export default function CodeMerge({ before, after, label, language = "yaml", unified, className }: Props) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = host.current as HTMLDivElement;
    if (unified) {
      const view = new EditorView({
        parent,
        doc: after,
        extensions: [
          ...setup(language, false, label),
          unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: collapse, gutter: true }),
        ],
      });
      return () => view.destroy();
    }
    const view = new MergeView({
      parent,
      a: { doc: before, extensions: setup(language, false, `${label}: before`) },
      b: { doc: after, extensions: setup(language, false, `${label}: after`) },
      collapseUnchanged: collapse,
      gutter: true,
    });
    return () => view.destroy();
  }, [before, after, label, language, unified]);
  return <div ref={host} className={cn("max-h-[70vh] min-h-24 overflow-auto rounded-md border", className)} />;
}
