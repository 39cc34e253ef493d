import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { useChoices } from "@/lib/entity";
import { plural } from "@/lib/format";
import { agents } from "@/lib/kinds";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Field, Select } from "@/ui/field";
import { ErrorNote, Loaded, Loading, NoneYet, NoPermission } from "@/ui/states";
import { Table } from "@/ui/table";
import { toast } from "@/ui/toast";
import { reread } from "./data";

// FindServices proposes services and environments for the applications of an agent that belong to none, and makes them.
export function FindServices({ onClose }: { onClose: () => void }) {
  const [agent, setAgent] = useState("");
  const { missing, query: all } = useChoices(agents);
  const at = agent || all.data?.[0]?.id || "";
  const plan = useQuery({
    queryKey: ["application", "links", at],
    enabled: at !== "",
    queryFn: ({ signal }) =>
      data(client.POST("/api/v1/agents/{id}/links", { params: { path: { id: at }, query: { dryRun: true } }, signal })),
  });
  const make = useMutation({
    mutationFn: () => data(client.POST("/api/v1/agents/{id}/links", { params: { path: { id: at }, query: {} } })),
    onSuccess: async (made) => {
      await reread();
      toast(`${plural((made.items ?? []).length, "application")} linked`);
      onClose();
    },
  });
  const items = plan.data?.items ?? [];
  return (
    <Dialog
      open
      onClose={onClose}
      className="max-w-3xl"
      title="Find services"
      description="From the labels of applications, otherwise from their names without the environment at the end."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={make.isPending} disabled={items.length === 0} onClick={() => make.mutate()}>
            Link {plural(items.length, "application")}
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        {missing ? (
          <NoPermission why={`Services are derived by agent, and you may view none. ${missing}`} />
        ) : (
          <Loaded query={all} loading={<Loading rows={3} />}>
            {(list) =>
              list.length === 0 ? (
                <NoneYet many="agents" permission="agent_view">
                  Services are derived from the applications that an agent reports.
                </NoneYet>
              ) : (
                <Field label="Applications of">
                  <Select value={at} onChange={(e) => setAgent(e.target.value)}>
                    {list.map((a) => (
                      <option key={a.id} value={a.id}>
                        {a.id}
                      </option>
                    ))}
                  </Select>
                </Field>
              )
            }
          </Loaded>
        )}
        {at !== "" && (
          <Loaded query={plan} loading={<Loading rows={3} />}>
            {(found) => <Proposals plan={found} />}
          </Loaded>
        )}
        {make.error && <ErrorNote error={make.error} />}
      </div>
    </Dialog>
  );
}

// Proposals is what would be made and linked.
function Proposals({ plan }: { plan: Schemas["LinkPlan"] }) {
  const items = plan.items ?? [];
  return items.length === 0 ? (
    <p className="text-muted">All its applications belong to a service, or no service could be derived.</p>
  ) : (
    <>
      <p>
        {plural((plan.services ?? []).length, "service")} and {plural((plan.environments ?? []).length, "environment")}{" "}
        are made.
      </p>
      <Table
        label="Proposals"
        className="max-h-72 rounded-md border"
        rowHeight={32}
        rows={items}
        rowKey={(i) => i.application}
        columns={[
          {
            key: "application",
            title: "Application",
            width: "minmax(9rem, 1fr)",
            cell: (i) => <span title={i.application}>{i.application.split("/").at(-1)}</span>,
          },
          { key: "service", title: "Service", width: "minmax(9rem, 1fr)", cell: (i) => i.service },
          {
            key: "environment",
            title: "Environment",
            width: "minmax(9rem, 1fr)",
            cell: (i) => i.environment,
          },
          {
            key: "why",
            title: "Why",
            width: "minmax(10rem, 1.5fr)",
            cell: (i) => <span title={i.why}>{i.why}</span>,
          },
        ]}
      />
    </>
  );
}
