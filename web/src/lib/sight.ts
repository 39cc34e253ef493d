import { type RefObject, useCallback, useLayoutEffect, useState } from "react";
import { flushSync } from "react-dom";

// Sight is which of many rows are on the page.
export interface Sight {
  first: number;
  last: number;
  // focus scrolls as far as needed for a row to be seen, and puts the focus on what has its data-index.
  focus: (index: number) => void;
}

interface Place {
  top: number;
  rows: number;
}

// inSight are the rows from the first to the last that are to be drawn; last is -1 where there are none.
export function inSight({ top, rows }: Place, count: number, more: number): { first: number; last: number } {
  const last = Math.min(count - 1, top + rows + more);
  return { first: Math.max(0, Math.min(top, count - rows) - more), last };
}

// stepOf is the row to begin from: rows come and go some at a time, so that most frames of scrolling change nothing on the page.
// It is at most half of more rows before the first in sight.
export function stepOf(top: number, more: number): number {
  const step = Math.max(1, Math.floor(more / 2));
  return top - (top % step);
}

// useSight says which of count rows of one height are in sight of the box that they scroll in, and some more at both ends. It
// keeps nothing for each row: a million are as cheap as ten.
export function useSight(box: RefObject<HTMLElement | null>, count: number, height: number, more: number): Sight {
  const [place, setPlace] = useState<Place>({ top: 0, rows: 16 });
  const look = useCallback(() => {
    const element = box.current;
    if (element) {
      const top = stepOf(Math.floor(element.scrollTop / height), more);
      const rows = Math.ceil(element.clientHeight / height);
      setPlace((was) => (was.top === top && was.rows === rows ? was : { top, rows }));
    }
  }, [box, height, more]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) {
      return undefined;
    }
    // In the same frame: a later one would show rows that are not there yet.
    const now = () => flushSync(look);
    look();
    element.addEventListener("scroll", now, { passive: true });
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => {
      element.removeEventListener("scroll", now);
      watch.disconnect();
    };
  }, [box, look]);
  const focus = useCallback(
    (index: number) => {
      const element = box.current;
      if (!element) {
        return;
      }
      // The head stays in sight, and covers what is above the rows.
      const head = Math.max(0, element.scrollHeight - count * height);
      const start = index * height;
      const end = start + height + head - element.clientHeight;
      element.scrollTop = Math.min(start, Math.max(end, element.scrollTop));
      // Immediately: a key that comes before the next frame goes on from this row.
      flushSync(look);
      element.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true });
    },
    [box, count, height, look],
  );
  return { ...inSight(place, count, more), focus };
}
