import { useEffect, useState } from "react";
import type { Event } from "@/api/event";
import { events } from "./events";
import { queryClient } from "./query";
import { rereading } from "./reread";

const quiet = 300; // ms for which news are gathered before a list is read again

interface News {
  // type is that of the events for a new line, key that of the list.
  type: string;
  key: readonly unknown[];
  // far is true while the user reads far down: the list does not move, but shows the number of new lines.
  far: boolean;
  // each is called for each event.
  each?: (event: Event) => void;
}

// useNews reads a list of what happened again when there is more of it. It returns how many lines are not shown, and what
// to call when they are.
export function useNews({ type, key, far, each }: News): [number, () => void] {
  const [news, setNews] = useState(0);
  const list = JSON.stringify(key);
  useEffect(() => {
    const reread = rereading(queryClient, { queryKey: JSON.parse(list) as unknown[] }, quiet);
    const stop = events.listen((event) => {
      if (event.type !== type) {
        return;
      }
      each?.(event);
      if (far) {
        setNews((n) => n + 1);
      } else {
        reread.soon();
      }
    });
    return () => {
      stop();
      reread.stop();
    };
  }, [type, list, far, each]);
  return [news, () => setNews(0)];
}
