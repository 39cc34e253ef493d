import { safeLink } from "@/lib/links";
import type { Resource } from "./resource";

export interface External {
  title: string;
  href: string;
}

const prefix = "link.argocd.argoproj.io/";

// linkOf reads an address, or a title and an address with a bar between them, as Argo CD writes them. Anything that leads to no web
// page is left out.
function linkOf(text: string, name = ""): External | undefined {
  const [first = "", ...more] = text.split("|");
  const titled = more.length > 0 && safeLink(first.trim()) === undefined;
  const href = safeLink((titled ? more[0] : first)?.trim());
  if (!href) {
    return undefined;
  }
  const bare = href.replace(/^https?:\/\//, "").replace(/\/$/, "");
  return { href, title: (titled && first.trim()) || name || bare };
}

// externalLinks are the links of an application: first those of its annotations, which its author chose, then the addresses at
// which its objects are served. Each address is there once.
export function externalLinks(resource: Resource): External[] {
  const annotations = Object.entries(resource.metadata.annotations ?? {})
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => linkOf(value, key.slice(prefix.length)));
  const served = (resource.status?.summary?.externalURLs ?? []).map((url) => linkOf(url));
  const links = [...annotations, ...served].filter((link) => link !== undefined);
  return links.filter((link, i) => links.findIndex((other) => other.href === link.href) === i);
}
