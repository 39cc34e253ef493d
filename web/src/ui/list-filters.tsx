import { Search as SearchIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { useAddress } from "@/lib/navigate";
import { scopeName, useScopes } from "@/lib/scopes";
import { one } from "@/lib/search";
import { Input, Select } from "./field";

// SearchBox filters by a text of the address, a moment after the last letter.
export function SearchBox({ name = "q", label = "Search" }: { name?: string; label?: string }) {
  const [search, set] = useAddress();
  const there = one(search, name);
  const [text, setText] = useState(there);
  useEffect(() => setText(there), [there]);
  useEffect(() => {
    if (text === there) {
      return undefined;
    }
    const timer = setTimeout(() => set({ [name]: text.trim() }), 120);
    return () => clearTimeout(timer);
  }, [text, there, name, set]);
  return (
    <div className="relative min-w-40 flex-1 sm:max-w-xs">
      <SearchIcon size={14} aria-hidden className="absolute top-2.5 left-2.5 text-muted" />
      <Input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(e) => setText(e.target.value)}
        className="pl-8"
      />
    </div>
  );
}

// ScopeFilter keeps what is of a scope or inside it.
export function ScopeFilter() {
  const [search, set] = useAddress();
  const scopes = useScopes();
  const value = one(search, "scope");
  if (scopes.length < 2 && !value) {
    return null;
  }
  return (
    <Select
      aria-label="Scope"
      value={value}
      onChange={(e) => set({ scope: e.target.value })}
      className="w-auto max-w-full"
    >
      <option value="">All scopes</option>
      {[...new Set([...scopes.slice(1), ...(value ? [value] : [])])].map((scope) => (
        <option key={scope} value={scope}>
          {scopeName(scope)}
        </option>
      ))}
    </Select>
  );
}
