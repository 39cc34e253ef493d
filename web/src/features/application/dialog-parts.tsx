import { sentence } from "@/lib/format";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Field, Input } from "@/ui/field";
import { Failed, Loading } from "@/ui/states";
import { keyOf, type Named, placeOf } from "./resource";

// Reason is the reason of an action, for later readers.
export function Reason({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Field
      label="Reason"
      hint="For later readers. The audit log stores it; for a sync, a rollback or a restore, the ledger does too."
    >
      <Input value={value} maxLength={1000} onChange={(e) => onChange(e.target.value)} />
    </Field>
  );
}

// Objects names objects; beyond some it scrolls.
export function Objects({ objects, label }: { objects: Named[]; label: string }) {
  return (
    <ul
      aria-label={label}
      tabIndex={0}
      className="max-h-56 overflow-auto rounded-md border bg-ground p-2 font-mono text-sm"
    >
      {objects.map((o) => (
        <li key={keyOf(o)} className="break-all">
          {placeOf(o)}
        </li>
      ))}
    </ul>
  );
}

// Warnings are what could not be looked at, or is not in force.
export function Warnings({ list }: { list: string[] | null | undefined }) {
  if (!list?.length) {
    return null;
  }
  return (
    <ul className="space-y-1 rounded-md bg-warn-soft px-3 py-2 text-sm">
      {list.map((w) => (
        <li key={w} className="break-words">
          {sentence(w)}
        </li>
      ))}
    </ul>
  );
}

// Trying is a dialog whose content is being asked for.
export function Trying({
  title,
  error,
  retry,
  onClose,
}: {
  title: string;
  error: unknown;
  retry: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog open onClose={onClose} title={title} footer={<Button onClick={onClose}>Cancel</Button>}>
      {error != null ? <Failed error={error} retry={retry} /> : <Loading rows={3} label="Asking the agent" />}
    </Dialog>
  );
}
