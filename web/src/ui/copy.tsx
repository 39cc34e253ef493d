import { Check, Copy as CopyIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { cn } from "@/lib/cn";
import { IconButton } from "./button";

// copyText puts a text on the clipboard, also where the page is not served by HTTPS.
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector('[role="dialog"]') ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

// Copy copies a text.
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) {
      return undefined;
    }
    const timer = setTimeout(() => setDone(false), 1_500);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <IconButton
      small
      label={done ? "Copied" : label}
      className="size-6 text-muted"
      onClick={() => void copyText(text).then(() => setDone(true))}
    >
      {done ? <Check size={13} aria-hidden className="text-ok" /> : <CopyIcon size={13} aria-hidden />}
    </IconButton>
  );
}

// Snippet is a text to copy, such as a command.
export function Snippet({ text, label, className }: { text: string; label?: string; className?: string }) {
  return (
    // The button has room of its own: the text scrolls, and would go under it.
    <div className="flex items-start rounded-md border bg-ground">
      <pre
        tabIndex={0}
        aria-label={label ?? "Command"}
        className={cn("min-w-0 flex-1 overflow-auto p-3 font-mono text-sm", className)}
      >
        {text}
      </pre>
      <div className="p-1.5">
        <Copy text={text} label={label ? `Copy: ${label}` : "Copy"} />
      </div>
    </div>
  );
}
