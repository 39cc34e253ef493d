import { useCallback, useMemo, useSyncExternalStore } from "react";
import { useSession } from "./session";

// Favourites are ids of applications. This browser keeps them, for each person who signs in: the server has no place for them.

const most = 50;
const watchers = new Set<() => void>();
const keyOf = (person: string): string => `slipway.favourites.${person}`;

// parse reads what was kept; what is no list of ids is none.
export function parse(text: string | null): string[] {
  try {
    const kept: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(kept) ? kept.filter((id): id is string => typeof id === "string").slice(0, most) : [];
  } catch {
    return [];
  }
}

// toggled is the list with an id, or without it; the last one comes first, and beyond 50 the oldest goes.
export const toggled = (ids: readonly string[], id: string): string[] =>
  ids.includes(id) ? ids.filter((other) => other !== id) : [id, ...ids].slice(0, most);

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  addEventListener("storage", watcher);
  return () => {
    watchers.delete(watcher);
    removeEventListener("storage", watcher);
  };
}

export interface Favourites {
  ids: readonly string[];
  has: (id: string) => boolean;
  toggle: (id: string) => void;
}

// useFavourites are those of the person who is signed in.
export function useFavourites(): Favourites {
  const person = useSession()?.principal.id ?? "";
  const text = useSyncExternalStore(watch, () => localStorage.getItem(keyOf(person)));
  const ids = useMemo(() => parse(text), [text]);
  const toggle = useCallback(
    (id: string) => {
      localStorage.setItem(keyOf(person), JSON.stringify(toggled(parse(localStorage.getItem(keyOf(person))), id)));
      for (const watcher of watchers) {
        watcher();
      }
    },
    [person],
  );
  const has = useCallback((id: string) => ids.includes(id), [ids]);
  return useMemo(() => ({ ids, has, toggle }), [ids, has, toggle]);
}
