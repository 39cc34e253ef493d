import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useCallback, useEffect, useSyncExternalStore } from "react";
import { IconButton } from "./button";
import { textOf } from "./states";
import { ApiError } from "@/api/client";

interface Toast {
  id: number;
  text: string;
  detail?: string | undefined;
  bad: boolean;
}

let list: Toast[] = [];
let next = 1;
const watchers = new Set<() => void>();

function set(to: Toast[]): void {
  list = to;
  for (const watcher of watchers) {
    watcher();
  }
}

const drop = (id: number): void => set(list.filter((t) => t.id !== id));

// toast says that something was done.
export function toast(text: string, detail?: string): void {
  set([...list.slice(-3), { id: next++, text, detail, bad: false }]);
}

// toastError says that something could not be done, and stays until it is closed.
export function toastError(error: unknown, what?: string): void {
  const id = error instanceof ApiError && error.requestId ? `Request ${error.requestId}` : undefined;
  set([
    ...list.slice(-3),
    { id: next++, text: what ? `${what}: ${textOf(error)}` : textOf(error), detail: id, bad: true },
  ]);
}

function One({ toast: t }: { toast: Toast }) {
  useEffect(() => {
    if (t.bad) {
      return undefined;
    }
    const timer = setTimeout(() => drop(t.id), 5_000);
    return () => clearTimeout(timer);
  }, [t]);
  return (
    <li className="animate-appear flex items-start gap-2 rounded-md border bg-raised px-3 py-2 shadow-xl">
      {t.bad ? (
        <CircleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      ) : (
        <CircleCheck size={16} aria-hidden className="mt-0.5 shrink-0 text-ok" />
      )}
      <div className="min-w-0 flex-1 break-words">
        {t.text}
        {t.detail && <div className="text-sm text-muted">{t.detail}</div>}
      </div>
      <IconButton small label="Close" className="size-6" onClick={() => drop(t.id)}>
        <X size={13} aria-hidden />
      </IconButton>
    </li>
  );
}

// measure keeps the height of what is shown in a variable of the page, by which pages, drawers and dialogs end above it: nothing
// that can be pressed is below a message.
function measure(box: HTMLElement): () => void {
  const page = document.documentElement;
  const keep = () => page.style.setProperty("--toasts", `${box.offsetHeight}px`);
  const watch = new ResizeObserver(keep);
  watch.observe(box);
  keep();
  return () => {
    watch.disconnect();
    page.style.removeProperty("--toasts");
  };
}

// Toasts shows the last messages, at the end of the page.
export function Toasts() {
  const box = useCallback((element: HTMLElement | null) => (element ? measure(element) : undefined), []);
  const toasts = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => list,
  );
  return (
    // A list keeps its role for its lines: the live region is around it.
    <div
      ref={box}
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-0 z-50 flex justify-end"
    >
      {toasts.length > 0 && (
        <ul data-toasts className="pointer-events-auto m-3 max-h-[40dvh] w-[min(26rem,100%)] space-y-2 overflow-y-auto">
          {toasts.map((t) => (
            <One key={t.id} toast={t} />
          ))}
        </ul>
      )}
    </div>
  );
}
