import { Pencil, Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { isBeside } from "@/lib/engine";
import { useAll } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Copy } from "@/ui/copy";
import { Drawer } from "@/ui/dialog";
import { SearchBox } from "@/ui/list-filters";
import { Listing } from "@/ui/listing";
import { Facts } from "@/ui/page";
import { Empty, NoneYet, NoPermission } from "@/ui/states";
import { Badge, Status } from "@/ui/status";
import type { Column } from "@/ui/table";
import { conditionOf, kindsText, latencyText, versionText } from "./cluster";
import { useSettings } from "./items";
import { type Kind, type Setting, type SettingItem, settingOf, withoutEffect } from "./setting";
import { methodOf, SettingForm } from "./setting-form";
import { Remove } from "./setting-remove";

interface Props {
  // kind is what the list shows, kinds what can be added from it.
  kind: Kind;
  kinds?: Kind[];
  columns: Column<SettingItem>[];
  about: string;
}

const idOf = (item: SettingItem): string => `${item.agent}/${item.namespace}/${item.name}`;

// Connection is what an agent found when it last used a repository or a cluster.
export function Connection({ item }: { item: SettingItem }) {
  if (known(item.staleSince)) {
    return <Status status="Stale" label="No longer reported" />;
  }
  const [status, label] = conditionOf(settingOf(item));
  return <Status status={status} label={label} asOf={item.asOf} />;
}

// SettingList is the page of one kind of setting: search, table, one in full, and what can be done with it.
export function SettingList(props: Props) {
  const missing = useMissing(`${props.kind.permission}_view`);
  return missing ? <NoPermission why={missing} /> : <Seen {...props} />;
}

function Seen({ kind, kinds = [kind], columns, about }: Props) {
  const [search, go] = useAddress();
  const missing = useMissing(`${kind.permission}_edit`);
  const text = one(search, "q");
  const open = one(search, "open");
  const adding = kinds.find((k) => k.noun === one(search, "add"));
  const list = useSettings(kind, { search: text, agent: one(search, "agent") });
  const shown = list.query.data?.find((i) => idOf(i) === open);
  const add = kinds.map((k) => (
    <Button key={k.noun} look="primary" why={missing} onClick={() => go({ add: k.noun }, false)}>
      <Plus size={15} aria-hidden />
      Add {k.called}
    </Button>
  ));
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox label={`Search ${kind.plural}`} />
        <div className="ml-auto flex flex-wrap gap-2">{add}</div>
      </div>
      <Listing
        list={list}
        one={kind.called}
        many={kind.plural}
        columns={columns}
        rowKey={idOf}
        onOpen={(item) => go({ open: idOf(item) }, false)}
        empty={
          text ? (
            <Empty
              filtered
              title={`No ${kind.called} matches`}
              action={<Button onClick={() => go({ q: undefined })}>Clear the search</Button>}
            />
          ) : (
            <NoneYet many={kind.plural} permission={`${kind.permission}_view`} action={add}>
              {about}
            </NoneYet>
          )
        }
      />
      {shown && (
        <One
          key={idOf(shown)}
          kind={kindOf(kind, kinds, shown)}
          item={shown}
          onClose={() => go({ open: undefined }, false)}
        />
      )}
      <Drawer
        open={Boolean(adding)}
        onClose={() => go({ add: undefined }, false)}
        title={`Add a ${adding?.called ?? kind.called}`}
        description={about}
      >
        {adding && <SettingForm kind={adding} onDone={() => go({ add: undefined }, false)} />}
      </Drawer>
    </>
  );
}

// kindOf is the kind of an item in a list that shows several: known hosts are among the certificates.
function kindOf(kind: Kind, kinds: Kind[], item: SettingItem): Kind {
  return settingOf(item).fields.certType === "ssh" ? (kinds.find((k) => k.type === "knownhost") ?? kind) : kind;
}

