import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { readJSON, send } from "@/api/client";
import { useMissing } from "./session";

// Entity is what has a name, a scope and a version: users, roles, channels and the like. They are all listed, made, changed
// and deleted in the same way.
export interface Entity {
  id?: string;
  name: string;
  scope?: string;
  version?: number;
}

// Kind is one kind of entity: its type, as events and rights name it, and where the API has it.
export interface Kind<T extends Entity> {
  type: string;
  path: string;
  // one and many are the words for people: "service account", "service accounts".
  one: string;
  many: string;
  // account: they belong to the account, and to see those of a project is to see none.
  account?: true;
  // sample only carries the type.
  sample?: T;
}

export type Params = Record<string, string | number | boolean | undefined>;

interface Listed<T> {
  items: T[];
  nextCursor?: string;
  total: number;
}

// query writes parameters of an address; what is empty is left out.
export function query(params: Params): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== "" && value !== false) {
      out.set(name, String(value));
    }
  }
  const text = out.toString();
  return text ? `?${text}` : "";
}

// given is the parameters that are not empty, for the typed client.
export const given = (params: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ""));

const place = (kind: { path: string }, id: string) => `${kind.path}/${encodeURIComponent(id)}`;

export const create = <T>(kind: { path: string }, body: unknown): Promise<T> => send<T>("POST", kind.path, body);
export const update = <T>(kind: { path: string }, id: string, body: unknown): Promise<T> =>
  send<T>("PUT", place(kind, id), body);

// remove deletes an entity; with force also what refers to it.
export const remove = (kind: { path: string }, id: string, force = false): Promise<void> =>
  send<void>("DELETE", place(kind, id) + query({ force }));

// useList reads a list page by page; more reads the next one.
export function useList<T>(type: string, path: string, params: Params, on = true) {
  const list = useInfiniteQuery({
    queryKey: [type, "list", path, params],
    queryFn: ({ pageParam, signal }) =>
      readJSON<Listed<T>>(path + query({ limit: 100, ...params, cursor: pageParam || undefined }), { signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.nextCursor || undefined,
    placeholderData: keepPreviousData,
    enabled: on,
  });
  const pages = list.data?.pages;
  const rows = useMemo(() => pages?.flatMap((page) => page.items), [pages]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = useMemo(
    () => (hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined),
    [hasNextPage, isFetchingNextPage, fetchNextPage],
  );
  return {
    query: { data: rows, error: list.error, refetch: list.refetch },
    total: pages?.[0]?.total ?? 0,
    busy: list.isFetching,
    more,
  };
}

// useEntity reads one; nothing where there is no id.
// every is after how many ms it is read again, if no event reports all that it shows.
export function useEntity<T extends Entity>(kind: Kind<T>, id: string | undefined, every?: number) {
  return useQuery({
    ...(every ? { refetchInterval: every } : {}),
    queryKey: [kind.type, "one", id],
    queryFn: ({ signal }) => readJSON<T>(place(kind, id as string), { signal }),
    enabled: Boolean(id),
  });
}

// allQuery reads so much of a list as a choice in a form needs: the first thousand.
export const allQuery = <T extends Entity>(kind: Kind<T>) =>
  queryOptions({
    queryKey: [kind.type, "all"],
    queryFn: async ({ signal }): Promise<T[]> =>
      (await readJSON<Listed<T>>(kind.path + query({ limit: 1000 }), { signal })).items ?? [],
  });

// useMissingView says why none of a kind can be seen; undefined where some can.
export const useMissingView = (kind: Pick<Kind<Entity>, "type" | "account">): string | undefined =>
  useMissing(`${kind.type}_view`, kind.account && "account");

// useChoices reads those that there are to choose from; missing says why none can be seen, and then they are not asked for.
export function useChoices<T extends Entity>(kind: Kind<T>) {
  const missing = useMissingView(kind);
  return { missing, query: useQuery({ ...allQuery(kind), enabled: !missing }) };
}

// useAll is all of a kind; nothing for users who may not see any.
export const useAll = <T extends Entity>(kind: Kind<T>): T[] => useChoices(kind).query.data ?? [];

// ids are those of entities, in order.
export const ids = (list: { id?: string }[]): string[] => list.map((e) => e.id ?? "").filter(Boolean);
