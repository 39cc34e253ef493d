import { Search as SearchIcon, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { cn } from "@/lib/cn";
import { useHotkeys } from "@/lib/hotkeys";
import { Input } from "@/ui/field";

const pause = 80; // how long typing rests before the list follows, in ms

// SearchBox follows what is typed; the address follows the first letter immediately, and those after it when typing rests.
export function SearchBox({
  text,
  onText,
  className,
}: {
  text: string;
  onText: (text: string) => void;
  className?: string;
}) {
  const [value, setValue] = useState(text);
  const field = useRef<HTMLInputElement>(null);
  // What the address was set to from here, from what it is now on: it may come to the later ones yet.
  const sent = useRef([text]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(onText);
  latest.current = onText;
  useEffect(() => {
    const at = sent.current.lastIndexOf(text);
    if (at >= 0) {
      sent.current = sent.current.slice(at);
      return;
    }
    // The user went back, or chose another view: what was typed here is old.
    sent.current = [text];
    setValue(text);
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useHotkeys([{ keys: "/", what: "Search in the list", run: () => field.current?.focus() }]);
  const send = (next: string) => {
    timer.current = undefined;
    if (next !== sent.current.at(-1)) {
      sent.current.push(next);
      latest.current(next);
    }
  };
  const type = (next: string, wait = pause) => {
    setValue(next);
    const rested = timer.current === undefined;
    clearTimeout(timer.current);
    if (rested || wait === 0) {
      send(next.trim());
    }
    timer.current = setTimeout(() => send(next.trim()), pause);
  };
  return (
    <div className={cn("relative min-w-40 flex-1 md:max-w-md", className)}>
      <SearchIcon size={14} aria-hidden className="pointer-events-none absolute top-2 left-2.5 text-muted" />
      <Input
        ref={field}
        type="text"
        role="searchbox"
        aria-label="Search applications"
        placeholder="Name, namespace, repository or cluster"
        className="px-8"
        maxLength={200}
        value={value}
        onChange={(e) => type(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === "Escape") {
            if (value) {
              type("", 0);
            } else {
              // Not nowhere: Tab goes on from the page.
              document.getElementById("main")?.focus({ preventScroll: true });
            }
          } else if (e.key === "ArrowDown") {
            e.preventDefault();
            document.querySelector<HTMLElement>('[data-testid="applications-table"] [tabindex="0"]')?.focus();
          }
        }}
      />
      {value && (
        <button
          type="button"
          aria-label="Clear the search"
          className="absolute top-1 right-1 flex size-6 items-center justify-center rounded text-muted hover:text-text"
          onClick={() => {
            type("", 0);
            field.current?.focus();
          }}
        >
          <X size={15} aria-hidden />
        </button>
      )}
    </div>
  );
}
