import { Link, type LinkProps, useLocation, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { cn } from "@/lib/cn";

// Page is what every page begins with: its title, what can be done, and its content.
export function Page({
  title,
  name,
  about,
  actions,
  children,
  className,
}: {
  title: ReactNode;
  name?: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  useTitle(name ?? (typeof title === "string" ? title : ""));
  return (
    <div className={cn("mx-auto w-full max-w-[1600px] min-w-0 space-y-4 p-3 sm:p-5", className)}>
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h1 className="max-w-full min-w-0 grow truncate text-xl font-semibold">{title}</h1>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        {about && <p className="basis-full text-muted">{about}</p>}
      </header>
      {children}
    </div>
  );
}

// useTitle names the browser's tab.
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Slipway` : "Slipway";
  }, [title]);
}

// Card is a piece of a page with a heading of its own, which names it.
export function Card({
  title,
  actions,
  children,
  className,
  flush,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  flush?: boolean;
}) {
  const heading = useId();
  return (
    <section
      {...(title && { "aria-labelledby": heading })}
      className={cn("min-w-0 rounded-lg border bg-surface", className)}
    >
      {(title || actions) && (
        <header className="flex flex-wrap items-center justify-between gap-2 border-b px-4 py-2.5">
          <h2 id={heading} className="font-semibold">
            {title}
          </h2>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={cn(!flush && "p-4")}>{children}</div>
    </section>
  );
}

export interface Tab extends Pick<LinkProps, "to" | "params" | "search"> {
  label: ReactNode;
  count?: number | undefined;
  exact?: boolean;
}

// Tabs are links to the parts of a page: each has an address of its own. Of tabs that differ in what follows "?", the one is
// active whose names there have the values of the address, whatever else is in it.
export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const here: Record<string, unknown> = useSearch({ strict: false });
  const names = [...new Set(tabs.flatMap((tab) => Object.keys((tab.search as object | undefined) ?? {})))];
  const place = useLocation({ select: (l) => l.href });
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const row = nav.current;
    const tab = row?.querySelector<HTMLElement>("[aria-current=page]");
    if (
      row &&
      tab &&
      (tab.offsetLeft < row.scrollLeft || tab.offsetLeft + tab.offsetWidth > row.scrollLeft + row.clientWidth)
    ) {
      row.scrollLeft = tab.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
    }
  }, [place]);
  return (
    <nav ref={nav} aria-label={label} className="relative flex gap-1 overflow-x-auto border-b">
      {tabs.map(({ label: text, count, exact, ...to }, i) => {
        const search = to.search as Record<string, unknown> | undefined;
        const active = names.length > 0 ? names.every((n) => (here[n] ?? "") === (search?.[n] ?? "")) : undefined;
        const on = "border-accent! text-text! font-medium";
        return (
          <Link
            key={i}
            {...(to as LinkProps)}
            activeOptions={{ exact: exact ?? false, includeSearch: false }}
            {...(active === undefined
              ? { activeProps: { className: on } }
              : { activeProps: {}, className: cn(tabLook, active && on), "aria-current": active ? "page" : undefined })}
            {...(active === undefined && { className: tabLook })}
          >
            {text}
            {count !== undefined && <span className="ml-1.5 rounded bg-idle-soft px-1 text-xs">{count}</span>}
          </Link>
        );
      })}
    </nav>
  );
}

const tabLook = "border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-muted hover:text-text";

// Facts are names and values, one below the other.
export function Facts({ facts, className }: { facts: [ReactNode, ReactNode][]; className?: string }) {
  return (
    <dl className={cn("grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-4 gap-y-1.5", className)}>
      {facts.map(([name, value], i) => (
        <div key={i} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
