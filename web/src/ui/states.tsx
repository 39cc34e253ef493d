import { CircleAlert, Inbox, Lock, SearchX } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "@/api/client";
import { cn } from "@/lib/cn";
import { InputError } from "@/lib/input";
import { usePartly } from "@/lib/session";
import { Button } from "./button";
import { Copy } from "./copy";

// Skeleton keeps the room of what is being read, so that nothing jumps.
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cn("skeleton h-4", className)} />;
}

// Loading is a page or part of one that is being read.
export function Loading({ rows = 6, label = "Loading" }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="space-y-3 p-4">
      {Array.from({ length: rows }, (_, i) => (
        <Skeleton key={i} className={i % 3 === 2 ? "w-2/3" : "w-full"} />
      ))}
    </div>
  );
}

function State({
  icon,
  title,
  children,
  action,
}: {
  icon: ReactNode;
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-4 py-12 text-center">
      <div className="text-muted">{icon}</div>
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="break-words text-muted">{children}</div>}
      {action && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

// Empty says that there is nothing, and what to do about it.
export function Empty({
  title,
  children,
  action,
  filtered,
}: {
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
  filtered?: boolean;
}) {
  return (
    <State
      icon={filtered ? <SearchX size={32} aria-hidden /> : <Inbox size={32} aria-hidden />}
      title={title}
      action={action}
    >
      {children}
    </State>
  );
}

// textOf is the text of an error.
export function textOf(error: unknown): string {
  if (error instanceof ApiError) {
    return error.message;
  }
  if (error instanceof InputError) {
    return error.message;
  }
  return error instanceof Error && error.message
    ? `Something went wrong on this page: ${error.message}`
    : "Something went wrong on this page. Reload it.";
}

function RequestId({ error }: { error: unknown }) {
  if (!(error instanceof ApiError) || !error.requestId) {
    return null;
  }
  return (
    <span className="mt-1 flex items-center gap-1 text-sm text-muted">
      Request <code className="break-all">{error.requestId}</code>
      <Copy text={error.requestId} label="Copy the request id" />
    </span>
  );
}

// ErrorNote is an error inside a form or panel.
export function ErrorNote({ error, className }: { error: unknown; className?: string }) {
  return (
    <div role="alert" className={cn("flex items-start gap-2 rounded-md bg-bad-soft px-3 py-2 text-text", className)}>
      <CircleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <div className="min-w-0 break-words">
        {textOf(error)}
        {error instanceof ApiError && error.references.length > 0 && (
          <ul className="mt-1 list-disc pl-4 text-sm">
            {error.references.map((ref) => (
              <li key={`${ref.type} ${ref.id}`}>
                {ref.type} {ref.id}
              </li>
            ))}
          </ul>
        )}
        <RequestId error={error} />
      </div>
    </div>
  );
}

// Failed is a page or part of one that could not be read: why, and the way out.
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  if (error instanceof ApiError && error.status === 403) {
    return (
      <State icon={<Lock size={32} aria-hidden />} title="You may not view this">
        <p>{error.message}</p>
        <RequestId error={error} />
      </State>
    );
  }
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <State
      icon={<CircleAlert size={32} aria-hidden className="text-bad" />}
      title={gone ? "Not found" : "Could not be read"}
      action={retry && <Button onClick={retry}>Try again</Button>}
    >
      <p role="alert">{textOf(error)}</p>
      <RequestId error={error} />
    </State>
  );
}

interface Query<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

// Loaded shows what a query brought, and until then, or in place of it, how it stands. What was read before stays on
// the page when reading it again fails.
export function Loaded<T>({
  query,
  loading,
  children,
}: {
  query: Query<T>;
  loading?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) {
    return children(query.data);
  }
  if (query.error != null) {
    return <Failed error={query.error} retry={() => void query.refetch()} />;
  }
  return loading ?? <Loading />;
}

// NoneYet states that there are none, and to a user who sees only a part that there may be others.
export function NoneYet({
  many,
  permission,
  children,
  action,
  title = `No ${many} yet`,
}: {
  many: string;
  // permission to see them; without it they are not listed at all: NoPermission.
  permission: string;
  children?: ReactNode;
  action?: ReactNode;
  title?: ReactNode;
}) {
  const partly = usePartly(permission);
  return (
    <Empty title={partly ? `No ${many} that you may view` : title} action={action}>
      {partly ?? children}
    </Empty>
  );
}

// NoPermission is a page that needs a permission which is missing.
export function NoPermission({ why }: { why: string }) {
  return (
    <State icon={<Lock size={32} aria-hidden />} title="You may not view this">
      <p>{why}</p>
    </State>
  );
}
