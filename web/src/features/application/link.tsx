import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { type App, liveKey } from "@/lib/application";
import { queryClient } from "@/lib/query";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Card } from "@/ui/page";
import { ErrorNote, Loaded } from "@/ui/states";
import { toast } from "@/ui/toast";
import { Suggest } from "@/ui/suggest";
import { useMay } from "./use";

type Linked = Schemas["ApplicationLinked"];

const by: Record<string, string> = {
  label: "by a label of the application",
  hand: "linked by hand",
  cluster: "by its destination cluster",
};

const path = (app: App) => ({ agent: app.agent, namespace: app.namespace, name: app.name });
const address = "/api/v1/agents/{agent}/applications/{namespace}/{name}/link";

// ServiceLink says which service the application runs and in which environment, and links it by hand.
export function ServiceLink({ app }: { app: App }) {
  const query = useQuery({
    queryKey: liveKey(app, "link"),
    queryFn: () => data(client.GET(address, { params: { path: path(app) } })),
  });
  return (
    <Card title="Service and environment">
      <Loaded query={query}>{(linked) => <Form key={linked.link?.version ?? 0} app={app} linked={linked} />}</Loaded>
    </Card>
  );
}

function Form({ app, linked }: { app: App; linked: Linked }) {
  const may = useMay(app);
  const [service, setService] = useState(linked.link?.service ?? "");
  const [environment, setEnvironment] = useState(linked.link?.environment ?? "");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const does = async (call: () => Promise<unknown>, done: string) => {
    setBusy(true);
    setError(null);
    try {
      await call();
      toast(done);
      await queryClient.invalidateQueries({ queryKey: liveKey(app) });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const says = (id: string | undefined, why: string | undefined) =>
    id ? `Now ${id}, ${by[why ?? ""] ?? "as the server says"}.` : "None.";
  const same = service === (linked.link?.service ?? "") && environment === (linked.link?.environment ?? "");
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        void does(
          () =>
            data(
              client.PUT(address, {
                params: { path: path(app) },
                body: {
                  ...(service.trim() ? { service: service.trim() } : {}),
                  ...(environment.trim() ? { environment: environment.trim() } : {}),
                  ...(linked.link?.version ? { version: linked.link.version } : {}),
                },
              }),
            ),
          `${app.name} is linked`,
        );
      }}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Service" hint={says(linked.service, linked.serviceBy)}>
          <Suggest of="service" value={service} placeholder="org.acme.checkout" onChange={setService} />
        </Field>
        <Field label="Environment" hint={says(linked.environment, linked.environmentBy)}>
          <Suggest of="environment" value={environment} placeholder="org.acme.production" onChange={setEnvironment} />
        </Field>
      </div>
      {(linked.unknown?.length ?? 0) > 0 && (
        <p className="text-sm text-muted">Its labels match nothing: {linked.unknown?.join(", ")}.</p>
      )}
      {error != null && <ErrorNote error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        {linked.link && (
          <Button
            why={may.edit}
            busy={busy}
            onClick={() =>
              void does(() => data(client.DELETE(address, { params: { path: path(app) } })), "The link was removed")
            }
          >
            Remove the link
          </Button>
        )}
        <Button
          type="submit"
          look="primary"
          why={may.edit}
          busy={busy}
          disabled={same || (!service.trim() && !environment.trim())}
        >
          Link
        </Button>
      </div>
    </form>
  );
}