function One({ kind, item, onClose }: { kind: Kind; item: SettingItem; onClose: () => void }) {
  const [edit, setEdit] = useState(false);
  const [remove, setRemove] = useState(false);
  const setting = settingOf(item);
  const cannotEdit = useMissing(`${kind.permission}_edit`, item.scope);
  const cannotDelete = useMissing(`${kind.permission}_delete`, item.scope);
  const agent = useAll(agents).find((a) => a.id === item.agent);
  const idle = agent ? withoutEffect(setting.fields, kind, isBeside(agent)) : [];
  const facts: [ReactNode, ReactNode][] = [
    ["Agent", item.agent],
    ["Name", `${item.namespace}/${item.name}`],
    ["Scope", item.scope],
    ...Object.entries(setting.fields)
      .filter(([, value]) => value !== "")
      .map(([name, value]): [string, ReactNode] => [
        name,
        <div key={name}>
          <Value text={value} />
          {idle.includes(name) && <p className="text-sm text-warn">No effect: Slipway's own engine does not use it.</p>}
        </div>,
      ]),
    ...((setting.secrets ?? []).length > 0
      ? ([
          [
            "Secrets",
            <span key="s">
              {(setting.secrets ?? []).map((s) => (
                <Badge key={s} className="mr-1">
                  {s}
                </Badge>
              ))}{" "}
              stored in the agent's cluster, never shown
            </span>,
          ],
        ] as [ReactNode, ReactNode][])
      : []),
    ...(kind.tests || kind.type === "repocreds"
      ? ([["Signs in with", methodOf(setting.fields, setting.secrets ?? [])]] as [ReactNode, ReactNode][])
      : []),
    ...(kind.type === "cluster" ? clusterFacts(setting) : []),
    ["Last reported", <Ago key="t" at={item.updatedAt} />],
  ];
  return (
    <Drawer
      open
      onClose={onClose}
      title={setting.fields[kind.title] || item.name}
      description={kind.called}
      footer={
        !edit && (
          <>
            <Button look="danger" why={implied(setting) ?? cannotDelete} onClick={() => setRemove(true)}>
              <Trash2 size={14} aria-hidden /> Delete
            </Button>
            {kind.type !== "knownhost" && (
              <Button why={cannotEdit} onClick={() => setEdit(true)}>
                <Pencil size={14} aria-hidden /> Change
              </Button>
            )}
          </>
        )
      }
    >
      {edit ? (
        <SettingForm kind={kind} item={item} onDone={() => setEdit(false)} />
      ) : (
        <div className="space-y-4 p-4">
          {kind.tests && (
            <div>
              <Connection item={item} /> {known(setting.connection?.at) && <Ago at={setting.connection?.at} />}
              {setting.connection?.message && (
                <p className="mt-1 break-words whitespace-pre-wrap text-muted">{setting.connection.message}</p>
              )}
            </div>
          )}
          <Facts facts={facts} />
        </div>
      )}
      <Remove kind={kind} item={item} open={remove} onClose={() => setRemove(false)} onDone={onClose} />
    </Drawer>
  );
}

// clusterFacts are what the agent knows of a cluster.
function clusterFacts(setting: Setting): [ReactNode, ReactNode][] {
  const unknown = "unknown";
  return [
    ["Kubernetes", versionText(setting) || unknown],
    ["Latency", latencyText(setting) || unknown],
    ["Kinds of the API server", kindsText(setting) || unknown],
    ["Applications", setting.cluster?.applications ?? unknown],
    ["Objects of applications", setting.cluster?.objects ?? (setting.cluster ? 0 : unknown)],
  ];
}

// implied is why the entry of an agent's own cluster cannot be deleted; nothing where a Secret describes it.
const implied = (setting: Setting): string | undefined =>
  setting.cluster?.implied
    ? 'No Secret describes the agent\'s own cluster. To switch it off, set cluster.inClusterEnabled to "false" in argocd-cm.'
    : undefined;

function Value({ text }: { text: string }) {
  return (
    <span className="flex items-start gap-1">
      <span className="min-w-0 break-all whitespace-pre-wrap">{text}</span>
      <Copy text={text} />
    </span>
  );
}
