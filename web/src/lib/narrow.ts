import { useSyncExternalStore } from "react";

// query is where Tailwind's sm begins.
const query = "(width < 40rem)";

function watch(watcher: () => void): () => void {
  const media = matchMedia(query);
  media.addEventListener("change", watcher);
  return () => media.removeEventListener("change", watcher);
}

// useNarrow is true on a screen as narrow as a phone.
export const useNarrow = (): boolean => useSyncExternalStore(watch, () => matchMedia(query).matches);
