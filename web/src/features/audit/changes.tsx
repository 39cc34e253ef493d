import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { client, data } from "@/api/client";
import { counts, parseUnified } from "@/lib/diff-text";
import { count, plural, short } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { exact } from "@/lib/time";
import { Button } from "@/ui/button";
import { Copy } from "@/ui/copy";
import { DiffView } from "@/ui/diff-view";
import { Field, Select } from "@/ui/field";
import { Empty, ErrorNote, Loaded, Loading } from "@/ui/states";
import { Badge, type Tone } from "@/ui/status";
import { actionName, before, type Detail, type Operation, placeOf, type Touched, touched } from "./entries";

const tones: Record<string, Tone> = { created: "ok", added: "ok", changed: "busy", deleted: "bad", removed: "bad" };
const most = 200; // objects that are listed before the user requests all

// useOthers are the operations of the same application around an entry: those that it can be compared with.
function useOthers(entry: Detail) {
  const { agent, namespace, name } = entry;
  const read = (to: string | undefined) =>
    data(
      client.GET("/api/v1/ledger", {
        params: { query: { agent, namespace, name, limit: 100, ...(to ? { to } : {}) } },
      }),
    );
  return useQuery({
    queryKey: ["ledger", "others", entry.id],
    queryFn: async (): Promise<Operation[]> => {
      // The newest ones, and those before it: of an application that is synced all the time these are not the same.
      const [newest, older] = await Promise.all([read(undefined), read(entry.startedAt)]);
      const all = [...(newest.items ?? []), ...(older.items ?? [])].filter((o) => o.id !== entry.id);
      return [...new Map(all.map((o) => [o.id, o])).values()];
    },
  });
}

function useComparison(from: string | undefined, to: string | undefined) {
  return useQuery({
    queryKey: ["ledger", "comparison", from, to],
    enabled: Boolean(from && to),
    staleTime: Number.POSITIVE_INFINITY, // entries stay as they are
    queryFn: ({ signal }) =>
      data(
        client.GET("/api/v1/ledger/{id}/diff/{other}", {
          params: { path: { id: from as string, other: to as string } },
          signal,
        }),
      ),
  });
}

const nameOf = (e: Operation): string =>
  [actionName(e.action), short(e.revision), exact(e.finishedAt), e.phase].filter(Boolean).join(" · ");

// Changes is what an operation did to objects, each with how it was rendered otherwise than by the operation before.
export function Changes({ entry }: { entry: Detail }) {
  const others = useOthers(entry);
  const last = others.data && before(entry, others.data);
  const comparison = useComparison(last?.id, entry.id);
  const list = useMemo(
    () => touched(entry.changes ?? [], comparison.data?.items ?? []),
    [entry.changes, comparison.data],
  );
  const error = others.error ?? comparison.error;
  const reading = others.isPending || comparison.isLoading;
  return (
    <div className="space-y-3">
      <p role="status" className="text-muted">
        {reading
          ? "Reading the previous operation…"
          : last
            ? `Differences from the previous operation: ${nameOf(last)}. Values of secrets are hashes.`
            : "There is no previous operation to compare with."}
      </p>
      {error != null && <ErrorNote error={error} />}
      <Warnings of={comparison.data} />
      {list.length === 0 && !reading ? (
        <Empty title="It changed nothing">
          {entry.counts.unchanged > 0
            ? `${plural(entry.counts.unchanged, "object was", "objects were")} already in the desired state.`
            : "It ended before it reached an object, or there was none."}
        </Empty>
      ) : (
        <Objects list={list} />
      )}
    </div>
  );
}

function Warnings({ of: comparison }: { of: { warnings: string[] | null } | undefined }) {
  if (!comparison?.warnings?.length) {
    return null;
  }
  return (
    <ul className="list-disc rounded-md bg-warn-soft py-2 pr-3 pl-7 text-sm">
      {comparison.warnings.map((warning, i) => (
        <li key={i} className="break-words">
          {warning}
        </li>
      ))}
    </ul>
  );
}

