import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { useCommands } from "@/lib/palette";
import { queryClient } from "@/lib/query";
import { one, type Search } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { pageQuery } from "./data";
import { type Filter, filterOf, searchOf, sortOf, defaultSort } from "./filter";

// useAddress reads the filter from the address and writes it there; what is not the filter stays.
export function useAddress() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const text = JSON.stringify([searchOf(filterOf(search)), sortOf(search)]);
  // The same filter is the same object, so that nothing is read again for a drawer that opens.
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- text says what of the address counts
  const { filter, sort } = useMemo(() => ({ filter: filterOf(search), sort: sortOf(search) }), [text]);
  const keep = { view: one(search, "view"), sort: one(search, "sort") };
  const go = (next: Search, replace = false) => void navigate({ to: "/applications", search: next as never, replace });
  return {
    filter,
    sort,
    view: one(search, "view"),
    job: one(search, "job"),
    setFilter: (next: Filter, replace = false) => {
      // The first rows are requested before the address has changed.
      void queryClient.prefetchQuery(pageQuery(filterOf(searchOf(next)), sort, 1));
      go({ ...keep, ...searchOf(next) }, replace);
    },
    setSort: (next: string) => go({ ...keep, ...searchOf(filter), sort: next === defaultSort ? "" : next }, true),
    setView: (next: string) => go({ ...keep, ...searchOf(filter), view: next }, true),
    setJob: (next: string) => go({ ...keep, ...searchOf(filter), job: next }),
  };
}

export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia("(max-width: 767px)").matches);
  useEffect(() => {
    const media = matchMedia("(max-width: 767px)");
    const look = () => setNarrow(media.matches);
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, []);
  return narrow;
}

// useListCommands offers what can be done with the list in the palette.
export function useListCommands(setFilter: (filter: Filter) => void, syncAll: () => void) {
  const missingSync = useMissing("application_sync");
  useCommands([
    {
      id: "applications.bad",
      group: "Applications",
      title: "Show what is degraded or missing",
      run: () => setFilter({ health: ["Degraded", "Missing"] }),
    },
    {
      id: "applications.drift",
      group: "Applications",
      title: "Show what is out of sync",
      run: () => setFilter({ sync: ["OutOfSync"] }),
    },
    {
      id: "applications.all.sync",
      group: "Applications",
      title: "Sync all that match the filter",
      ...(missingSync ? { disabled: missingSync } : {}),
      run: syncAll,
    },
  ]);
}

// useFacetsShown is whether the facets are beside the list, as they were left.
export function useFacetsShown(): [boolean, (to: boolean) => void] {
  const [shown, setShown] = useState(() => localStorage.getItem("slipway.facets.shown") !== "no");
  return [
    shown,
    (to) => {
      localStorage.setItem("slipway.facets.shown", to ? "yes" : "no");
      setShown(to);
    },
  ];
}
