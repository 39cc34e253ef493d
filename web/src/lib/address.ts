import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Search } from "./search";

// useAddress is what follows "?" of the address, and what changes it: undefined and "" remove a name. With replace the change
// is no step to go back to, as for each letter of a search.
export function useAddress(): [Search, (change: Search, replace?: boolean) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (to: Search, replace = false) =>
      void navigate({ to: ".", search: (before: Search) => ({ ...before, ...to }), replace }),
    [navigate],
  );
  return [search, change];
}
