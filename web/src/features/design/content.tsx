import { useState } from "react";
import { ApiError } from "@/api/client";
import { Button } from "@/ui/button";
import { Snippet } from "@/ui/copy";
import { DiffView } from "@/ui/diff-view";
import { ImageName } from "@/ui/image";
import { JobBar } from "@/ui/job-bar";
import { Notice } from "@/ui/notice";
import { Card, Facts, Tabs } from "@/ui/page";
import { Secret } from "@/ui/secret";
import { Empty, ErrorNote, Failed, Loading, NoPermission } from "@/ui/states";
import { Status } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { Piece } from "./piece";

interface One {
  name: string;
  health: string;
  sync: string;
  objects: number;
}

const rows: One[] = [
  { name: "checkout", health: "Degraded", sync: "OutOfSync", objects: 1_204 },
  { name: "catalog", health: "Progressing", sync: "Synced", objects: 88 },
  {
    name: "an-application-with-a-name-that-is-longer-than-any-column-of-a-table",
    health: "Missing",
    sync: "Unknown",
    objects: 7,
  },
  { name: "web", health: "Healthy", sync: "Synced", objects: 11 },
];

const columns: Column<One>[] = [
  { key: "name", title: "Name", width: "minmax(12rem,2fr)", sort: "name", cell: (r) => r.name },
  { key: "health", title: "Health", width: "8rem", sort: "health", cell: (r) => <Status status={r.health} /> },
  { key: "sync", title: "Sync", width: "8rem", cell: (r) => <Status status={r.sync} /> },
  { key: "objects", title: "Objects", width: "6rem", align: "right", cell: (r) => r.objects.toLocaleString("en") },
];

const diff = `--- live
+++ desired
@@ -1,5 +1,5 @@
 spec:
-  replicas: 2
+  replicas: 3
   template:
     spec:
       containers: []
`;

const failed = new ApiError(503, {
  detail: "The agent account.demo is away: try again when it is back.",
  requestId: "H2LLXX",
});

// Content is what pages are made of.
export function Content() {
  const [sort, setSort] = useState("name");
  return (
    <>
      <Piece name="Tables">
        <Card flush title="Many" actions={<Button small>Reload</Button>}>
          <Table
            label="Applications"
            rows={rows}
            columns={columns}
            rowKey={(r) => r.name}
            sort={sort}
            onSort={setSort}
            selected={(r) => r.name === "catalog"}
          />
        </Card>
        <Card flush title="One">
          <Table label="One application" rows={rows.slice(0, 1)} columns={columns} rowKey={(r) => r.name} />
        </Card>
        <Card flush title="None">
          <Empty title="No applications yet" action={<Button look="primary">Create an application</Button>}>
            An agent keeps applications in its cluster at what Git says.
          </Empty>
        </Card>
      </Piece>
      <Piece name="Notices">
        <Notice
          banner={{ text: "Slipway 2 is here.", url: "https://slipway.example.org/news" }}
          onDismiss={() => undefined}
        />
        <Notice
          banner={{ text: "Maintenance on Saturday from 20:00 UTC.", severity: "warning" }}
          onDismiss={() => undefined}
        />
        <Notice
          banner={{
            text: "Clusters in Europe cannot be reached: their applications are shown as of the last report, and nothing is synced there. The platform team works on it and will report here.",
            url: "https://status.example.org",
            severity: "critical",
            permanent: true,
          }}
        />
      </Piece>
      <Piece name="States">
        <div className="grid gap-4 sm:grid-cols-2">
          <Card title="Loading" flush>
            <Loading rows={3} />
          </Card>
          <Card title="Filtered" flush>
            <Empty filtered title="No application matches" action={<Button>Clear the filter</Button>} />
          </Card>
          <Card title="Failed" flush>
            <Failed error={failed} retry={() => undefined} />
          </Card>
          <Card title="Not permitted" flush>
            <NoPermission why="You need the permission application_view: ask an administrator." />
          </Card>
        </div>
        <ErrorNote error={failed} />
      </Piece>
      <Piece name="Content">
        <Tabs
          label="Parts"
          tabs={[
            { label: "Resources", to: "/design", count: 12 },
            { label: "History", to: "/design", search: { tab: "history" } as never },
          ]}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <Card title="Facts">
            <Facts
              facts={[
                ["State", <Status key="s" status="Connected" />],
                ["Version", "1.4.2"],
                ["Image", <ImageName key="i" image="registry.example.org/shop/checkout:1.5.0" />],
              ]}
            />
          </Card>
          <Card title="Job">
            <JobBar counts={{ total: 10, waiting: 2, running: 2, done: 4, failed: 1, refused: 0, skipped: 0 }} />
          </Card>
          <Snippet text="slipway app sync web --wait" label="Command" />
          <Secret label="Password" value="correct-horse" />
        </div>
        <DiffView label="Difference" text={diff} />
        <DiffView label="Difference, side by side" text={diff} split />
      </Piece>
    </>
  );
}
