import type { Schemas } from "@/api/client";

type Tally = Schemas["FleetTally"];

// The statuses in the order in which a bar shows them: what needs attention comes first.
export const healths = ["Degraded", "Missing", "Progressing", "Suspended", "Unknown", "Healthy"] as const;
export const syncs = ["OutOfSync", "Unknown", "Synced"] as const;

export interface Segment {
  status: string;
  count: number;
  // share of the bar, from 0 to 1
  share: number;
}

// segments are the parts of a bar. What is rare stays wide enough to be seen and hit: it gets at least 1.5 in 100.
export function segments(counts: Record<string, number>, order: readonly string[]): Segment[] {
  const there = order.map((status) => ({ status, count: counts[status] ?? 0 })).filter((s) => s.count > 0);
  const total = there.reduce((n, s) => n + s.count, 0);
  const least = 0.015;
  const raised = there.map((s) => ({ ...s, share: Math.max(least, s.count / total) }));
  const sum = raised.reduce((n, s) => n + s.share, 0);
  return raised.map((s) => ({ ...s, share: s.share / sum }));
}

// countsOf are counts of a summary by their value.
export const countsOf = (counts: Schemas["FleetCounts"]): Record<string, number> =>
  Object.fromEntries((counts.values ?? []).map((v) => [v.value, v.count]));

// worst sorts rows as the server does, with those that have no value at the end.
export function rowsOf(rows: Tally[]): Tally[] {
  return [...rows.filter((r) => r.value !== ""), ...rows.filter((r) => r.value === "")];
}

// seconds writes a duration in seconds for people: "3.8 s", "4 min", "2.5 h".
export function seconds(s: number | undefined): string {
  if (s === undefined) {
    return "–";
  }
  if (s < 1) {
    return `${Math.round(s * 1000)} ms`;
  }
  if (s < 60) {
    return `${round(s)} s`;
  }
  if (s < 3600) {
    return `${round(s / 60)} min`;
  }
  return s < 86_400 ? `${round(s / 3600)} h` : `${round(s / 86_400)} d`;
}

const round = (n: number): string => (n < 10 ? n.toFixed(1).replace(/\.0$/, "") : n.toFixed(0));

// percent writes a share from 0 to 1.
export const percent = (share: number | undefined): string =>
  share === undefined ? "–" : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0).replace(/\.0$/, "")} %`;

// scale is the next round number above a value, for the top of a chart.
export function scale(most: number): number {
  if (most <= 0) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= most) ?? most;
}
