import { ago, exact, known, span, useNow } from "@/lib/time";
import { Tooltip } from "./tooltip";

// Ago is a time as people say it, with the exact one on hover and focus; ahead is for one that may be to come.
export function Ago({
  at,
  none = "never",
  ahead = false,
}: {
  at: string | undefined | null;
  none?: string;
  ahead?: boolean;
}) {
  const now = useNow(at);
  if (!known(at)) {
    return <span className="text-muted">{none}</span>;
  }
  return (
    <Tooltip text={exact(at)}>
      <time dateTime={at} className="whitespace-nowrap">
        {ago(at, now, ahead)}
      </time>
    </Tooltip>
  );
}

// Lasting is how long something has been so, with the time at which that began on hover and focus.
export function Lasting({ since }: { since: string }) {
  const now = useNow(since);
  return (
    <Tooltip text={`Since ${exact(since)}`}>
      <time dateTime={since} className="whitespace-nowrap">
        {span(Math.max(0, now - Date.parse(since)))}
      </time>
    </Tooltip>
  );
}
