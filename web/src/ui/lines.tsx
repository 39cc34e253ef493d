import { type ComponentProps, useEffect, useRef, useState } from "react";
import { cn } from "@/lib/cn";
import { Textarea } from "./field";

// Lines keeps what is being written, also while it has no meaning yet. Without focus, it follows the value.
export function Lines({
  value,
  onChange,
  className,
  ...rest
}: { value: string; onChange: (text: string) => void } & Omit<ComponentProps<"textarea">, "value" | "onChange">) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (document.activeElement !== field.current) {
      setText(value);
    }
  }, [value]);
  return (
    <Textarea
      {...rest}
      ref={field}
      value={text}
      className={cn("font-mono text-sm", className)}
      spellCheck={false}
      onBlur={() => setText(value)}
      onChange={(e) => {
        setText(e.target.value);
        onChange(e.target.value);
      }}
    />
  );
}
