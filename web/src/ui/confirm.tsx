import { type ReactNode, useState } from "react";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { ErrorNote } from "./states";
import { Field, Input } from "./field";

// Confirm asks before something goes that does not come back. children name what goes.
export function Confirm({
  open,
  onClose,
  title,
  action,
  danger = true,
  typed,
  onConfirm,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  // action is the word on the button: "Delete shop".
  action: string;
  danger?: boolean;
  // typed is a name that has to be written before.
  typed?: string;
  onConfirm: () => Promise<unknown>;
  children?: ReactNode;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [text, setText] = useState("");
  const close = () => {
    setError(null);
    setText("");
    onClose();
  };
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            look={danger ? "danger" : "primary"}
            busy={busy}
            disabled={typed !== undefined && text !== typed}
            onClick={() => void run()}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        {children}
        {typed !== undefined && (
          <Field label={`Enter ${typed} to continue`}>
            <Input value={text} onChange={(e) => setText(e.target.value)} autoComplete="off" spellCheck={false} />
          </Field>
        )}
        {error != null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
