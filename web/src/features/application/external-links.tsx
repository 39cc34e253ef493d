import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { plural } from "@/lib/format";
import { safeLink } from "@/lib/links";
import { Button } from "@/ui/button";
import { externalLinks } from "./external";
import type { Resource } from "./resource";

const few = 3; // links that are shown at first

// ExternalLinks lead to what the application serves, and to the pages that its annotations name.
export function ExternalLinks({ resource }: { resource: Resource }) {
  const [all, setAll] = useState(false);
  const links = externalLinks(resource);
  if (links.length === 0) {
    return null;
  }
  const shown = all ? links : links.slice(0, few);
  return (
    <ul aria-label="Links" className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-sm">
      {shown.map(({ title, href }) => (
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
      {shown.length < links.length && (
        <li>
          <Button small look="ghost" className="h-6 px-1" onClick={() => setAll(true)}>
            {plural(links.length - shown.length, "more link")}
          </Button>
        </li>
      )}
    </ul>
  );
}
