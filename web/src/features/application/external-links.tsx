import { ExternalLink } from "lucide-react";
import { plural } from "@/lib/format";
import { openLink, safeLink } from "@/lib/links";
import { Button } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { externalLinks } from "./external";
import type { Resource } from "./resource";

const shown = 3;

// ExternalLinks lead to what the application serves, and to the pages that its annotations name.
export function ExternalLinks({ resource }: { resource: Resource }) {
  const links = externalLinks(resource);
  if (links.length === 0) {
    return null;
  }
  const rest = links.slice(shown);
  return (
    <ul aria-label="Links" className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-sm">
      {links.slice(0, shown).map(({ title, href }) => (
        <li key={href} className="min-w-0">
          <a
            href={safeLink(href)}
            title={href}
            target="_blank"
            rel="noreferrer"
            className="inline-flex max-w-60 items-center gap-1 text-accent hover:underline"
          >
            <ExternalLink size={12} aria-hidden className="shrink-0" />
            <span className="truncate">{title}</span>
          </a>
        </li>
      ))}
      {rest.length > 0 && (
        <li>
          <Menu
            align="start"
            trigger={
              <Button small look="ghost" className="h-6">
                {plural(rest.length, "more link")}
              </Button>
            }
            items={rest.map(({ title, href }) => ({
              label: title,
              icon: <ExternalLink size={14} aria-hidden />,
              run: () => openLink(href),
            }))}
          />
        </li>
      )}
    </ul>
  );
}
