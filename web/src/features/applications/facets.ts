import type { Schemas } from "@/api/client";
import { chosen, type Dimension, type Filter, without } from "./filter";

type Summary = Schemas["FleetSummary"];
type Counts = Schemas["FleetCounts"];

// Facet is a dimension that applications are counted by.
export interface Facet {
  dimension: Dimension;
  title: string;
  // several values may be chosen at a time
  several?: boolean;
  // open from the beginning
  open?: boolean;
}

export const facets: Facet[] = [
  { dimension: "health", title: "Health", several: true, open: true },
  { dimension: "sync", title: "Sync", several: true, open: true },
  { dimension: "attention", title: "Needs attention", several: true, open: true },
  { dimension: "held", title: "Held or out of date" },
  { dimension: "environment", title: "Environment", open: true },
  { dimension: "argoProject", title: "Project", open: true },
  { dimension: "driftOlder", title: "Out of sync for", open: true },
  { dimension: "phase", title: "Last operation", several: true },
  { dimension: "agent", title: "Agent" },
  { dimension: "cluster", title: "Cluster" },
  { dimension: "region", title: "Region" },
  { dimension: "service", title: "Service" },
  { dimension: "scope", title: "Scope" },
  { dimension: "version", title: "Version" },
  { dimension: "label", title: "Label", several: true },
];

// Option is a value of a facet that can be chosen.
export interface Option {
  dimension: Dimension;
  value: string;
  label: string;
  count: number;
  on: boolean;
}

// looser are the dimensions of which something is chosen, so that their own counts have to be made without them: who has
// chosen Degraded still sees how many are Missing. Labels all have to be there, so theirs stay as they are.
export function looser(filter: Filter): Dimension[] {
  return facets
    .flatMap((f): Dimension[] => (f.dimension === "held" ? ["held", "stale"] : [f.dimension]))
    .filter((dimension) => dimension !== "label" && chosen(filter, dimension).length > 0);
}

// Summaries are the counts for a filter, and for it without one of its dimensions.
export interface Summaries {
  all: Summary;
  without: Partial<Record<Dimension, Summary>>;
}

// loosened is the filter that the counts of a dimension are made with.
export const loosened = (filter: Filter, dimension: Dimension): Filter => without(filter, dimension);

// optionsOf are the values of a facet with their counts, the most frequent first.
export function optionsOf(facet: Facet, filter: Filter, summaries: Summaries): Option[] {
  const { dimension } = facet;
  const of = (d: Dimension): Summary => summaries.without[d] ?? summaries.all;
  const option = (d: Dimension, value: string, count: number, label = value): Option => ({
    dimension: d,
    value,
    label,
    count,
    on: chosen(filter, d).includes(value),
  });
  if (dimension === "held") {
    return [option("held", "true", of("held").held, "Held"), option("stale", "true", of("stale").stale, "Out of date")];
  }
  if (dimension === "driftOlder") {
    return ages(of(dimension).driftAge).map(({ age, count, label }) => option(dimension, age, count, label));
  }
  const counts = of(dimension)[dimension as keyof Summary] as Counts | undefined;
  const out = (counts?.values ?? []).filter((v) => v.value !== "").map((v) => option(dimension, v.value, v.count));
  // What is chosen and counts nothing is shown too: it can be taken back there.
  for (const value of chosen(filter, dimension)) {
    if (!out.some((o) => o.value === value)) {
      out.unshift(option(dimension, value, 0));
    }
  }
  return out;
}

// others is how many applications have a value that is not listed.
export function others(facet: Facet, summaries: Summaries): number {
  const counts = (summaries.without[facet.dimension] ?? summaries.all)[facet.dimension as keyof Summary];
  return typeof counts === "object" ? (counts.others ?? 0) : 0;
}

// ages are the counts of how long applications are out of sync, each with all that are so for longer.
function ages(counts: Counts): { age: string; count: number; label: string }[] {
  const n = (value: string) => counts.values?.find((v) => v.value === value)?.count ?? 0;
  const week = n(">=7d");
  const day = week + n("<7d");
  return [
    { age: "1h", count: day + n("<1d"), label: "more than an hour" },
    { age: "1d", count: day, label: "more than a day" },
    { age: "7d", count: week, label: "more than 7 days" },
  ];
}
