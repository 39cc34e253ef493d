import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { stringify } from "yaml";
import { client, data } from "@/api/client";
import { finished } from "@/lib/command";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Code } from "@/ui/code";
import { Snippet } from "@/ui/copy";
import { Confirm } from "@/ui/confirm";
import { Card, Facts, Page } from "@/ui/page";
import { Loaded } from "@/ui/states";
import { Badge, Status } from "@/ui/status";
import { toast } from "@/ui/toast";
import { conditionsOf, generatorsOf, type SetItem, stateOf, workedOn } from "./set-state";

// ApplicationSet is one set as its cluster has it.
export default function ApplicationSet() {
  const { agent = "", namespace = "", name = "" } = useParams({ strict: false });
  const set = useQuery({
    queryKey: ["applicationset", "one", agent, namespace, name],
    queryFn: () =>
      data(
        client.GET("/api/v1/agents/{agent}/applicationsets/{namespace}/{name}", {
          params: { path: { agent, namespace, name } },
        }),
      ) as Promise<SetItem>,
  });
  return <Loaded query={set}>{(item) => <One item={item} />}</Loaded>;
}

// Controller says what makes applications of a set: nothing does where the cluster has no controller for them.
function Controller({ item }: { item: SetItem }) {
  const who = "Slipway shows application sets, but does not generate applications from them yet.";
  if (workedOn(item)) {
    return <p className="text-sm text-muted">{who} The ApplicationSet controller in the cluster processes this set.</p>;
  }
  return (
    <section aria-label="No controller" className="rounded-lg border bg-surface px-4 py-3">
      <h2 className="flex items-center gap-2 font-medium text-warn">
        <TriangleAlert size={16} aria-hidden className="shrink-0" />
        No controller processes this set
      </h2>
      <p className="mt-1 text-muted">
        {who} Only the ApplicationSet controller of an Argo CD in the cluster does, and none has written a status here.
        If one runs, check that it watches the namespace {item.namespace}.
      </p>
      <div className="mt-2">
        <Snippet
          label="Look for the controller"
          text="kubectl get deployments -A -l app.kubernetes.io/component=applicationset-controller"
        />
      </div>
    </section>
  );
}

function One({ item }: { item: SetItem }) {
  const [remove, setRemove] = useState(false);
  const navigate = useNavigate();
  const missing = useMissing("applicationset_delete", item.scope);
  const conditions = conditionsOf(item);
  return (
    <Page
      title={item.name}
      about={`Application set in ${item.namespace}, agent ${item.agent}`}
      actions={
        <Button look="danger" why={missing} onClick={() => setRemove(true)}>
          Delete
        </Button>
      }
    >
      <Card title="State">
        <Facts
          facts={[
            ["State", <Status key="s" {...stateOf(item)} />],
            [
              "Generators",
              generatorsOf(item).map((g) => (
                <Badge key={g} className="mr-1">
                  {g}
                </Badge>
              )),
            ],
            [
              "Argo project",
              item.argoProject || (
                <span key="n" className="text-muted">
                  made by the template
                </span>
              ),
            ],
            ...conditions.map((c): [React.ReactNode, React.ReactNode] => [
              c.type,
              `${c.status}${c.message ? `: ${c.message}` : ""}`,
            ]),
          ]}
        />
      </Card>
      <Controller item={item} />
      <Card title="As in the cluster" flush>
        <Code value={stringify(item.resource)} label="Application set as YAML" className="h-[60vh] border-0" />
      </Card>
      <Confirm
        open={remove}
        onClose={() => setRemove(false)}
        title={`Delete application set ${item.name}?`}
        action={`Delete ${item.name}`}
        typed={item.name}
        onConfirm={async () => {
          const { agent, namespace, name } = item;
          finished(
            await data(
              client.DELETE("/api/v1/agents/{agent}/applicationsets/{namespace}/{name}", {
                params: { path: { agent, namespace, name }, query: {} },
              }),
            ),
          );
          toast("The application set was deleted", item.name);
          void queryClient.invalidateQueries({ queryKey: ["applicationset"] });
          await navigate({ to: "/application-sets" });
        }}
      >
        <p>
          It is deleted from the cluster of agent {item.agent}. Its applications are deleted with it, and their objects
          too, unless the set has preserveResourcesOnDeletion.
        </p>
      </Confirm>
    </Page>
  );
}
