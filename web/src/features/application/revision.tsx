import type { App } from "@/lib/application";
import { short } from "@/lib/format";
import { safeLink } from "@/lib/links";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Copy } from "@/ui/copy";
import { type Made, madeOf, useCommit } from "./commit";
import type { Note } from "./resource";

// CommitName is a commit or version as people say it, with the way to its page at the forge.
export function CommitName({ app, revision }: { app: App; revision: string }) {
  const link = safeLink(useCommit(app, revision)?.webURL);
  const name = <code className="text-sm">{short(revision) || "unknown"}</code>;
  return link ? (
    <a
      href={link}
      target="_blank"
      rel="noreferrer"
      title="Open the commit at the forge"
      className="text-accent hover:underline"
    >
      {name}
    </a>
  ) : (
    name
  );
}

// Revision is a commit or version, with its author, time and message.
export function Revision({ app, revision, note }: { app: App; revision: string; note?: Note | undefined }) {
  const made = madeOf(useCommit(app, revision), note);
  return (
    <span className="block min-w-0 flex-1">
      <span className="flex min-w-0 flex-wrap items-center gap-x-1">
        <span className="shrink-0">
          <CommitName app={app} revision={revision} />
        </span>
        {revision && <Copy text={revision} label="Copy the revision" />}
        {made.subject && (
          <span className="min-w-0 flex-1 basis-40 truncate" title={made.subject}>
            {made.subject}
          </span>
        )}
      </span>
      <Author made={made} />
    </span>
  );
}

// Author is the author of a commit, and its time.
function Author({ made }: { made: Made }) {
  if (!made.author && !known(made.at)) {
    return null;
  }
  return (
    <span className="block truncate text-sm text-muted">
      <span title={made.by}>{made.author}</span>
      {made.author && known(made.at) && ", "}
      {known(made.at) && <Ago at={made.at} />}
    </span>
  );
}
