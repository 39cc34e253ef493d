import { useMissing } from "@/lib/session";
import { count, plural } from "@/lib/format";
import { Button } from "@/ui/button";
import { type Selection, sizeOf } from "./selection";

export type Doing = { action: "sync" | "refresh" | "hard-refresh" | "rollback"; selection: Selection };

export function SelectionBar({
  selection,
  total,
  onAll,
  onNone,
  onDo,
}: {
  selection: Selection;
  total: number;
  onAll: () => void;
  onNone: () => void;
  onDo: (action: Doing["action"]) => void;
}) {
  const missing = useMissing("application_sync");
  const size = sizeOf(selection, total);
  if (size === 0) {
    return null;
  }
  return (
    <div
      role="region"
      aria-label="Selection"
      className="flex flex-wrap items-center gap-2 border-t bg-accent-soft px-3 py-1.5"
    >
      <span role="status" className="font-medium">
        {selection.all && size === total
          ? `All ${plural(size, "application")} that match`
          : `${plural(size, "application")} selected`}
      </span>
      {size < total && (
        <Button small look="ghost" onClick={onAll}>
          Select all {count(total)} that match
        </Button>
      )}
      <Button small look="ghost" onClick={onNone}>
        Select none
      </Button>
      <div className="ml-auto flex flex-wrap gap-2">
        <Button small look="primary" why={missing} onClick={() => onDo("sync")}>
          Sync
        </Button>
        <Button small onClick={() => onDo("refresh")}>
          Refresh
        </Button>
        <Button small onClick={() => onDo("hard-refresh")}>
          Hard refresh
        </Button>
        <Button small why={missing} onClick={() => onDo("rollback")}>
          Roll back
        </Button>
      </div>
    </div>
  );
}
