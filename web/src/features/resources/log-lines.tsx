import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDownToLine } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { cn } from "@/lib/cn";
import { count } from "@/lib/format";
import { Button } from "@/ui/button";
import { hue, type Line, marks } from "./log-buffer";

export const colours = ["text-busy", "text-ok", "text-warn", "text-held", "text-accent", "text-bad"];

export interface Look {
  wrap: boolean;
  colour: boolean;
}

// Marked is the text that is marked in each line.
interface Marked {
  text: string;
  ignoreCase: boolean;
}

export function Lines({ lines, look, marked, follow }: { lines: Line[]; look: Look; marked: Marked; follow: boolean }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [held, setHeld] = useState(false);
  // While the user reads further up, what is shown stays as it is.
  const still = useRef(lines);
  if (!held) {
    still.current = lines;
  }
  const shown = held ? still.current : lines;
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    overscan: 30,
    getItemKey: (i) => shown[i]?.seq ?? i,
  });
  useEffect(() => {
    if (follow && !held && shown.length > 0) {
      virtual.scrollToIndex(shown.length - 1, { align: "end" });
    }
  }, [shown, follow, held, virtual]);
  const scrolled = () => {
    const box = scroller.current as HTMLDivElement;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    if (atEnd && held) {
      setHeld(false);
    }
  };
  const hold = () => {
    const box = scroller.current as HTMLDivElement;
    if (follow && box.scrollHeight > box.clientHeight) {
      setHeld(true);
    }
  };
  return (
    <div className="relative min-h-60 flex-1">
      <div
        ref={scroller}
        role="log"
        aria-label="Log"
        aria-live="off"
        tabIndex={0}
        onScroll={scrolled}
        onWheel={(event) => event.deltaY < 0 && hold()}
        onTouchMove={hold}
        onKeyDown={(event) => ["ArrowUp", "PageUp", "Home"].includes(event.key) && hold()}
        className="absolute inset-0 overflow-auto rounded-md border bg-surface py-1 font-mono text-[0.78rem] leading-5"
      >
        <div className={cn("relative", !look.wrap && "w-max min-w-full")} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              style={{ transform: `translateY(${item.start}px)` }}
              className={cn(
                "absolute top-0 left-0 min-w-full px-2 hover:bg-idle-soft/60",
                look.wrap ? "w-full break-all whitespace-pre-wrap" : "whitespace-pre",
              )}
            >
              <OneLine line={shown[item.index] as Line} colour={look.colour} marked={marked} />
            </div>
          ))}
        </div>
      </div>
      {held && (
        <Button small look="primary" className="absolute right-4 bottom-3 shadow" onClick={() => setHeld(false)}>
          <ArrowDownToLine size={13} aria-hidden />
          {lines.length > 0 && (lines.at(-1)?.seq ?? 0) > (shown.at(-1)?.seq ?? 0)
            ? `${count((lines.at(-1)?.seq ?? 0) - (shown.at(-1)?.seq ?? 0))} new: go on`
            : "Go on"}
        </Button>
      )}
    </div>
  );
}

function OneLine({ line, colour, marked }: { line: Line; colour: boolean; marked: Marked }) {
  return (
    <>
      {line.source && (
        <span className={cn("mr-2 font-medium", colour ? colours[hue(line.source, colours.length)] : "text-muted")}>
          {line.source}
        </span>
      )}
      {line.at && <span className="mr-2 text-muted">{line.at.slice(0, 23).replace("T", " ")}</span>}
      {marks(line.text, marked.text, marked.ignoreCase).map(([text, hit], i) =>
        hit ? (
          <mark key={i} className="rounded bg-warn-soft text-warn">
            {text}
          </mark>
        ) : (
          <span key={i}>{text}</span>
        ),
      )}
    </>
  );
}
