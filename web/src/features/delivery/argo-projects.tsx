import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { stringify } from "yaml";
import { finished } from "@/lib/command";
import { useAddress } from "@/lib/navigate";
import { queryClient } from "@/lib/query";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Code } from "@/ui/code";
import { Confirm } from "@/ui/confirm";
import { Drawer } from "@/ui/dialog";
import { SearchBox } from "@/ui/list-filters";
import { Listing } from "@/ui/listing";
import { Facts } from "@/ui/page";
import { Empty, NoneYet, NoPermission } from "@/ui/states";
import type { Column } from "@/ui/table";
import { toast } from "@/ui/toast";
import { deleteProject, useSettings } from "./items";
import { ProjectLinks } from "./project-links";
import { ResourceEditor } from "./resource-editor";
import type { SettingItem } from "./setting";
import { readable } from "./yaml";

const kind = { event: "argoproject", noun: "argo-projects" };
const idOf = (i: SettingItem) => `${i.agent}/${i.namespace}/${i.name}`;

interface Spec {
  description?: string;
  sourceRepos?: string[];
  destinations?: { server?: string; name?: string; namespace?: string }[];
  syncWindows?: { kind?: string; schedule?: string; duration?: string; applications?: string[] }[];
  roles?: { name: string }[];
}

const specOf = (i: SettingItem): Spec => ((i.resource as { spec?: Spec } | undefined)?.spec ?? {}) as Spec;
const destination = (d: { server?: string; name?: string; namespace?: string }) =>
  `${d.name || d.server || "*"} / ${d.namespace || "*"}`;

const columns: Column<SettingItem>[] = [
  { key: "name", title: "Name", width: "minmax(9rem, 1fr)", cell: (i) => i.name },
  { key: "agent", title: "Agent", width: "minmax(8rem, 1fr)", cell: (i) => i.agent },
  {
    key: "repos",
    title: "Repositories",
    width: "minmax(10rem, 2fr)",
    cell: (i) => (specOf(i).sourceRepos ?? []).join(", ") || "none",
  },
  {
    key: "to",
    title: "Destinations",
    width: "minmax(10rem, 2fr)",
    cell: (i) => (specOf(i).destinations ?? []).map(destination).join(", ") || "none",
  },
  {
    key: "windows",
    title: "Windows",
    width: "6rem",
    align: "right",
    cell: (i) => (specOf(i).syncWindows ?? []).length || "",
  },
  { key: "scope", title: "Scope", width: "minmax(8rem, 1fr)", cell: (i) => i.scope },
];

const template = {
  apiVersion: "argoproj.io/v1alpha1",
  kind: "AppProject",
  metadata: { name: "shop", namespace: "argocd" },
  spec: {
    description: "What the shop team deploys",
    sourceRepos: ["https://git.example.org/shop.git"],
    destinations: [{ server: "https://kubernetes.default.svc", namespace: "shop" }],
  },
};

// ArgoProjects are the AppProjects of all agents: what their applications may deploy, from where, and when.
export function ArgoProjects() {
  const missing = useMissing("argoproject_view");
  return missing ? <NoPermission why={missing} /> : <Seen />;
}

function Seen() {
  const [search, go] = useAddress();
  const text = one(search, "q");
  const open = one(search, "open");
  const missing = useMissing("argoproject_edit");
  const list = useSettings(kind, { search: text });
  const shown = list.query.data?.find((i) => idOf(i) === open);
  const close = () => go({ open: undefined }, false);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox label="Search Argo projects" />
        <Button look="primary" why={missing} className="ml-auto" onClick={() => go({ open: "new" }, false)}>
          <Plus size={15} aria-hidden /> Add Argo project
        </Button>
      </div>
      <Listing
        list={list}
        one="Argo project"
        many="Argo projects"
        columns={columns}
        rowKey={idOf}
        onOpen={(i) => go({ open: idOf(i) }, false)}
        empty={
          text ? (
            <Empty filtered title="No project matches" />
          ) : (
            <NoneYet
              many="Argo projects"
              permission="argoproject_view"
              title="No agent has reported an Argo project yet"
            />
          )
        }
      />
      {shown && <One item={shown} onClose={close} />}
      <Drawer open={open === "new"} onClose={close} title="Add Argo project">
        <ResourceEditor
          noun="argo-projects"
          called="Argo project"
          type="argoproject"
          template={template}
          onDone={close}
        />
      </Drawer>
    </>
  );
}

function One({ item, onClose }: { item: SettingItem; onClose: () => void }) {
  const [edit, setEdit] = useState(false);
  const [remove, setRemove] = useState(false);
  const cannotEdit = useMissing("argoproject_edit", item.scope);
  const cannotDelete = useMissing("argoproject_delete", item.scope);
  const spec = specOf(item);
  return (
    <Drawer
      open
      onClose={onClose}
      title={item.name}
      description={`Argo project of agent ${item.agent}`}
      footer={
        !edit && (
          <>
            <Button
              look="danger"
              why={cannotDelete ?? (item.name === "default" ? "Every agent needs the project default." : undefined)}
              onClick={() => setRemove(true)}
            >
              Delete
            </Button>
            <Button why={cannotEdit} onClick={() => setEdit(true)}>
              Change
            </Button>
          </>
        )
      }
    >
      {edit ? (
        <ResourceEditor
          noun="argo-projects"
          called="Argo project"
          type="argoproject"
          item={item}
          onDone={() => setEdit(false)}
        />
      ) : (
        <div className="space-y-4 p-4">
          <ProjectLinks item={item} />
          <Facts
            facts={[
              [
                "For",
                spec.description || (
                  <span key="n" className="text-muted">
                    not set
                  </span>
                ),
              ],
              ["Scope", item.scope],
              [
                "Applications",
                <Link
                  key="l"
                  to="/applications"
                  search={{ argoProject: item.name, agent: item.agent }}
                  className="text-accent underline"
                >
                  Show them
                </Link>,
              ],
              ["Repositories", <Lines key="r" lines={spec.sourceRepos ?? []} />],
              ["Destinations", <Lines key="d" lines={(spec.destinations ?? []).map(destination)} />],
              [
                "Sync windows",
                <Lines
                  key="w"
                  lines={(spec.syncWindows ?? []).map(
                    (w) =>
                      `${w.kind} ${w.schedule} for ${w.duration}: ${(w.applications ?? []).join(", ") || "by other rules"}`,
                  )}
                />,
              ],
            ]}
          />
          <Code value={stringify(readable(item.resource))} label="Argo project as YAML" className="h-96" />
        </div>
      )}
      <Confirm
        open={remove}
        onClose={() => setRemove(false)}
        title={`Delete Argo project ${item.name}?`}
        action={`Delete ${item.name}`}
        typed={item.name}
        onConfirm={async () => {
          finished(await deleteProject(item));
          toast("The Argo project was deleted", item.name);
          void queryClient.invalidateQueries({ queryKey: ["argoproject"] });
          onClose();
        }}
      >
        <p>
          It is deleted from the cluster of agent {item.agent}. Applications of it cannot be synced any more; what they
          have deployed stays.
        </p>
      </Confirm>
    </Drawer>
  );
}

function Lines({ lines }: { lines: string[] }) {
  return lines.length === 0 ? (
    <span className="text-muted">none</span>
  ) : (
    <ul>
      {lines.map((line) => (
        <li key={line} className="break-all">
          {line}
        </li>
      ))}
    </ul>
  );
}
