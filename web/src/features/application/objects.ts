import { client, data, type Schemas } from "@/api/client";
import { type App, lookKey, pathOf } from "@/lib/application";
import { type Command, hits, useFinder } from "@/lib/palette";
import { queryClient } from "@/lib/query";
import { type Actions, nodeOf } from "./actions";

type TreeNode = Schemas["TreeNode"];

const most = 8;

// offersOf are ways to objects that all words are found in: to each of them, and to logs and terminal of pods. What is near the
// root comes first.
export function offersOf(roots: readonly TreeNode[], words: string[], go: Actions["go"]): Command[] {
  const open: Command[] = [];
  const more: Command[] = [];
  for (let level = roots; level.length > 0 && open.length < most; level = level.flatMap((n) => n.children ?? [])) {
    for (const node of level) {
      const resource = nodeOf(node);
      const name = `${node.kind} ${node.name}`;
      const group = node.namespace ?? "";
      const offer = (tab: string, title: string, run: Command["run"]): Command => ({
        id: `object ${resource} ${tab}`,
        title,
        group,
        run,
      });
      if (hits(words, name, group, node.group)) {
        open.push(offer("", name, () => go("", { resource })));
      } else if (node.kind === "Pod" && !node.group) {
        for (const [tab, title] of [
          ["logs", `Logs of ${name}`],
          ["terminal", `Terminal in ${name}`],
        ] as const) {
          if (hits(words, title, group)) {
            more.push(offer(tab, title, () => go("", { resource, tab })));
          }
        }
      }
    }
  }
  return [...open, ...more].slice(0, most);
}

// useObjectFinder has the palette find what the application has in its cluster.
export function useObjectFinder(app: App, go: Actions["go"]): void {
  useFinder({
    id: `objects ${app.id}`,
    heading: `Objects of ${app.name}`,
    find: async (words) => {
      const { items } = await queryClient.fetchQuery({
        queryKey: lookKey(app, "objects"),
        staleTime: 10_000,
        queryFn: () =>
          data(
            client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/tree", {
              params: { path: pathOf(app) },
            }),
          ),
      });
      return offersOf(items ?? [], words, go);
    },
  });
}
