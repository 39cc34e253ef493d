import { useEffect, useRef } from "react";

// Hotkey is a key that does something anywhere on the page: "mod+k" (Ctrl or Command), "?" or "g a" (one after the other).
export interface Hotkey {
  keys: string;
  // what it does, for the list of keys
  what: string;
  run: () => void;
}

const registered = new Set<Hotkey>();

export const hotkeys = (): Hotkey[] => [...registered];

let before = "";
let beforeAt = 0;

function name(event: KeyboardEvent): string {
  return (
    (event.ctrlKey || event.metaKey ? "mod+" : "") + (event.key.length === 1 ? event.key.toLowerCase() : event.key)
  );
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) {
    return;
  }
  const now = name(event);
  if ((typing(event.target) || document.querySelector('[role="dialog"]')) && !now.startsWith("mod+")) {
    return;
  }
  const both = Date.now() - beforeAt < 1_000 ? `${before} ${now}` : now;
  const found =
    [...registered].reverse().find((h) => h.keys === both) ?? [...registered].reverse().find((h) => h.keys === now);
  before = now;
  beforeAt = Date.now();
  if (found) {
    event.preventDefault();
    before = "";
    found.run();
  }
}

// useHotkeys has keys do something while the component is shown. Keys count nowhere in fields and dialogs, but for mod+.
export function useHotkeys(keys: Hotkey[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  const names = keys.map((k) => k.keys).join("|");
  useEffect(() => {
    if (registered.size === 0) {
      addEventListener("keydown", press);
    }
    const mine = latest.current.map((key, i) => ({ ...key, run: () => latest.current[i]?.run() }));
    for (const key of mine) {
      registered.add(key);
    }
    return () => {
      for (const key of mine) {
        registered.delete(key);
      }
      if (registered.size === 0) {
        removeEventListener("keydown", press);
      }
    };
  }, [names]);
}
