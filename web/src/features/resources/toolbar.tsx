import { Link } from "@tanstack/react-router";
import { Boxes, ChevronDown, Filter as Funnel, List, Network as NetworkIcon, Server, Workflow, X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { cn } from "@/lib/cn";
import { count, plural } from "@/lib/format";
import { useHotkeys } from "@/lib/hotkeys";
import type { SetAddress } from "@/lib/navigate";
import type { Search } from "@/lib/search";
import { Button } from "@/ui/button";
import { Input } from "@/ui/field";
import { Menu } from "@/ui/menu";
import { labelOf, StatusIcon } from "@/ui/status";
import { counts, type Filter, filters } from "./filter";
import type { Node } from "./model";

export type View = "graph" | "network" | "list" | "pods" | "applications";

const views: { view: View; label: string; icon: ReactNode }[] = [
  { view: "graph", label: "Graph", icon: <Workflow size={14} aria-hidden /> },
  { view: "network", label: "Network", icon: <NetworkIcon size={14} aria-hidden /> },
  { view: "list", label: "List", icon: <List size={14} aria-hidden /> },
  { view: "pods", label: "Pods", icon: <Server size={14} aria-hidden /> },
  { view: "applications", label: "Applications", icon: <Boxes size={14} aria-hidden /> },
];

export const viewOf = (text: string): View => views.find((v) => v.view === text)?.view ?? "graph";

function Choice({
  label,
  name,
  chosen,
  choices,
  set,
  icons,
}: {
  label: string;
  name: string;
  chosen: string[];
  choices: [string, number][];
  set: SetAddress;
  icons?: boolean;
}) {
  const toggle = (value: string) =>
    set({ [name]: chosen.includes(value) ? chosen.filter((c) => c !== value) : [...chosen, value] });
  return (
    <Menu
      align="start"
      trigger={
        <Button className={cn(chosen.length > 0 && "border-accent bg-accent-soft")}>
          {label}
          {chosen.length > 0 && `: ${chosen.length === 1 ? labelOf(chosen[0] as string) : chosen.length}`}
          <ChevronDown size={13} aria-hidden />
        </Button>
      }
      items={[
        ...choices.map(([value, n]) => ({
          label: (
            <span className="flex justify-between gap-4">
              <span>{labelOf(value)}</span>
              <span className="text-muted">{count(n)}</span>
            </span>
          ),
          icon: icons ? <StatusIcon status={value} /> : undefined,
          checked: chosen.includes(value),
          run: () => toggle(value),
        })),
        ...(chosen.length > 0 ? [null, { label: "Any", run: () => set({ [name]: undefined }) }] : []),
      ]}
    />
  );
}

// Toolbar chooses how objects are shown, and which. All of it is in the address.
export function Toolbar({
  view,
  filter,
  set,
  nodes,
  hits,
  live,
  old,
}: {
  view: View;
  filter: Filter;
  set: SetAddress;
  nodes: Node[];
  hits: number;
  live: boolean;
  old: boolean;
}) {
  const text = useRef<HTMLInputElement>(null);
  const parent = view === "applications" || nodes.some((n) => n.kind === "Application");
  const offered = views.filter((v) => v.view !== "applications" || parent);
  useHotkeys([{ keys: "/", what: "Search the objects of the application", run: () => text.current?.focus() }]);
  // What is typed stays as it is typed; an address that changes otherwise, such as by going back, is followed.
  useEffect(() => {
    if (text.current && text.current.value !== filter.text) {
      text.current.value = filter.text;
    }
  }, [filter.text]);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <nav aria-label="View" className="flex max-w-full overflow-x-auto rounded-md border bg-surface">
        {offered.map((v) => (
          <Link
            key={v.view}
            to="."
            search={(before: Search) => ({ ...before, view: v.view === "graph" ? undefined : v.view, sort: undefined })}
            aria-current={v.view === view ? "page" : undefined}
            className={cn(
              "inline-flex h-8 items-center gap-1.5 px-3 whitespace-nowrap",
              v.view === view ? "bg-accent-soft font-medium text-accent" : "text-muted hover:text-text",
            )}
          >
            {v.icon}
            {v.label}
          </Link>
        ))}
      </nav>
      <Input
        ref={text}
        type="search"
        defaultValue={filter.text}
        placeholder="Search objects"
        aria-label="Search objects"
        onChange={(e) => set({ q: e.target.value || undefined })}
        className="w-full sm:w-56"
      />
      <Choice label="Kind" name="kind" chosen={filter.kinds} choices={counts(nodes, (n) => n.kind)} set={set} />
      <Choice
        label="Health"
        name="health"
        chosen={filter.health}
        choices={counts(nodes, (n) => n.health)}
        set={set}
        icons
      />
      <Choice label="Sync" name="sync" chosen={filter.sync} choices={counts(nodes, (n) => n.sync)} set={set} icons />
      {filters(filter) && (
        <Button look="ghost" onClick={() => set({ kind: undefined, health: undefined, sync: undefined, q: undefined })}>
          <X size={14} aria-hidden />
          Clear
        </Button>
      )}
      <p role="status" className="ml-auto flex items-center gap-2 text-sm text-muted">
        {filters(filter) ? (
          <>
            <Funnel size={13} aria-hidden />
            {count(hits)} of {plural(nodes.length, "object")}
          </>
        ) : (
          plural(nodes.length, "object")
        )}
        {old ? (
          <span>· as last reported</span>
        ) : (
          !live && <span>· not live: updated with each change of the application</span>
        )}
      </p>
    </div>
  );
}
