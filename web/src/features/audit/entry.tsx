import { Link } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { client, data } from "@/api/client";
import { repository, short } from "@/lib/format";
import { safeLink } from "@/lib/links";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { exact } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Copy, Snippet } from "@/ui/copy";
import { Drawer } from "@/ui/dialog";
import { Facts, Tabs } from "@/ui/page";
import { Loaded } from "@/ui/states";
import { Badge, Status, type Tone } from "@/ui/status";
import { Changes, Comparison } from "./changes";
import { actionName, counted, type Detail, timings, who } from "./entries";
import { Rendered } from "./rendered";

// EntryDrawer is one operation: what it was asked, what it decided, what it did and how that ended.
export function EntryDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const [search] = useAddress();
  const query = useQuery({
    queryKey: ["ledger", "one", id],
    queryFn: ({ signal }) => data(client.GET("/api/v1/ledger/{id}", { params: { path: { id } }, signal })),
  });
  const e = query.data;
  const part = one(search, "part");
  const to = (name: string) => ({
    to: "/ledger" as const,
    search: { ...search, part: name, object: name === "manifests" ? one(search, "object") : "" } as never,
  });
  return (
    <Drawer
      open
      onClose={onClose}
      title={e ? `${actionName(e.action)} of ${e.name}` : "Operation"}
      description={e ? `${exact(e.finishedAt)}, on ${e.agent}` : `Entry ${id}`}
      className="max-w-4xl"
    >
      <Loaded query={query}>
        {(entry) => (
          <>
            <Tabs
              label="Parts of the operation"
              tabs={[
                { ...to(""), label: "Overview" },
                { ...to("changes"), label: "Changes", count: entry.changes?.length ?? 0 },
                { ...to("manifests"), label: "Manifests", count: entry.objects?.length ?? 0 },
                { ...to("compare"), label: "Compare" },
              ]}
            />
            <div className="space-y-5 p-4">
              {part === "changes" ? (
                <Changes entry={entry} />
              ) : part === "manifests" ? (
                <Rendered entry={entry} />
              ) : part === "compare" ? (
                <Comparison entry={entry} />
              ) : (
                <Overview entry={entry} />
              )}
            </div>
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

const tones: Record<string, Tone> = { allowed: "ok", confirmed: "ok", held: "held", refused: "bad" };

function Overview({ entry: e }: { entry: Detail }) {
  return (
    <>
      <Facts facts={[...outcome(e), ...asked(e), ...place(e)]} />
      {(e.notes?.length ?? 0) > 0 && (
        <Section title="Missing information">
          <ul className="list-disc space-y-1 pl-5">
            {e.notes?.map((note, i) => (
              <li key={i} className="break-words">
                {note}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Deployed">
        <Deployed entry={e} />
      </Section>
      <Section title="Decisions">
        {(e.decisions?.length ?? 0) === 0 ? (
          <p className="text-muted">No decisions were needed.</p>
        ) : (
          <ul className="space-y-1">
            {e.decisions?.map((d, i) => (
              <li key={i} className="flex min-w-0 flex-wrap items-baseline gap-2">
                <Badge tone={tones[d.outcome] ?? "idle"}>{d.outcome}</Badge>
                <span className="font-medium">{d.gate}</span>
                <span className="min-w-0 break-words text-muted">{d.message}</span>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="Times">
        <Facts
          facts={timings(e).map((step) => [
            step.name,
            <span key={step.name}>
              {exact(step.at)} {step.took && <span className="text-muted">({step.took} after)</span>}
            </span>,
          ])}
        />
      </Section>
      <Section title="On the command line">
        <Snippet text={`slipway ledger show ${e.id} --manifests`} label="Show this operation" />
      </Section>
    </>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="space-y-1.5">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}

type Fact = [React.ReactNode, React.ReactNode];

function outcome(e: Detail): Fact[] {
  return [
    [
      "Outcome",
      <span key="outcome" className="inline-flex flex-wrap items-center gap-x-3">
        <Status status={e.phase} />
        {e.health && (
          <span className="inline-flex gap-1">
            then <Status status={e.health} />
          </span>
        )}
      </span>,
    ],
    ...(e.message ? ([["Message", e.message]] as Fact[]) : []),
    ["Objects", `${counted(e.counts)}${e.counts.unchanged > 0 ? `; ${e.counts.unchanged} were as wanted` : ""}`],
    ["Ended", <Ago key="ended" at={e.finishedAt} />],
  ];
}

function asked(e: Detail): Fact[] {
  const options = [
    e.options?.prune && "delete objects that Git does not contain",
    e.options?.dryRun && "change nothing",
    e.options?.repair && "revert changes in the cluster",
    e.options?.local && "manifests from the request",
    ...(e.options?.syncOptions ?? []),
  ].filter(Boolean);
  const limited = e.options?.resources ?? [];
  return [
    ["Started by", who(e) || "automatic: the sync policy"],
    ["Why", e.reason || "no reason given"],
    ...(options.length > 0 ? ([["Options", options.join(", ")]] as Fact[]) : []),
    ...(limited.length > 0 ? ([["Only", limited.join(", ")]] as Fact[]) : []),
    ...(e.repeats ? ([["Stands for", `${e.repeats} earlier repairs as well`]] as Fact[]) : []),
    ...(e.retries ? ([["Attempts before", e.retries]] as Fact[]) : []),
    ...(e.engine ? ([["Carried out by", e.engine]] as Fact[]) : []),
    ...(e.recovered
      ? ([["Recovered", "reconstructed, because the agent stopped during the operation"]] as Fact[])
      : []),
  ];
}

function place(e: Detail): Fact[] {
  return [
    [
      "Application",
      <Link
        key="application"
        to="/applications/$agent/$namespace/$name"
        params={{ agent: e.agent, namespace: e.namespace, name: e.name }}
        className="break-all text-accent hover:underline"
      >
        {e.agent}/{e.namespace}/{e.name}
      </Link>,
    ],
    ...(e.service ? ([["Service", e.service]] as Fact[]) : []),
    ...(e.environment ? ([["Environment", e.environment]] as Fact[]) : []),
    ...(e.destination ? ([["Cluster", e.destination]] as Fact[]) : []),
    [
      "Entry",
      <span key="entry" className="inline-flex items-center gap-1">
        <code className="text-sm break-all">{e.id}</code>
        <Copy text={e.id} label="Copy the id of the entry" />
      </span>,
    ],
  ];
}

function Deployed({ entry: e }: { entry: Detail }) {
  const sources = e.sources ?? [];
  return (
    <>
      {e.commit && (
        <p className="break-words">
          {e.commit.subject}{" "}
          <span className="text-muted">
            by {e.commit.author || "unknown author"}, <Ago at={e.commit.committedAt} none="at an unknown time" />
          </span>
        </p>
      )}
      {sources.length === 0 && <p className="text-muted">Its sources are not known.</p>}
      <ul className="space-y-1.5">
        {sources.map((s, i) => {
          const link = safeLink(s.repoURL);
          const revision = s.revision ?? "";
          return (
            <li key={i} className="min-w-0 rounded-md border px-3 py-2">
              <p className="break-all">
                {link ? (
                  <a href={link} target="_blank" rel="noreferrer" className="text-accent underline">
                    {repository(s.repoURL)}
                  </a>
                ) : (
                  repository(s.repoURL)
                )}{" "}
                <span className="text-muted">{[s.chart, s.path].filter(Boolean).join(" · ")}</span>
              </p>
              <p className="flex flex-wrap items-center gap-1.5 text-sm">
                {s.before && s.before !== revision && (
                  <>
                    <code title={s.before}>{short(s.before)}</code> →
                  </>
                )}
                <code title={revision}>{short(revision) || "no revision"}</code>
                {revision && <Copy text={revision} label="Copy the revision" />}
                <span className="text-muted">{[s.targetRevision, s.tool].filter(Boolean).join(" · ")}</span>
              </p>
            </li>
          );
        })}
      </ul>
    </>
  );
}
