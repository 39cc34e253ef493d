import { type FormEvent, type ReactNode, useId, useState } from "react";
import { ApiError } from "@/api/client";
import { scopeName, useScopes } from "@/lib/scopes";
import { Button } from "./button";
import { Drawer } from "./dialog";
import { Field, focusWrong, Select } from "./field";
import { ErrorNote } from "./states";

// Wrong is what the server found wrong with a field, by the name that it has in the API.
export type Wrong = (field: string) => string | undefined;

export function wrongOf(error: unknown): Wrong {
  return (field) =>
    error instanceof ApiError
      ? error.fields.find((f) => f.field === `body.${field}` || f.field === field)?.message
      : undefined;
}

// FormDrawer is a form beside the page that it is about. submit throws what went wrong, and it is shown here.
export function FormDrawer({
  open,
  onClose,
  title,
  description,
  action,
  why,
  submit,
  onReload,
  footer,
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  description?: ReactNode;
  // action is the word on the button; without one it is only to look at.
  action?: string | undefined;
  why?: string | undefined;
  submit?: () => Promise<unknown>;
  // onReload reads it again, if another user has changed it in the meantime.
  onReload?: (() => void) | undefined;
  footer?: ReactNode;
  children: (wrong: Wrong) => ReactNode;
}) {
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (event: FormEvent<HTMLFormElement>) => {
    const form = event.currentTarget;
    event.preventDefault();
    event.stopPropagation();
    if (why || busy || !submit) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await submit();
    } catch (problem) {
      setError(problem);
      focusWrong(form);
    } finally {
      setBusy(false);
    }
  };
  const conflict = error instanceof ApiError && error.status === 409 && onReload;
  return (
    <Drawer
      open={open}
      onClose={onClose}
      title={title}
      description={description}
      className="max-w-xl"
      footer={
        <>
          {footer}
          <span className="flex-1" />
          <Button onClick={onClose}>{action ? "Cancel" : "Close"}</Button>
          {action && (
            <Button type="submit" form={id} look="primary" busy={busy} why={why}>
              {action}
            </Button>
          )}
        </>
      }
    >
      <form id={id} className="space-y-4 p-4" onSubmit={(event) => void run(event)} noValidate={false}>
        {children(wrongOf(error))}
        {error != null && (
          <div className="space-y-2">
            <ErrorNote error={error} />
            {conflict && (
              <Button
                onClick={() => {
                  setError(null);
                  onReload();
                }}
              >
                Load it again
              </Button>
            )}
          </div>
        )}
      </form>
    </Drawer>
  );
}

// ScopeField chooses where something belongs; it never changes afterwards.
export function ScopeField({
  value,
  onChange,
  fixed,
  error,
  hint,
  only,
}: {
  value: string;
  onChange: (scope: string) => void;
  // fixed is of something that is there already
  fixed?: boolean;
  error?: string | undefined;
  hint?: ReactNode;
  // only are the scopes that may be chosen
  only?: (scope: string) => boolean;
}) {
  const scopes = useScopes();
  const all = [...new Set([...scopes.filter((s) => only?.(s) ?? true), value])];
  return (
    <Field
      label="Scope"
      hint={hint ?? (fixed ? "The scope never changes." : "The scope of the object. It never changes.")}
      error={error}
    >
      <Select value={value} disabled={fixed} onChange={(e) => onChange(e.target.value)}>
        {all.map((scope) => (
          <option key={scope} value={scope}>
            {scopeName(scope)}
          </option>
        ))}
      </Select>
    </Field>
  );
}
