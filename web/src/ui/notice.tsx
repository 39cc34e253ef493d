import { CircleAlert, ExternalLink, Info, type LucideIcon, TriangleAlert, X } from "lucide-react";
import type { Schemas } from "@/api/client";
import { cn } from "@/lib/cn";
import { safeLink } from "@/lib/links";
import { IconButton } from "./button";
import { type Tone, toneSoft } from "./status";

type Severity = NonNullable<Schemas["Banner"]["severity"]>;

const looks: Record<Severity, [LucideIcon, Tone]> = {
  info: [Info, "busy"],
  warning: [TriangleAlert, "warn"],
  critical: [CircleAlert, "bad"],
};

// Notice is the message of the operators of the server to everyone, at the top of every page.
export function Notice({ banner, onDismiss }: { banner: Schemas["Banner"]; onDismiss?: (() => void) | undefined }) {
  const [Icon, tone] = looks[banner.severity ?? "info"];
  const href = safeLink(banner.url);
  return (
    <section
      aria-label="Notice"
      className={cn("flex shrink-0 items-start gap-2 border-b px-3 py-1.5 sm:px-5", toneSoft[tone])}
    >
      <Icon size={16} aria-hidden className="mt-0.5 shrink-0" />
      <p className="max-h-24 min-w-0 flex-1 overflow-auto break-words whitespace-pre-line">
        {banner.text}{" "}
        {href && (
          <a
            href={href}
            target="_blank"
            rel="noreferrer"
            className="inline-flex items-center gap-1 font-medium underline"
          >
            Read more
            <ExternalLink size={12} aria-hidden />
          </a>
        )}
      </p>
      {onDismiss && (
        <IconButton small label="Dismiss the notice" className="size-6" onClick={onDismiss}>
          <X size={14} aria-hidden />
        </IconButton>
      )}
    </section>
  );
}
