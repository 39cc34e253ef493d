import { ChevronRight } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { cn } from "@/lib/cn";

// Fold is a part of a form that most users do not need: closed at first, with the number of things that are set in it.
export function Fold({
  title,
  set = 0,
  wrong,
  children,
}: {
  title: string;
  set?: number;
  // wrong opens it: what is wrong in it must be seen.
  wrong?: boolean;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const shown = open || Boolean(wrong);
  return (
    <div className="rounded-md border">
      <button
        type="button"
        aria-expanded={shown}
        aria-controls={id}
        onClick={() => setOpen(!shown)}
        className="flex w-full items-center gap-1.5 rounded-md px-2 py-1.5 text-left font-medium hover:bg-idle-soft"
      >
        <ChevronRight size={14} aria-hidden className={cn("shrink-0 transition-transform", shown && "rotate-90")} />
        <span className="flex-1">{title}</span>
        {set > 0 && <span className="text-sm font-normal text-muted">{set} set</span>}
      </button>
      <div id={id} className={cn(shown && "space-y-3 border-t p-3")}>
        {shown && children}
      </div>
    </div>
  );
}
