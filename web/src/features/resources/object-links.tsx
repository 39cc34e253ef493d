import { useQuery } from "@tanstack/react-query";
import { type App, useAway } from "@/lib/application";
import { externalLinks } from "@/lib/external";
import { Links } from "@/ui/links";
import { objectOf } from "./manifest";
import type { Node } from "./model";
import { linksQuery, refFrom, stateQuery } from "./object-query";

// ObjectLinks lead from an object to pages elsewhere.
export function ObjectLinks({ app, node }: { app: App; node: Node }) {
  const ref = refFrom(node);
  const live = objectOf(useQuery(stateQuery(app, ref)).data?.live);
  const away = useAway(app) !== undefined;
  const settings = useQuery({ ...linksQuery(app, ref), enabled: !away }).data?.links;
  const links = externalLinks({ annotations: live?.metadata?.annotations, settings, served: node.urls });
  return <Links links={links} className="px-4 pt-2" />;
}
