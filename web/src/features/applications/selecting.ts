import { useCallback, useEffect, useRef, useState } from "react";
import { toastError } from "@/ui/toast";
import { rangeIds, type useList } from "./data";
import { flip, nothing, range, reach, type Selection } from "./selection";

// useSelecting is which rows are chosen, and what chooses them: one, or with shift all from the last one.
export function useSelecting(list: ReturnType<typeof useList>) {
  const [selection, setSelection] = useState<Selection>(nothing);
  useEffect(() => setSelection(nothing), [list.filter]);
  const rows = useRef(list);
  rows.current = list;
  const chosen = useRef(selection);
  chosen.current = selection;
  const onToggle = useCallback((index: number, shift: boolean) => {
    const { row, filter: f, sort: s } = rows.current;
    const app = row(index);
    const was = chosen.current;
    if (!app) {
      return;
    }
    if (!shift || was.anchor < 0) {
      setSelection(flip(was, app.id, index));
      return;
    }
    rangeIds(f, s, ...range(was, index)).then(
      (ids) => setSelection((now) => reach(now, ids, index)),
      (error: unknown) => toastError(error, "The rows in between could not be read"),
    );
  }, []);
  return { selection, setSelection, onToggle };
}
