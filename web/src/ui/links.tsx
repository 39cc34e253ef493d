import { Bell, BookOpen, Bug, ChartLine, ExternalLink, FileText, GitBranch, type LucideIcon, Mail } from "lucide-react";
import { useState } from "react";
import { cn } from "@/lib/cn";
import type { External } from "@/lib/external";
import { plural } from "@/lib/format";
import { safeLink } from "@/lib/links";
import { Button } from "./button";

const few = 3; // links that are shown at first

// What classes of Font Awesome are called, and the picture that is most like them.
const icons: [RegExp, LucideIcon][] = [
  [/chart|tachometer|gauge|dashboard/, ChartLine],
  [/file|list|terminal|stream|scroll/, FileText],
  [/book|wiki|info|question/, BookOpen],
  [/bug|exclamation|warning/, Bug],
  [/bell|phone/, Bell],
  [/git|code/, GitBranch],
  [/envelope|mail/, Mail],
];

function iconOf(link: External): LucideIcon {
  const known = link.icon && icons.find(([like]) => like.test(link.icon ?? ""))?.[1];
  return known || (link.href.startsWith("mailto:") ? Mail : ExternalLink);
}

// Links lead to pages elsewhere.
export function Links({ links, className }: { links: External[]; className?: string }) {
  const [all, setAll] = useState(false);
  if (links.length === 0) {
    return null;
  }
  const shown = all || links.length <= few + 1 ? links : links.slice(0, few);
  return (
    <ul aria-label="Links" className={cn("flex flex-wrap items-center gap-x-3 gap-y-0.5 text-sm", className)}>
      {shown.map((link) => {
        const Icon = iconOf(link);
        return (
          <li key={link.href} className="min-w-0">
            <a
              href={safeLink(link.href)}
              title={link.description ? `${link.description}\n${link.href}` : link.href}
              target="_blank"
              rel="noreferrer"
              className="inline-flex max-w-60 items-center gap-1 text-accent hover:underline"
            >
              <Icon size={12} aria-hidden className="shrink-0" />
              <span className="truncate">{link.title}</span>
            </a>
          </li>
        );
      })}
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
