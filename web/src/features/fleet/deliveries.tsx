import { useQuery } from "@tanstack/react-query";
import { count, plural } from "@/lib/format";
import { Card } from "@/ui/page";
import { Loaded, Loading } from "@/ui/states";
import { Chart } from "./chart";
import { doraQuery, levelsQuery } from "./data";
import { percent, seconds } from "./figures";

// Deliveries are the four figures of delivery of the last 30 days, and how long deliveries take.
export function Deliveries() {
  const dora = useQuery(doraQuery);
  return (
    <Card title="Deliveries of the last 30 days">
      <Loaded query={dora} loading={<Loading rows={4} />}>
        {(d) => {
          const series = d.series ?? [];
          return (
            <div className="space-y-5">
              <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
                <Figure
                  name="Deployments a day"
                  value={d.perDay < 10 ? d.perDay.toFixed(1).replace(/\.0$/, "") : count(Math.round(d.perDay))}
                  more={`${plural(d.deployments, "deployment")}, ${count(d.automatic)} automatic`}
                />
                <Figure
                  name="Lead time"
                  value={seconds(d.leadTime.p50)}
                  more={d.leadTime.p90 === undefined ? "Nothing deployed" : `p90 ${seconds(d.leadTime.p90)}`}
                />
                <Figure
                  name="Failure rate"
                  value={percent(d.failureRate)}
                  more={`${count(d.failures)} of ${plural(d.changes, "change")}`}
                />
                <Figure
                  name="Time to restore"
                  value={seconds(d.restore.p50)}
                  more={
                    d.unrestored > 0
                      ? `${count(d.unrestored)} not restored`
                      : d.restore.p90 === undefined
                        ? "Nothing to restore"
                        : `p90 ${seconds(d.restore.p90)}`
                  }
                />
              </dl>
              {d.deployments > 0 && (
                <div className="grid gap-5 sm:grid-cols-2">
                  <Chart
                    title="Deployments"
                    points={series.map((p) => ({ from: p.from, value: p.deployments }))}
                    write={(n) => count(n ?? 0)}
                  />
                  <Chart
                    title="Lead time"
                    tone="fill-busy-fill"
                    points={series.map((p) => ({ from: p.from, value: p.leadTime.p50 }))}
                    write={seconds}
                  />
                  <Chart
                    title="Failure rate"
                    tone="fill-bad-fill"
                    points={series.map((p) => ({ from: p.from, value: p.failureRate }))}
                    write={percent}
                  />
                  <Chart
                    title="Time to restore"
                    tone="fill-warn-fill"
                    points={series.map((p) => ({ from: p.from, value: p.restore.p50 }))}
                    write={seconds}
                  />
                </div>
              )}
              <Levels />
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}

function Figure({ name, value, more }: { name: string; value: string; more: string }) {
  return (
    <div>
      <dt className="text-sm text-muted">{name}</dt>
      <dd>
        <span className="text-xl font-semibold tabular-nums">{value}</span>
        <span className="block text-sm text-muted">{more}</span>
      </dd>
    </div>
  );
}

const steps = [
  ["detected", "Commit to detected"],
  ["rendered", "Rendered"],
  ["applied", "Applied"],
  ["healthy", "Healthy"],
  ["whole", "All of it"],
] as const;

// Levels are how long the deployer takes, from commit to healthy.
function Levels() {
  const levels = useQuery(levelsQuery);
  return (
    <Loaded query={levels} loading={<Loading rows={3} />}>
      {({ all }) =>
        all.deliveries === 0 ? null : (
          <div role="region" aria-label="Service levels">
            <table className="w-full">
              <caption className="mb-1 text-left text-sm font-medium">
                From commit to healthy, of {plural(all.deliveries, "delivery", "deliveries")}
              </caption>
              <thead className="text-left text-sm text-muted">
                <tr>
                  <th scope="col" className="py-1 font-medium">
                    Step
                  </th>
                  <th scope="col" className="pl-2 text-right font-medium">
                    p50
                  </th>
                  <th scope="col" className="pl-2 text-right font-medium">
                    p90
                  </th>
                  <th scope="col" className="pl-2 text-right font-medium">
                    p99
                  </th>
                </tr>
              </thead>
              <tbody>
                {steps.map(([key, label]) => (
                  <tr key={key} className="border-t">
                    <th scope="row" className="py-1 text-left font-normal">
                      {label}
                    </th>
                    {(["p50", "p90", "p99"] as const).map((p) => (
                      <td key={p} className="pl-2 text-right whitespace-nowrap tabular-nums">
                        {seconds(all[key][p])}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }
    </Loaded>
  );
}
