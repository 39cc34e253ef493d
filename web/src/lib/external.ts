import type { Schemas } from "@/api/client";
import { safeLink } from "./links";

// External leads from an application, an object or a project to a page elsewhere, or to a mail.
export interface External {
  title: string;
  href: string;
  description?: string | undefined;
  // icon is a class of Font Awesome, as Argo CD's settings have it.
  icon?: string | undefined;
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
  const bare = href.replace(/^(https?:\/\/|mailto:)/, "").replace(/\/$/, "");
  return { href, title: (titled && first.trim()) || name || bare };
}

// Sources are where links come from.
export interface Sources {
  // annotations of the object: a person chose these links for it
  annotations?: Record<string, string> | undefined;
  // settings of the agent's cluster give these
  settings?: Schemas["Link"][] | null | undefined;
  // served are the addresses at which it is served
  served?: string[] | null | undefined;
}

// externalLinks are the links of something, from what was chosen for it to what is derived. Each address is there once.
export function externalLinks({ annotations, settings, served }: Sources): External[] {
  const chosen = Object.entries(annotations ?? {})
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => linkOf(value, key.slice(prefix.length)));
  const given = (settings ?? []).map(({ title, url, description, iconClass: icon }) => {
    const href = safeLink(url);
    return href ? { title, href, description, icon } : undefined;
  });
  const links = [...chosen, ...given, ...(served ?? []).map((url) => linkOf(url))].filter((link) => link !== undefined);
  return links.filter((link, i) => links.findIndex((other) => other.href === link.href) === i);
}
