import { Link, useNavigate } from "@tanstack/react-router";
import { useList } from "@/lib/entity";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { SearchBox } from "@/ui/list-filters";
import { Listing } from "@/ui/listing";
import { Page } from "@/ui/page";
import { Empty, NoneYet, NoPermission } from "@/ui/states";
import { Status } from "@/ui/status";
import type { Column } from "@/ui/table";
import { generatorsOf, type SetItem, stateOf } from "./set-state";

const columns: Column<SetItem>[] = [
  {
    key: "name",
    title: "Name",
    width: "minmax(12rem, 2fr)",
    cell: (i) => (
      <Link to="/application-sets/$agent/$namespace/$name" params={i} className="font-medium hover:underline">
        {i.name}
      </Link>
    ),
  },
  {
    key: "state",
    title: "State",
    width: "minmax(8rem, 1fr)",
    cell: (i) =>
      known(i.staleSince) ? <Status status="Stale" label="No longer reported" /> : <Status {...stateOf(i)} />,
  },
  {
    key: "generators",
    title: "Generators",
    width: "minmax(9rem, 1fr)",
    cell: (i) => generatorsOf(i).join(", ") || "none",
  },
  { key: "agent", title: "Agent", width: "minmax(9rem, 1fr)", cell: (i) => i.agent },
  { key: "scope", title: "Scope", width: "minmax(8rem, 1fr)", cell: (i) => i.scope },
  { key: "updated", title: "Changed", width: "9.5rem", cell: (i) => <Ago at={i.updatedAt} /> },
];

// ApplicationSets are those in the clusters of agents.
export default function ApplicationSets() {
  const missing = useMissing("applicationset_view");
  return missing ? (
    <Page title="Application sets">
      <NoPermission why={missing} />
    </Page>
  ) : (
    <Seen />
  );
}

function Seen() {
  const [search, go] = useAddress();
  const navigate = useNavigate();
  const text = one(search, "q");
  const list = useList<SetItem>("applicationset", "/api/v1/applicationsets", { search: text });
  return (
    <Page
      title="Application sets"
      about="Slipway shows them, but does not generate applications from them yet. Only the ApplicationSet controller of an Argo CD does."
    >
      <SearchBox label="Search application sets" />
      <Listing
        list={list}
        one="application set"
        many="application sets"
        columns={columns}
        rowKey={(i) => `${i.agent}/${i.namespace}/${i.name}`}
        onOpen={(i) => void navigate({ to: "/application-sets/$agent/$namespace/$name", params: i })}
        empty={
          text ? (
            <Empty
              filtered
              title="No application set matches"
              action={<Button onClick={() => go({ q: undefined })}>Clear the search</Button>}
            />
          ) : (
            <NoneYet many="application sets" permission="applicationset_view">
              A set of an Argo CD in the cluster of an agent appears here.
            </NoneYet>
          )
        }
      />
    </Page>
  );
}
