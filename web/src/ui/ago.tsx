import { ago, exact, known, useNow } from "@/lib/time";
import { Tooltip } from "./tooltip";

// Ago is a time as people say it, with the exact one on hover and focus.
export function Ago({ at, none = "never" }: { at: string | undefined | null; none?: string }) {
  const now = useNow();
  if (!known(at)) {
    return <span className="text-muted">{none}</span>;
  }
  return (
    <Tooltip text={exact(at)}>
      <time dateTime={at} className="whitespace-nowrap">
        {ago(at, now)}
      </time>
    </Tooltip>
  );
}
