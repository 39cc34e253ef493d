import { Link } from "@tanstack/react-router";
import { PanelLeftClose, PanelLeftOpen } from "lucide-react";
import { cn } from "@/lib/cn";
import { IconButton } from "@/ui/button";
import { Tooltip } from "@/ui/tooltip";
import { type Place } from "./navigation";

export function Sidebar({
  groups,
  open,
  narrow,
  onFold,
  onGo,
}: {
  groups: { group: string; places: Place[] }[];
  open: boolean;
  narrow: boolean;
  onFold: () => void;
  onGo: () => void;
}) {
  return (
    <nav
      aria-label="Pages"
      className={cn(
        "z-30 shrink-0 flex-col overflow-y-auto border-r bg-surface py-2",
        open ? "fixed top-12 bottom-[var(--toasts,0px)] left-0 flex w-60 md:static" : "hidden md:flex",
        narrow ? "md:w-13" : "md:w-52",
      )}
    >
      {groups.map(({ group, places: list }) => (
        <div key={group} className={cn("px-2 py-1", list.length === 0 && "hidden")}>
          <h2 className={cn("px-2 pb-0.5 text-xs font-medium text-muted", narrow && "md:sr-only")}>{group}</h2>
          <ul>
            {list.map((p) => (
              <li key={p.to}>
                <PlaceLink place={p} narrow={narrow} onGo={onGo} />
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div className="mt-auto hidden px-2 md:block">
        <IconButton label={narrow ? "Widen the sidebar" : "Narrow the sidebar"} onClick={onFold} className="text-muted">
          {narrow ? <PanelLeftOpen size={16} aria-hidden /> : <PanelLeftClose size={16} aria-hidden />}
        </IconButton>
      </div>
    </nav>
  );
}

function PlaceLink({ place: p, narrow, onGo }: { place: Place; narrow: boolean; onGo: () => void }) {
  const link = (
    <Link
      to={p.to}
      onClick={onGo}
      activeOptions={{ exact: p.to === "/", includeSearch: false }}
      className="flex h-8 items-center gap-2.5 rounded-md px-2 text-text hover:bg-idle-soft"
      activeProps={{ className: "bg-accent-soft! text-accent! font-medium", "aria-current": "page" }}
    >
      <p.icon size={16} aria-hidden className="shrink-0" />
      <span className={cn(narrow && "md:sr-only")}>{p.label}</span>
    </Link>
  );
  return narrow ? <Tooltip text={p.label}>{link}</Tooltip> : link;
}
