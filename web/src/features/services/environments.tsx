import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { client, data } from "@/api/client";
import { count, plural } from "@/lib/format";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Card, Page } from "@/ui/page";
import { Loaded, NoneYet, NoPermission } from "@/ui/states";
import { Badge, StatusIcon } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { toast } from "@/ui/toast";
import { type Environment, environmentsQuery, reread, useAlso } from "./data";
import { EditEnvironment } from "./edit-environment";

export default function Environments() {
  const missing = useMissing("environment_view");
  return missing ? (
    <Page title="Environments">
      <NoPermission why={missing} />
    </Page>
  ) : (
    <List />
  );
}

// List shows all environments with how their applications are.
function List() {
  const query = useQuery(environmentsQuery);
  const noApplications = useMissing("application_view");
  const matrix = useQuery({
    enabled: !noApplications,
    queryKey: ["application", "matrix", "environment"],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/fleet/matrix", { params: { query: { by: "environment" } }, signal })),
  });
  const [editing, setEditing] = useState<Environment | "new" | null>(null);
  const [deleting, setDeleting] = useState<Environment | null>(null);
  const missing = useMissing("environment_edit");
  const missingDelete = useMissing("environment_delete");
  useAlso();
  const tallies = new Map((matrix.data?.rows ?? []).map((r) => [r.value, r]));
  // Environments that the matrix does not have, have none.
  const totalOf = (e: Environment) => matrix.data && (tallies.get(e.id ?? "")?.total ?? 0);
  const columns: Column<Environment>[] = [
    {
      key: "name",
      title: "Environment",
      width: "minmax(10rem, 1.2fr)",
      cell: (e) => (
        <span title={e.id}>
          <span className="font-medium">{e.displayName || e.name}</span>{" "}
          <span className="text-muted">{e.scope !== "account" && e.scope}</span>
        </span>
      ),
    },
    {
      key: "type",
      title: "Type",
      width: "9rem",
      cell: (e) => (e.type === "Production" ? <Badge tone="busy">Production</Badge> : <Badge>Pre-production</Badge>),
    },
    { key: "region", title: "Region", width: "7rem", cell: (e) => e.region },
    {
      key: "clusters",
      title: "Clusters",
      width: "minmax(9rem, 1fr)",
      cell: (e) => (
        <span title={(e.clusters ?? []).map((c) => `${c.agent}: ${c.cluster}`).join("\n")}>
          {(e.clusters ?? []).map((c) => `${c.agent} ${c.cluster}`).join(", ") || (
            <span className="text-muted">by label or link</span>
          )}
        </span>
      ),
    },
    {
      key: "applications",
      title: "Applications",
      width: "minmax(9rem, 1fr)",
      cell: (e) => {
        const t = tallies.get(e.id ?? "");
        const total = totalOf(e);
        if (noApplications) {
          return <span title={noApplications}>?</span>;
        }
        return (
          <Link to="/applications" search={{ environment: e.id } as never} preload={false} className="hover:underline">
            {total === undefined ? "…" : count(total)}
            {(["Degraded", "Missing"] as const).map(
              (h) =>
                (t?.health[h] ?? 0) > 0 && (
                  <span key={h} className="ml-2 inline-flex items-center gap-1">
                    <StatusIcon status={h} /> {count(t?.health[h] ?? 0)}
                  </span>
                ),
            )}
          </Link>
        );
      },
    },
    {
      key: "actions",
      title: <span className="sr-only">Actions</span>,
      width: "11rem",
      align: "right",
      cell: (e) => (
        <span className="inline-flex gap-1">
          <Button small look="ghost" why={missing} aria-label={`Change ${e.name}`} onClick={() => setEditing(e)}>
            Change
          </Button>
          <Button small look="ghost" why={missingDelete} aria-label={`Delete ${e.name}`} onClick={() => setDeleting(e)}>
            Delete
          </Button>
        </span>
      ),
    },
  ];
  return (
    <Page
      title="Environments"
      about="Places where services run, and their clusters"
      actions={
        <Button look="primary" why={missing} onClick={() => setEditing("new")}>
          <Plus size={14} aria-hidden />
          New environment
        </Button>
      }
    >
      {noApplications && (
        <p className="text-muted">The numbers of their applications are not available. {noApplications}</p>
      )}
      <Card flush>
        <Loaded query={query}>
          {(list) =>
            list.length === 0 ? (
              <NoneYet
                many="environments"
                permission="environment_view"
                title="There are no environments yet"
                action={
                  <Button look="primary" why={missing} onClick={() => setEditing("new")}>
                    New environment
                  </Button>
                }
              >
                An environment is one or more clusters, such as production or staging. Services are compared between
                them.
              </NoneYet>
            ) : (
              <Table
                label="Environments"
                rows={list}
                columns={columns}
                rowKey={(e) => e.id ?? ""}
                rowHeight={44}
                className="max-h-[calc(100dvh-11rem)]"
              />
            )
          }
        </Loaded>
      </Card>
      {editing !== null && (
        <EditEnvironment
          {...(editing === "new" ? {} : { environment: editing })}
          onClose={() => setEditing(null)}
          onReload={() => void reread().then(() => setEditing(null))}
        />
      )}
      {deleting && <Delete environment={deleting} applications={totalOf(deleting)} onClose={() => setDeleting(null)} />}
    </Page>
  );
}

function Delete({
  environment,
  applications,
  onClose,
}: {
  environment: Environment;
  // undefined where it is not known
  applications: number | undefined;
  onClose: () => void;
}) {
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Delete the environment ${environment.name}`}
      action={`Delete ${environment.name}`}
      onConfirm={async () => {
        await data(
          client.DELETE("/api/v1/environments/{id}", {
            params: { path: { id: environment.id ?? "" }, query: { force: true } },
          }),
        );
        toast(`The environment ${environment.name} is deleted`);
        void reread();
      }}
    >
      <p>
        The environment {environment.id} goes, and the links of applications to it. Its clusters and applications stay
        as they are: {applications === undefined ? "all applications" : plural(applications, "application")} and{" "}
        {plural(environment.clusters?.length ?? 0, "cluster")}.
      </p>
    </Confirm>
  );
}
