import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { client, data } from "@/api/client";
import { preview } from "@/lib/preview";

// checkQuery is what a quick preview finds wrong with a resource, and the resource that it was found in: while an answer is
// waited for, the one before is shown.
export const checkQuery = (agent: string, resource: unknown, enabled: boolean) =>
  queryOptions({
    queryKey: ["preview", "quick", agent, resource],
    enabled,
    staleTime: 60_000,
    gcTime: 10_000,
    placeholderData: keepPreviousData,
    queryFn: async () => ({ of: resource, problems: (await preview(agent, { resource }, true)).problems ?? [] }),
  });

// refsQuery is the branches, tags and charts of a repository; nothing for users who see no repositories.
export const refsQuery = (
  ask: { agent: string; repoURL: string; argoProject: string; chart: boolean; search: string },
  seen: boolean,
) => {
  const oci = ask.repoURL.startsWith("oci://") || (ask.chart && /^[^/:@\s]+(:\d+)?\//.test(ask.repoURL));
  return queryOptions({
    queryKey: ["browse", "refs", ask],
    enabled: seen && ask.agent !== "" && (oci || /^[a-z+]+:\/\/.+|^[^@\s]+@[^:]+:.+/.test(ask.repoURL)),
    staleTime: 60_000,
    retry: false,
    queryFn: ({ signal }) =>
      data(
        client.GET("/api/v1/agents/{agent}/repository-refs", {
          params: {
            path: { agent: ask.agent },
            query: {
              repoURL: ask.repoURL,
              argoProject: ask.argoProject,
              ...(ask.search && { search: ask.search }),
              ...(ask.chart && { type: oci ? ("oci" as const) : ("helm" as const) }),
            },
          },
          signal,
        }),
      ),
  });
};

// pathsQuery is what one directory of a repository has.
export const pathsQuery = (
  agent: string,
  repoURL: string,
  revision: string,
  path: string,
  argoProject: string,
  enabled: boolean,
  plugin = "",
) =>
  queryOptions({
    queryKey: ["browse", "paths", agent, repoURL, revision, path, argoProject, plugin],
    enabled: enabled && agent !== "" && repoURL !== "",
    staleTime: 60_000,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      data(
        client.GET("/api/v1/agents/{agent}/repository-paths", {
          params: { path: { agent }, query: { repoURL, revision, path, argoProject, ...(plugin && { plugin }) } },
          signal,
        }),
      ),
  });

const items = (noun: "argo-projects" | "clusters" | "repositories", type: string, agent: string, seen: boolean) =>
  queryOptions({
    queryKey: [type, "choices", agent],
    enabled: seen && agent !== "",
    retry: false,
    queryFn: () => data(client.GET(`/api/v1/${noun}`, { params: { query: { limit: 1000, agent } } })),
  });

// What may be chosen; nothing is asked where none is seen.
export const projectsQuery = (agent: string, seen: boolean) => items("argo-projects", "argoproject", agent, seen);
export const clustersQuery = (agent: string, seen: boolean) => items("clusters", "cluster", agent, seen);
export const repositoriesQuery = (agent: string, seen: boolean) => items("repositories", "repository", agent, seen);

// registered are the repositories that an agent has settings for: their addresses and types.
export const registered = (list: { resource?: unknown }[] | null | undefined): { url: string; type: string }[] =>
  (list ?? []).flatMap((r) => {
    const fields = (r.resource as { fields?: { url?: string; type?: string } } | undefined)?.fields;
    return fields?.url ? [{ url: fields.url, type: fields.type || "git" }] : [];
  });
