import { scale } from "./figures";

export interface Point {
  from: string;
  value: number | undefined;
}

const width = 600;
const height = 96;
const day = (at: string): string =>
  new Date(at).toLocaleDateString(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

// Chart shows a figure by day as bars, and the same as a table for users who prefer it. Without any figure there is no chart.
export function Chart({
  title,
  points,
  write,
  tone = "fill-accent",
}: {
  title: string;
  points: Point[];
  write: (value: number | undefined) => string;
  tone?: string;
}) {
  if (!points.some((p) => (p.value ?? 0) > 0)) {
    return null;
  }
  const top = scale(Math.max(0, ...points.map((p) => p.value ?? 0)));
  const step = width / Math.max(1, points.length);
  return (
    <figure className="min-w-0">
      <figcaption className="mb-1 flex justify-between text-sm">
        <span className="font-medium">{title}</span>
        <span className="text-muted">up to {write(top)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} by day; the table below has the figures`}
        className="h-24 w-full border-b"
      >
        {points.map((p, i) => {
          const tall = ((p.value ?? 0) / top) * height;
          return (
            <rect
              key={p.from}
              x={i * step + 1}
              width={Math.max(1, step - 2)}
              y={height - tall}
              height={tall}
              className={tone}
            >
              <title>{`${day(p.from)}: ${write(p.value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <div aria-hidden className="flex justify-between text-xs text-muted">
        <span>{points[0] && day(points[0].from)}</span>
        <span>{points.length > 1 && day(points.at(-1)?.from ?? "")}</span>
      </div>
      <details className="mt-1 text-sm">
        <summary className="text-muted">As a table</summary>
        <div tabIndex={0} role="region" aria-label={`${title} by day`} className="max-h-48 overflow-auto">
          <table className="w-full">
            <thead className="text-left text-muted">
              <tr>
                <th className="font-medium">Day</th>
                <th className="text-right font-medium">{title}</th>
              </tr>
            </thead>
            <tbody>
              {points.toReversed().map((p) => (
                <tr key={p.from}>
                  <td>{day(p.from)}</td>
                  <td className="text-right tabular-nums">{write(p.value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
