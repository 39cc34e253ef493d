import { allQuery } from "@/lib/entity";
import { useQuery } from "@tanstack/react-query";
import { agents } from "@/lib/kinds";
import { may, useMissing, useSession } from "@/lib/session";
import { Page } from "@/ui/page";
import { Loaded, Loading, NoPermission } from "@/ui/states";
import { Attention } from "./attention";
import { summaryQuery, useCalm } from "./data";
import { Deliveries } from "./deliveries";
import { FirstRun } from "./first";
import { Tour } from "./tour";
import { Totals } from "./totals";
import { Matrix } from "./matrix";
import { Recent } from "./recent";

// Fleet shows at a glance what needs attention, and the state of everything.
export default function Fleet() {
  const missing = useMissing("application_view");
  return missing ? (
    <Page title="Fleet">
      <NoPermission why={missing} />
    </Page>
  ) : (
    <Seen />
  );
}

function Seen() {
  const summary = useQuery(summaryQuery);
  const mayAgents = may(useSession(), "agent_view");
  const empty = summary.data?.total === 0;
  const all = useQuery({ ...allQuery(agents), enabled: mayAgents && empty });
  useCalm();
  return (
    <Page title="Fleet">
      <Loaded query={summary} loading={<Loading rows={10} label="Reading the fleet" />}>
        {(s) =>
          empty ? (
            all.isLoading ? (
              <Loading rows={4} />
            ) : (
              <FirstRun agents={all.data ?? []} />
            )
          ) : (
            <div className="space-y-4">
              <Attention />
              <Tour />
              <Totals summary={s} />
              <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
                <div className="min-w-0 space-y-4">
                  <Matrix />
                  <Deliveries />
                </div>
                <div className="min-w-0 space-y-4">
                  <Recent />
                </div>
              </div>
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}
