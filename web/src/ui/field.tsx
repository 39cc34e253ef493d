import { type ComponentProps, type ReactElement, type ReactNode, cloneElement, useId } from "react";
import { cn } from "@/lib/cn";

const box =
  "w-full min-w-0 rounded-md border border-strong bg-surface px-2.5 text-text disabled:cursor-not-allowed disabled:opacity-60 aria-invalid:border-bad";

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input {...rest} className={cn(box, "h-8", className)} />;
}

export function Textarea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea {...rest} className={cn(box, "min-h-20 py-1.5", className)} />;
}

export function Select({ className, children, ...rest }: ComponentProps<"select">) {
  return (
    <select {...rest} className={cn(box, "h-8 pr-1", className)}>
      {children}
    </select>
  );
}

export function Checkbox({
  label,
  hint,
  className,
  ...rest
}: Omit<ComponentProps<"input">, "type"> & { label: ReactNode; hint?: ReactNode }) {
  return (
    <label className={cn("flex items-start gap-2", rest.disabled && "opacity-60", className)}>
      <input {...rest} type="checkbox" className="mt-0.5 size-4 shrink-0 accent-accent" />
      <span>
        {label}
        {hint && <span className="block text-sm text-muted">{hint}</span>}
      </span>
    </label>
  );
}

// focusWrong puts the focus into the first field of a form that is shown as wrong, once it is.
export function focusWrong(form: ParentNode | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
}

type Control = ReactElement<{ id?: string; "aria-describedby"?: string; "aria-invalid"?: boolean }>;

// Field is a control with its name, what to write, and what is wrong with what was written.
export function Field({
  label,
  hint,
  error,
  className,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  className?: string;
  children: Control;
}) {
  const id = useId();
  return (
    <div className={cn("min-w-0", className)}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {cloneElement(children, {
        id,
        ...(hint || error ? { "aria-describedby": `${id}-hint` } : {}),
        ...(error ? { "aria-invalid": true } : {}),
      })}
      {(hint || error) && (
        <p id={`${id}-hint`} className={cn("mt-1 text-sm", error ? "text-bad" : "text-muted")}>
          {error || hint}
        </p>
      )}
    </div>
  );
}
