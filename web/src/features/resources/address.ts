import { queryOptions, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { client, data } from "@/api/client";
import type { Search } from "@/lib/search";
import type { Address } from "./model";

// useAddress is the application that the page is of.
export function useAddress(): Address {
  const { agent = "", namespace = "", name = "" } = useParams({ strict: false });
  return { agent, namespace, name };
}

export type SetSearch = (to: Search, keep?: "push") => void;

// usePlace is what follows "?" of the address, and changes some of it. Going back leads to what was open before, not through
// each letter of a filter.
export function usePlace(): [Search, SetSearch] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const set = useCallback<SetSearch>(
    (to, keep) =>
      void navigate({
        to: ".",
        search: (before: Search) => ({ ...before, ...to }),
        replace: keep !== "push",
        resetScroll: false,
      } as never),
    [navigate],
  );
  return [search, set];
}

export const applicationQuery = ({ agent, namespace, name }: Address) =>
  queryOptions({
    queryKey: ["application", "get", agent, namespace, name],
    queryFn: () =>
      data(
        client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}", {
          params: { path: { agent, namespace, name } },
        }),
      ),
  });

// useScope is where permissions of the application are looked for; undefined while it is not known.
export function useScope(app: Address): string | undefined {
  return useQuery(applicationQuery(app)).data?.scope;
}
