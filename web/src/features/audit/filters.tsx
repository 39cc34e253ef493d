import { ListFilter } from "lucide-react";
import { type ReactNode, useEffect, useId, useState } from "react";
import { cn } from "@/lib/cn";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Button } from "@/ui/button";
import { ScopeFilter, SearchBox } from "@/ui/list-filters";
import { Input, Select } from "@/ui/field";

// Filters are a search and what else leaves entries out. On narrow screens a button shows the rest.
export function Filters({
  label,
  filter,
  children,
}: {
  label: string;
  // filter is what counts now
  filter: Record<string, string>;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const on = Object.entries(filter).filter(([name, value]) => name !== "search" && value).length;
  return (
    <div className="flex flex-wrap items-end gap-2">
      <SearchBox label={label} />
      <Button className="md:hidden" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ListFilter size={14} aria-hidden />
        Filters{on > 0 && ` (${on})`}
      </Button>
      <div className={cn("md:contents", open ? "grid w-full grid-cols-2 items-end gap-2" : "max-md:hidden")}>
        <ScopeFilter />
        {children}
      </div>
    </div>
  );
}

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
        className={cn("text-base text-text", type === "datetime-local" ? "md:w-48" : "md:w-34")}
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

// Between is two times of the address, which stay beside each other where a line is full.
export function Between({ until }: { until: string }) {
  return (
    <div className="contents md:flex md:gap-2">
      <TextFilter name="from" label="From" type="datetime-local" />
      <TextFilter name="to" label={until} type="datetime-local" />
    </div>
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
        className="text-base text-text md:w-32"
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
