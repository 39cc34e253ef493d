import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, Wand2 } from "lucide-react";
import { useState } from "react";
import { one, type Search } from "@/lib/search";
import { may, useMissing, useSession } from "@/lib/session";
import { Button } from "@/ui/button";
import { SearchBox } from "@/ui/list-filters";
import { Checkbox, Select } from "@/ui/field";
import { Card, Page } from "@/ui/page";
import { Empty, Loaded, NoneYet, NoPermission } from "@/ui/states";
import { type Column, Table } from "@/ui/table";
import { VersionCell } from "./cell";
import { placesOf } from "./columns";
import { environmentsQuery, type MatrixFilter, matrixQuery, type Row, useAlso } from "./data";
import { EditService } from "./edit-service";
import { FindServices } from "./find";

export default function Services() {
  const missing = useMissing("service_view");
  return missing ? (
    <Page title="Services">
      <NoPermission why={missing} />
    </Page>
  ) : (
    <Matrix />
  );
}

function filterOf(search: Search): MatrixFilter {
  const type = one(search, "type");
  return {
    ...(one(search, "search") ? { search: one(search, "search") } : {}),
    ...(type === "Production" || type === "PreProduction" ? { type } : {}),
    ...(one(search, "region") ? { region: one(search, "region") } : {}),
    ...(one(search, "drift") === "true" ? { drift: true as const } : {}),
  };
}

// Matrix is which version of each service runs in which environment.
function Matrix() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const filter = filterOf(search);
  const [making, setMaking] = useState(false);
  const [finding, setFinding] = useState(false);
  const missing = useMissing("service_edit");
  const mayEnvironments = may(useSession(), "environment_view");
  const environments = useQuery({ ...environmentsQuery, enabled: mayEnvironments });
  const query = useInfiniteQuery({ ...matrixQuery(filter), placeholderData: (before) => before });
  useAlso();
  const set = (next: Search, replace = false) =>
    void navigate({ to: "/services", search: { ...search, ...next } as never, replace });
  const rows = query.data?.pages.flatMap((p) => p.items ?? []) ?? [];
  const regions = [...new Set((environments.data ?? []).map((e) => e.region ?? "").filter(Boolean))].sort();
  const narrowed = Object.keys(filter).length > 0;
  const columns: Column<Row>[] = [
    {
      key: "service",
      title: "Service",
      width: "minmax(10rem, 1fr)",
      cell: (r) => (
        <Link
          to="/services/$service"
          params={{ service: r.service }}
          title={r.service}
          className="font-medium hover:underline"
        >
          {r.displayName || r.name}
        </Link>
      ),
    },
    ...placesOf(rows, environments.data ?? []).map((place) => ({
      key: place.id,
      title: (
        <span title={[place.id, place.type, place.region].filter(Boolean).join(", ")}>
          {place.name}
          {place.region && <span className="font-normal"> · {place.region}</span>}
        </span>
      ),
      width: "minmax(13rem, 1fr)",
      cell: (r: Row) => <VersionCell row={r} environment={place.id} />,
    })),
  ];
  return (
    <Page
      title="Services"
      about="The version of each service in each environment, and the environments that are behind."
      actions={
        <>
          <Button onClick={() => setFinding(true)} why={missing}>
            <Wand2 size={14} aria-hidden />
            Find services
          </Button>
          <Button look="primary" onClick={() => setMaking(true)} why={missing}>
            <Plus size={14} aria-hidden />
            New service
          </Button>
        </>
      }
    >
      <div className="flex flex-wrap items-center gap-3">
        <SearchBox name="search" label="Search services" />
        <Select
          aria-label="Type of environment"
          className="w-44"
          value={filter.type ?? ""}
          onChange={(e) => set({ type: e.target.value })}
        >
          <option value="">All environments</option>
          <option value="Production">Production</option>
          <option value="PreProduction">Pre-production</option>
        </Select>
        {regions.length > 0 && (
          <Select
            aria-label="Region"
            className="w-36"
            value={filter.region ?? ""}
            onChange={(e) => set({ region: e.target.value })}
          >
            <option value="">All regions</option>
            {regions.map((r) => (
              <option key={r}>{r}</option>
            ))}
          </Select>
        )}
        <Checkbox
          label="Only services that are behind"
          checked={filter.drift ?? false}
          onChange={(e) => set({ drift: e.target.checked ? "true" : "" })}
        />
      </div>
      <Card flush>
        <Loaded query={{ ...query, data: query.data }}>
          {() =>
            rows.length > 0 ? (
              <Table
                label="Services and their versions"
                rows={rows}
                columns={columns}
                rowKey={(r) => r.service}
                rowHeight={52}
                className="max-h-[calc(100dvh-14rem)]"
                onOpen={(r) => void navigate({ to: "/services/$service", params: { service: r.service } })}
                onEnd={() => query.hasNextPage && !query.isFetching && void query.fetchNextPage()}
              />
            ) : narrowed ? (
              <Empty
                filtered
                title={filter.drift && !filter.search ? "Nothing is behind" : "No service matches"}
                action={
                  <Button onClick={() => set({ search: "", type: "", region: "", drift: "" })}>Clear the filter</Button>
                }
              />
            ) : (
              <NoneYet
                many="services"
                permission="service_view"
                title="There are no services yet"
                action={
                  <>
                    <Button look="primary" why={missing} onClick={() => setFinding(true)}>
                      Find services
                    </Button>
                    <Button why={missing} onClick={() => setMaking(true)}>
                      New service
                    </Button>
                  </>
                }
              >
                A service is what runs in one or more environments. Applications belong to it by the label
                slipway.io/service, or by a link; they can be found by the names of applications.
              </NoneYet>
            )
          }
        </Loaded>
      </Card>
      {making && <EditService onClose={() => setMaking(false)} />}
      {finding && <FindServices onClose={() => setFinding(false)} />}
    </Page>
  );
}
