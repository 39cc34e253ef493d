import { X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { Button } from "./button";
import { Input } from "./field";

// Chips are several texts, such as the members of a group: written, or chosen of what there is, and taken out again.
export function Chips({
  label,
  hint,
  error,
  values,
  onChange,
  options = [],
  placeholder,
  disabled,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  values: string[];
  onChange: (values: string[]) => void;
  options?: string[];
  placeholder?: string;
  disabled?: boolean;
}) {
  const id = useId();
  const [text, setText] = useState("");
  const add = () => {
    const more = text.split(/[\s,]+/).filter((one) => one && !values.includes(one));
    if (more.length > 0) {
      onChange([...values, ...new Set(more)]);
    }
    setText("");
  };
  const key = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter" && text.trim()) {
      event.preventDefault();
      add();
    }
  };
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {!disabled && (
        <div className="flex gap-2">
          <Input
            id={id}
            list={`${id}-list`}
            value={text}
            placeholder={placeholder}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={error ? true : undefined}
            aria-describedby={`${id}-hint`}
            onChange={(e) => setText(e.target.value)}
            onKeyDown={key}
            onBlur={add}
          />
          <datalist id={`${id}-list`}>
            {options
              .filter((o) => !values.includes(o))
              .slice(0, 500)
              .map((o) => (
                <option key={o} value={o} />
              ))}
          </datalist>
          <Button onClick={add} disabled={!text.trim()}>
            Add
          </Button>
        </div>
      )}
      <p id={`${id}-hint`} className={error ? "mt-1 text-sm text-bad" : "mt-1 text-sm text-muted"}>
        {error || hint}
      </p>
      {values.length > 0 && (
        <ul aria-label={`${label}: ${values.length}`} className="mt-1.5 flex max-h-48 flex-wrap gap-1.5 overflow-auto">
          {values.map((value) => (
            <li
              key={value}
              className="inline-flex max-w-full items-center gap-1 rounded bg-idle-soft py-0.5 pr-0.5 pl-2 text-sm"
            >
              <span className="min-w-0 break-all">{value}</span>
              {disabled ? (
                <span className="w-1" />
              ) : (
                <button
                  type="button"
                  aria-label={`Remove ${value}`}
                  className="rounded p-0.5 hover:bg-line"
                  onClick={() => onChange(values.filter((v) => v !== value))}
                >
                  <X size={12} aria-hidden />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
