import { useQuery } from "@tanstack/react-query";
import { client, data, type Schemas } from "@/api/client";
import { type App, lookKey } from "@/lib/application";
import { gather } from "@/lib/gather";

export type Commit = Schemas["RevisionInfo"];

const most = 50; // commits that one question may name
const wait = 15; // ms to gather those of one page

const ask = gather(most, wait, async (app: App, revision: string[]) => {
  const answer = await data(
    client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/revisions", {
      params: { path: { agent: app.agent, namespace: app.namespace, name: app.name }, query: { revision } },
    }),
  );
  // By name, and not by place: an answer that leaves one out must not give its author to another.
  return revision.map((r) => (answer.items ?? []).find((i) => i.revision === r));
});

const unknownFor = 60_000; // ms until a commit that the agent does not know yet is asked for again

// isCommit says whether a revision is a whole commit: versions of charts have no author.
export const isCommit = (revision: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(revision);

// useCommit is the author and the message of a commit; undefined where it is none, or not known.
export function useCommit(app: App, revision: string): Commit | undefined {
  const { data: commit } = useQuery({
    queryKey: lookKey(app, "commit", revision),
    enabled: isCommit(revision),
    retry: false,
    // A commit never changes.
    staleTime: (query) => (query.state.data?.known ? Infinity : unknownFor),
    queryFn: async (): Promise<Commit | null> => (await ask(app.id, app, revision)) ?? null,
  });
  return commit?.known ? commit : undefined;
}

export interface Made {
  author: string;
  subject: string;
  at: string | undefined;
  // by is the author with the address, for details.
  by: string;
}

// madeOf is the description of a commit: what the agent reads in Git, else what was noted when it was deployed.
export function madeOf(commit: Commit | undefined, note?: { subject?: string; author?: string }): Made {
  const { name = "", email } = commit?.author ?? {};
  const by = name || email ? `${name}${email ? ` <${email}>` : ""}`.trim() : (note?.author ?? "");
  return {
    author: by.replace(/(.) <.*>$/, "$1"),
    by,
    subject: (commit?.message ?? "").trim().split("\n")[0]?.trim() || (note?.subject ?? ""),
    at: commit?.date,
  };
}
