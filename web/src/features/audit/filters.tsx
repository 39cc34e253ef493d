import { useEffect, useId, useState } from "react";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Input, Select } from "@/ui/field";

// TextFilter is a filter of the address that is written; it counts when it is left, or with Enter. Options are offered, and
// anything else can be written as well: what is gone is still known by its name.
export function TextFilter({
  name,
  label,
  type = "text",
  options = [],
}: {
  name: string;
  label: string;
  type?: string;
  options?: string[];
}) {
  const [search, set] = useAddress();
  const id = useId();
  const there = one(search, name);
  const [text, setText] = useState(there);
  useEffect(() => setText(there), [there]);
  const take = () => text !== there && set({ [name]: text.trim() });
  return (
    <label className="flex min-w-0 flex-col text-xs text-muted">
      {label}
      <Input
        type={type}
        value={text}
        {...(options.length > 0 ? { list: id } : {})}
        autoComplete="off"
        spellCheck={false}
        className="w-44 text-base text-text"
        onChange={(e) => {
          setText(e.target.value);
          if (type !== "text") {
            set({ [name]: e.target.value });
          }
        }}
        onBlur={take}
        onKeyDown={(e) => e.key === "Enter" && take()}
      />
      {options.length > 0 && (
        <datalist id={id}>
          {options.slice(0, 500).map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
}

// ChoiceFilter is a filter of the address that is chosen.
export function ChoiceFilter({ name, label, options }: { name: string; label: string; options: [string, string][] }) {
  const [search, set] = useAddress();
  return (
    <label className="flex min-w-0 flex-col text-xs text-muted">
      {label}
      <Select
        value={one(search, name)}
        onChange={(e) => set({ [name]: e.target.value })}
        className="w-36 text-base text-text"
      >
        <option value="">Any</option>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </Select>
    </label>
  );
}
