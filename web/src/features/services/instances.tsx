import { useQuery } from "@tanstack/react-query";
import { client, data, type Schemas } from "@/api/client";
import { Ago } from "@/ui/ago";
import { ImageName } from "@/ui/image";
import { Card } from "@/ui/page";
import { Loaded, Loading } from "@/ui/states";
import { Status } from "@/ui/status";
import { Table } from "@/ui/table";

type Pod = Schemas["Instance"] & {
  application: string;
  environment: string;
};

export function Instances({ service }: { service: string }) {
  const query = useQuery({
    queryKey: ["application", "instances", service],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/instances", { params: { query: { service, limit: 200 } }, signal })),
    refetchInterval: 10_000,
  });
  return (
    <Card flush title="Pods">
      <Loaded query={query} loading={<Loading rows={3} />}>
        {(page) => {
          const pods: Pod[] = (page.items ?? []).flatMap((i) =>
            (i.instances ?? []).map((p) => ({ ...p, application: i.application, environment: i.environment ?? "" })),
          );
          return pods.length === 0 ? (
            <p className="px-4 py-3 text-muted">Its applications have no pods.</p>
          ) : (
            <Table
              label="Pods"
              className="max-h-80"
              rowHeight={34}
              rows={pods}
              rowKey={(p) => `${p.application} ${p.namespace}/${p.pod}`}
              columns={[
                {
                  key: "pod",
                  title: "Pod",
                  width: "minmax(14rem, 1.5fr)",
                  cell: (p) => <span title={p.pod}>{p.pod}</span>,
                },
                {
                  key: "ready",
                  title: "Ready",
                  width: "7rem",
                  cell: (p) => (
                    <Status
                      status={p.ready ? "Healthy" : "Progressing"}
                      label={p.ready ? "Ready" : (p.phase ?? "Not ready")}
                    />
                  ),
                },
                {
                  key: "environment",
                  title: "Environment",
                  width: "minmax(8rem, 1fr)",
                  cell: (p) => p.environment.split(".").at(-1),
                },
                {
                  key: "image",
                  title: "Image",
                  width: "minmax(12rem, 1.5fr)",
                  cell: (p) => p.images?.[0] && <ImageName image={p.images[0]} title={p.images.join("\n")} />,
                },
                { key: "node", title: "Node", width: "minmax(7rem, 1fr)", cell: (p) => p.node },
                { key: "started", title: "Started", width: "9.5rem", cell: (p) => <Ago at={p.startedAt} /> },
              ]}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
