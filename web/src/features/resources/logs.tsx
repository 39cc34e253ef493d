import { useQuery } from "@tanstack/react-query";
import { useApp, useAway, useScope } from "@/lib/application";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Field, Select } from "@/ui/field";
import { useTitle } from "@/ui/page";
import { Empty, Loading, NoPermission } from "@/ui/states";
import { LogView } from "./log-view";
import { hasPods, refOf } from "./model";
import { refFrom, stateQuery } from "./object-query";
import { useTree } from "./tree";

// ApplicationLogs shows the logs of all pods of an application, or of one object that has pods.
export default function ApplicationLogs() {
  const app = useApp();
  useTitle(`Logs of ${app.name}`);
  const [search, set] = useAddress();
  const missing = useMissing("application_logs", useScope(app));
  const tree = useTree(app);
  const of = one(search, "of");
  const ref = refOf(of);
  const sources = (tree.data?.nodes ?? []).filter((n) => hasPods(n.kind) && n.kind !== "ReplicaSet");
  const node = tree.data?.nodes.find((n) => n.id === of);
  const target = node ? refFrom(node) : ref;
  const state = useQuery({ ...stateQuery(app, target ?? { kind: "", name: "" }), enabled: target !== undefined });
  const away = useAway(app);
  if (missing) {
    return <NoPermission why={missing} />;
  }
  if (away) {
    return <Empty title="No logs now">{away}</Empty>;
  }
  return (
    <section aria-label="Logs" className="flex min-h-0 min-w-0 flex-col gap-3">
      <Field label="Of" className="w-full sm:w-96">
        <Select value={of} onChange={(event) => set({ of: event.target.value || undefined })}>
          <option value="">All pods of the application</option>
          {of && !node && <option value={of}>{ref ? `${ref.kind} ${ref.name}` : of}</option>}
          {sources.slice(0, 500).map((n) => (
            <option key={n.id} value={n.id}>
              {n.kind} {n.name}
            </option>
          ))}
        </Select>
      </Field>
      {target && state.isPending ? (
        <Loading />
      ) : (
        <LogView app={app} target={target} object={state.data?.live} className="h-[max(24rem,calc(100dvh-18rem))]" />
      )}
    </section>
  );
}