function Objects({ list }: { list: Touched[] }) {
  const [all, setAll] = useState(false);
  const seen = all ? list : list.slice(0, most);
  return (
    <>
      <ul aria-label="Objects" className="space-y-2">
        {seen.map((t) => (
          <Item key={t.key} item={t} />
        ))}
      </ul>
      {seen.length < list.length && <Button onClick={() => setAll(true)}>Show all {count(list.length)} objects</Button>}
    </>
  );
}

function Item({ item: { object, change, compared } }: { item: Touched }) {
  const [open, setOpen] = useState(false);
  const diff = compared?.diff ?? "";
  const lines = useMemo(() => counts(parseUnified(diff)), [diff]);
  const verb = change?.verb ?? compared?.change ?? "";
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <li className="rounded-md border">
      <div className="flex items-center gap-2 pr-2">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-w-0 flex-1 flex-wrap items-center gap-2 px-3 py-2 text-left hover:bg-idle-soft"
        >
          <Chevron size={15} aria-hidden className="shrink-0 text-muted" />
          <Badge tone={tones[verb] ?? "idle"}>{verb}</Badge>
          <span className="min-w-0 font-medium break-all">{placeOf(object)}</span>
          {change?.hook && <Badge>{change.hook}</Badge>}
          {change && change.outcome !== "Succeeded" && <Badge tone="bad">{change.outcome}</Badge>}
          {diff && (
            <span className="text-sm">
              <span className="text-ok">+{lines.added}</span> <span className="text-bad">−{lines.removed}</span>
            </span>
          )}
        </button>
        {diff && <Copy text={diff} label={`Copy the difference of ${placeOf(object)}`} />}
      </div>
      {open && (
        <div className="space-y-2 border-t p-3">
          {change?.message && <p className="break-words">{change.message}</p>}
          {diff ? (
            <DiffView text={diff} label={`Difference of ${placeOf(object)}`} />
          ) : (
            <p className="text-muted">
              {compared
                ? "Its manifests are missing or too large, so the difference cannot be shown."
                : "Its manifest is the same as before: the operation reverted a change in the cluster, or there is nothing to compare with."}
            </p>
          )}
        </div>
      )}
    </li>
  );
}

// Comparison is what an operation rendered otherwise than another one, the older one first.
export function Comparison({ entry }: { entry: Detail }) {
  const [search, set] = useAddress();
  const others = useOthers(entry);
  const chosen = one(search, "with") || (others.data && before(entry, others.data)?.id) || "";
  const other = others.data?.find((o) => o.id === chosen);
  const later = Boolean(other && Date.parse(other.finishedAt) > Date.parse(entry.finishedAt));
  // Until the others are known it is not known either which of both is the older one.
  const ready = others.data !== undefined && chosen !== "";
  const [from, to] = later ? [entry.id, chosen] : [chosen, entry.id];
  const comparison = useComparison(ready ? from : undefined, to);
  return (
    <Loaded query={others}>
      {(list) =>
        list.length === 0 && !chosen ? (
          <Empty title="There is nothing to compare with">
            It is the only operation on {entry.name} that the ledger has.
          </Empty>
        ) : (
          <div className="space-y-3">
            <Field label="Compare with" hint="An operation on the same application. Values of secrets are hashes.">
              <Select value={chosen} onChange={(e) => set({ with: e.target.value })}>
                {!chosen && <option value="">Choose an operation</option>}
                {chosen && !other && <option value={chosen}>Entry {chosen}</option>}
                {list.map((o) => (
                  <option key={o.id} value={o.id}>
                    {nameOf(o)}
                  </option>
                ))}
              </Select>
            </Field>
            {!ready ? null : comparison.isPending ? (
              <Loading rows={4} />
            ) : (
              <Loaded query={comparison}>
                {(found) => (
                  <>
                    <p role="status" className="text-muted">
                      From {nameOf(found.from)} to {nameOf(found.to)}:{" "}
                      {plural(found.items?.length ?? 0, "object differs", "objects differ")}, {count(found.same)} alike.
                    </p>
                    <Warnings of={found} />
                    <Objects list={touched([], found.items ?? [])} />
                  </>
                )}
              </Loaded>
            )}
          </div>
        )
      }
    </Loaded>
  );
}
