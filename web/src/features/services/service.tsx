import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { client, data } from "@/api/client";
import { plural, short } from "@/lib/format";
import { useMissing } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Card, Page } from "@/ui/page";
import { Empty, Loaded, Loading } from "@/ui/states";
import { Badge, Status, StatusIcon } from "@/ui/status";
import { toast } from "@/ui/toast";
import { behind, placesOf } from "./columns";
import { type Cell, matrixQuery, reread, type Row, type Service, useAlso } from "./data";
import { EditService } from "./edit-service";
import { Instances } from "./instances";
import { History } from "./service-history";

// ServicePage is one service: where it runs in which version, its pods, and what was deployed.
export default function ServicePage() {
  const { service: id } = useParams({ strict: false }) as { service: string };
  const query = useQuery({
    queryKey: ["service", "one", id],
    queryFn: ({ signal }) => data(client.GET("/api/v1/services/{id}", { params: { path: { id } }, signal })),
  });
  const rows = useInfiniteQuery(matrixQuery({ service: id }));
  useAlso();
  return (
    <Page
      title={query.data?.displayName || query.data?.name || id}
      name={query.data?.name ?? id}
      about={query.data?.description}
      actions={query.data && <Actions service={query.data} row={rows.data?.pages[0]?.items?.[0]} />}
    >
      <Loaded query={query}>
        {() => (
          <div className="space-y-4">
            <Loaded query={{ ...rows, data: rows.data }} loading={<Loading rows={4} />}>
              {(pages) => <Places row={pages.pages[0]?.items?.[0]} />}
            </Loaded>
            <Instances service={id} />
            <History service={id} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ service, row }: { service: Service; row: Row | undefined }) {
  const navigate = useNavigate();
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [reads, setReads] = useState(0);
  const missing = useMissing("service_edit", service.scope);
  const missingDelete = useMissing("service_delete", service.scope);
  return (
    <>
      <Button asChild>
        <Link to="/applications" search={{ service: service.id } as never}>
          Applications
        </Link>
      </Button>
      <Button why={missing} onClick={() => setEditing(true)}>
        Change
      </Button>
      <Button why={missingDelete} onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {editing && (
        <EditService
          key={reads}
          service={service}
          onClose={() => setEditing(false)}
          onReload={() => void reread().then(() => setReads(reads + 1))}
        />
      )}
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title={`Delete the service ${service.name}`}
        action={`Delete ${service.name}`}
        onConfirm={async () => {
          await data(
            client.DELETE("/api/v1/services/{id}", {
              params: { path: { id: service.id ?? "" }, query: { force: true } },
            }),
          );
          toast(`The service ${service.name} is deleted`);
          await navigate({ to: "/services" });
          void reread();
        }}
      >
        <p>
          The service {service.id} is deleted with the links of applications to it. The applications stay and keep
          running.
        </p>
        <Applications row={row} />
      </Confirm>
    </>
  );
}

// Applications names those that belong to the service.
function Applications({ row }: { row: Row | undefined }) {
  const ids = [...new Set((row?.cells ?? []).flatMap((c) => (c.applications ?? []).map((a) => a.id)))].sort();
  return (
    ids.length > 0 && (
      <>
        <p>{plural(ids.length, "application")} of it that you may see:</p>
        <ul aria-label="Applications of the service" className="max-h-48 list-disc overflow-auto pl-5">
          {ids.map((id) => (
            <li key={id} className="break-all">
              {id}
            </li>
          ))}
        </ul>
      </>
    )
  );
}

function Places({ row }: { row: Row | undefined }) {
  if (!row || (row.cells ?? []).length === 0) {
    return (
      <Card>
        <Empty title="It runs in no environment that you may view">
          Give an Application the label slipway.io/service with the name of this service, or link it on its settings
          page.
        </Empty>
      </Card>
    );
  }
  const cells = new Map((row.cells ?? []).map((c) => [c.environment, c]));
  return (
    <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
      {placesOf([row], []).map((place) => {
        const cell = cells.get(place.id);
        return cell ? <Place key={place.id} row={row} cell={cell} name={place.name} /> : null;
      })}
    </div>
  );
}

function Place({ row, cell, name }: { row: Row; cell: Cell; name: string }) {
  const late = behind(row, cell.environment);
  return (
    <Card
      flush
      title={
        <span title={cell.environment}>
          {name} {cell.region && <span className="font-normal text-muted">{cell.region}</span>}
        </span>
      }
      actions={cell.type === "Production" && <Badge tone="busy">Production</Badge>}
    >
      <div className="space-y-1 border-b px-4 py-3">
        <div className="flex flex-wrap items-center gap-2">
          <span className="text-lg font-semibold break-all">{short(cell.version) || "unknown"}</span>
          {cell.mixed && <Badge tone="warn">several versions</Badge>}
          {late && <Badge tone="held">behind {short(late.newest)}</Badge>}
        </div>
        <div className="flex flex-wrap gap-x-3 text-sm">
          <Status status={cell.health} />
          <Status status={cell.sync} />
          {cell.total > 0 && (
            <span className="text-muted">
              {cell.ready} of {plural(cell.total, "pod")} ready
            </span>
          )}
        </div>
        <p className="text-sm text-muted">
          since <Ago at={cell.since} none="never healthy" />
          {late && `; ${short(late.newest)} runs in ${late.behind}`}
        </p>
      </div>
      <ul className="max-h-60 divide-y overflow-auto">
        {(cell.applications ?? []).map((a) => {
          const [agent = "", namespace = "", app = ""] = a.id.split("/");
          return (
            <li key={a.id} className="flex items-center gap-2 px-4 py-1.5">
              <StatusIcon status={a.health} />
              <Link
                to="/applications/$agent/$namespace/$name"
                params={{ agent, namespace, name: app }}
                title={a.id}
                className="min-w-0 flex-1 truncate hover:underline"
              >
                {app} <span className="text-muted">{agent}</span>
              </Link>
              <span className="max-w-1/2 truncate text-sm text-muted" title={a.version}>
                {short(a.version)}
              </span>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
