import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, data } from "@/api/client";
import { useList } from "@/lib/entity";
import { plural } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { queryClient } from "@/lib/query";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Drawer } from "@/ui/dialog";
import { ScopeFilter } from "@/ui/list-filters";
import { Select } from "@/ui/field";
import { Facts } from "@/ui/page";
import { Empty, Failed, Loaded, Loading, NoneYet } from "@/ui/states";
import { Badge, type Tone } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { toast, toastError } from "@/ui/toast";
import { type Delivery, events } from "./kinds";

const path = "/api/v1/notification-deliveries";

const tones: Record<string, Tone> = { Waiting: "busy", Sent: "ok", Dead: "bad", Quiet: "idle" };

const columns: Column<Delivery>[] = [
  { key: "at", title: "When", width: "9.5rem", cell: (d) => <Ago at={d.createdAt} /> },
  {
    key: "state",
    title: "State",
    width: "7rem",
    cell: (d) => <Badge tone={tones[d.state] ?? "idle"}>{d.state}</Badge>,
  },
  { key: "title", title: "Message", width: "minmax(16rem,3fr)", cell: (d) => d.title },
  { key: "rule", title: "Rule", width: "minmax(9rem,1fr)", cell: (d) => d.rule },
  { key: "channel", title: "Channel", width: "minmax(8.5rem,1fr)", cell: (d) => d.channel },
  { key: "attempts", title: "Attempts", width: "6rem", align: "right", cell: (d) => d.attempts },
  {
    key: "why",
    title: "Error",
    width: "minmax(9rem,1.5fr)",
    cell: (d) => d.message && <span className="text-muted">{d.message}</span>,
  },
];

export function Deliveries() {
  const [search, set] = useAddress();
  const filter = { scope: one(search, "scope"), state: one(search, "state"), event: one(search, "event") };
  const list = useList<Delivery>("notificationrule", path, filter);
  const rows = list.query.data;
  const id = one(search, "open");
  const filtered = Object.values(filter).some(Boolean);
  const clear = () => set({ scope: "", state: "", event: "" });
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label="State"
          className="w-auto"
          value={filter.state}
          onChange={(e) => set({ state: e.target.value })}
        >
          <option value="">All states</option>
          {["Waiting", "Sent", "Dead", "Quiet"].map((state) => (
            <option key={state}>{state}</option>
          ))}
        </Select>
        <Select
          aria-label="Event"
          className="w-64"
          value={filter.event}
          onChange={(e) => set({ event: e.target.value })}
        >
          <option value="">All events</option>
          {events.map(([event, label]) => (
            <option key={event} value={event}>
              {label}
            </option>
          ))}
        </Select>
        <ScopeFilter />
        <span role="status" className="text-sm text-muted">
          {rows && plural(Math.max(list.total, rows.length), "message")}
        </span>
        <Button small busy={list.busy} className="ml-auto" onClick={() => void list.query.refetch()}>
          Reload
        </Button>
      </div>
      <section className="min-w-0 rounded-lg border bg-surface">
        <Loaded query={list.query}>
          {(all) =>
            all.length === 0 ? (
              filtered ? (
                <Empty filtered title="No message matches" action={<Button onClick={clear}>Show all</Button>} />
              ) : (
                <NoneYet many="messages" permission="notificationrule_view">
                  Waiting, sent and failed messages appear here.
                </NoneYet>
              )
            ) : (
              <Table
                label="Messages"
                rows={all}
                columns={columns}
                rowKey={(d) => d.id}
                onOpen={(d) => set({ open: d.id }, false)}
                {...(list.more ? { onEnd: list.more } : {})}
              />
            )
          }
        </Loaded>
      </section>
      {id && (
        <DeliveryDrawer id={id} delivery={rows?.find((d) => d.id === id)} onClose={() => set({ open: "" }, false)} />
      )}
    </div>
  );
}

function DeliveryDrawer({
  id,
  delivery,
  onClose,
}: {
  id: string;
  delivery: Delivery | undefined;
  onClose: () => void;
}) {
  // A link may lead to a message that the list has not read, or that its filter leaves out.
  const found = useQuery({
    queryKey: ["notificationrule", "delivery", id],
    enabled: !delivery,
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/notification-deliveries/{id}", { params: { path: { id } }, signal })),
  });
  const read = delivery ?? found.data;
  if (read) {
    return <Shown delivery={read} onClose={onClose} />;
  }
  return (
    <Drawer open onClose={onClose} title={`Message ${id}`} className="max-w-xl">
      {found.error ? <Failed error={found.error} retry={() => void found.refetch()} /> : <Loading />}
    </Drawer>
  );
}

function Shown({ delivery: d, onClose }: { delivery: Delivery; onClose: () => void }) {
  const missing = useMissing("notificationrule_edit", d.scope);
  const [busy, setBusy] = useState(false);
  const resend = async () => {
    setBusy(true);
    try {
      await data(client.POST("/api/v1/notification-deliveries/{id}/resend", { params: { path: { id: d.id } } }));
      toast("It is sent again.");
      void queryClient.invalidateQueries({ queryKey: ["notificationrule"] });
    } catch (problem) {
      toastError(problem, "It could not be sent again");
    } finally {
      setBusy(false);
    }
  };
  return (
    <Drawer
      open
      onClose={onClose}
      title={d.title}
      description={`Message ${d.id}`}
      className="max-w-xl"
      footer={
        <Button busy={busy} why={missing} onClick={() => void resend()}>
          {d.state === "Waiting" ? "Send now" : "Send again"}
        </Button>
      }
    >
      <div className="space-y-4 p-4">
        <Facts
          facts={[
            [
              "State",
              <Badge key="s" tone={tones[d.state] ?? "idle"}>
                {d.state}
              </Badge>,
            ],
            ...(d.message ? ([["Why", d.message]] as [string, string][]) : []),
            ["Rule", d.rule],
            ["Channel", d.channel],
            ["Event", d.event.event],
            ["Object", `${d.event.object.type} ${d.event.object.id}`],
            ["Attempts", d.attempts],
            ["Made", <Ago key="m" at={d.createdAt} />],
            known(d.finishedAt)
              ? ["Ended", <Ago key="f" at={d.finishedAt} />]
              : ["Tried next", <Ago key="n" at={d.nextAt} none="not planned" />],
          ]}
        />
        <p className="rounded-md border bg-ground p-3 break-words whitespace-pre-wrap">{d.text}</p>
      </div>
    </Drawer>
  );
}
