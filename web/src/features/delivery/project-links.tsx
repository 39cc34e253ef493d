import { useQuery } from "@tanstack/react-query";
import { client, data } from "@/api/client";
import { externalLinks } from "@/lib/external";
import { Links } from "@/ui/links";
import { placeOf } from "./items";
import type { SettingItem } from "./setting";

// ProjectLinks lead from an Argo project to pages elsewhere. An agent that is away, or older, gives none.
export function ProjectLinks({ item }: { item: SettingItem }) {
  const path = placeOf(item);
  const query = useQuery({
    queryKey: ["argoproject", "links", path],
    staleTime: 60_000,
    retry: false,
    queryFn: () =>
      data(client.GET("/api/v1/agents/{agent}/argo-projects/{namespace}/{name}/links", { params: { path } })),
  });
  const annotations = (item.resource as { metadata?: { annotations?: Record<string, string> } } | null)?.metadata
    ?.annotations;
  return <Links links={externalLinks({ annotations, settings: query.data?.links })} />;
}
