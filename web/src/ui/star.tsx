import { Star as StarIcon } from "lucide-react";
import { cn } from "@/lib/cn";

// Star makes an application a favourite, or no longer one. A plain button, since lists make many of them.
export function Star({ name, on, onToggle }: { name: string; on: boolean; onToggle: () => void }) {
  const label = on ? `Remove ${name} from the favourites` : `Add ${name} to the favourites`;
  return (
    <button
      type="button"
      aria-pressed={on}
      aria-label={label}
      title={`${label} of this browser`}
      onClick={onToggle}
      className={cn(
        "inline-flex size-7 shrink-0 items-center justify-center rounded-md hover:bg-idle-soft",
        on ? "text-accent" : "text-muted",
      )}
    >
      <StarIcon size={15} aria-hidden className={cn(on && "fill-current")} />
    </button>
  );
}
