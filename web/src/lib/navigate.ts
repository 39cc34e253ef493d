import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Search } from "./search";

export type SetAddress = (change: Search, replace?: boolean) => void;

// useAddress is what follows "?" of the page's address, and how to change it. What is set to "" or undefined goes away. A
// change of a filter takes the place of the address before, so that "back" leads to another page and not through every letter;
// with false for replace, "back" leads to what was before.
export function useAddress(): [Search, SetAddress] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const set = useCallback<SetAddress>(
    (change, replace = true) =>
      void navigate({
        to: ".",
        search: ((before: Search) =>
          Object.fromEntries(
            Object.entries({ ...before, ...change }).filter(([, v]) => v !== "" && v !== undefined),
          )) as never,
        replace,
        resetScroll: false,
      }),
    [navigate],
  );
  return [search, set];
}
